// Certificates as text: fingerprint and expiry. Pure.
import { X509Certificate } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'

/** Describes a text of one or several certificates, separated by commas, in PEM or base64; undefined for another value. */
export function renderCertificates(value: Json): string | undefined {
  if (typeof value !== 'string' || !/^(-----BEGIN CERTIFICATE-----|MII)/.test(value)) return undefined
  const descriptions = value.split(',').map(describeCertificate)
  return descriptions.some((description) => description === undefined) ? undefined : descriptions.join(', ')
}

/** Describes a certificate; undefined if the text is anything but exactly one, so that no part of it is hidden. */
function describeCertificate(text: string): string | undefined {
  const base64 = text.replace(/^-----BEGIN CERTIFICATE-----|-----END CERTIFICATE-----\s*$|\s/g, '')
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'))
    if (certificate.raw.toString('base64') !== base64) return undefined
    const expiry = certificate.validToDate.toISOString().replace('.000Z', 'Z')
    return `certificate SHA-256 ${certificate.fingerprint256}, expires ${expiry}`
  } catch {
    return undefined
  }
}
