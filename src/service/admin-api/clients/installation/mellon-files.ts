// The files for Apache's module mod_auth_mellon, as an archive.
import { parsePrivateKey } from '../../../realms/realm-keys.ts'
import type { InstalledClient } from './installed-client.ts'
import { renderClientMetadata, renderRealmMetadata } from './saml-metadata.ts'

/** Returns a ZIP archive with the metadata of both sides, and with the key and certificate of a client that signs. */
export async function packMellonFiles(installed: InstalledClient): Promise<Uint8Array> {
  const { zipSync, strToU8 } = await import('fflate')
  const { 'saml.signing.private.key': privateKey, 'saml.signing.certificate': certificate } = installed.attributes
  const key = privateKey === undefined ? undefined : parsePrivateKey(privateKey)
  const signs = installed.attributes['saml.client.signature'] === 'true'
  const texts: Readonly<Record<string, string | false | undefined>> = {
    'idp-metadata.xml': renderRealmMetadata(installed),
    'sp-metadata.xml': renderClientMetadata(installed),
    'client-private-key.pem': signs && key?.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'client-cert.pem': signs && certificate !== undefined && toPem(certificate),
  }
  const folder = String(installed.client.clientId).replace(/[/\\]/g, '_')
  const files = Object.entries(texts).flatMap(([name, text]) => (text ? [[`${folder}/${name}`, strToU8(text)]] : []))
  return zipSync(Object.fromEntries(files))
}

function toPem(certificate: string): string {
  const lines = certificate.match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
