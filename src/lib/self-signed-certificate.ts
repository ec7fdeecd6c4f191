// Self-signed certificates: X.509, version 1, in DER. Node can read certificates, but not create them.
import { type KeyObject, randomBytes, sign } from 'node:crypto'

const [INTEGER, BITS, UTF8, UTC_TIME, TIME, SEQUENCE, SET] = [0x02, 0x03, 0x0c, 0x17, 0x18, 0x30, 0x31]
const COMMON_NAME = Buffer.from('0603550403', 'hex')
/** Signature algorithms by type of key, all with SHA-256, as DER. */
const ALGORITHMS: Readonly<Record<string, Buffer>> = {
  rsa: Buffer.from('300d06092a864886f70d01010b0500', 'hex'),
  ec: Buffer.from('300a06082a8648ce3d040302', 'hex'),
}

/** The content of a self-signed certificate. */
export interface CertificateContent {
  /** The common name of subject and issuer. */
  readonly name: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly from: Date
  readonly until: Date
}

/**
 * Creates a certificate in DER.
 * @throws TypeError if the key is neither an RSA nor an EC key.
 */
export function createSelfSignedCertificate(certificate: CertificateContent): Buffer {
  const { name, publicKey, privateKey, from, until } = certificate
  const algorithm = ALGORITHMS[privateKey.asymmetricKeyType ?? '']
  if (!algorithm)
    throw new TypeError(`Certificates need an RSA or EC key; this one is of type ${privateKey.asymmetricKeyType}.`)
  const subject = encodeDer(
    SEQUENCE,
    encodeDer(SET, encodeDer(SEQUENCE, COMMON_NAME, encodeDer(UTF8, Buffer.from(name)))),
  )
  const content = encodeDer(
    SEQUENCE,
    encodeDer(INTEGER, Buffer.from([1]), randomBytes(8)),
    algorithm,
    subject,
    encodeDer(SEQUENCE, encodeTime(from), encodeTime(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  return encodeDer(SEQUENCE, content, algorithm, encodeDer(BITS, Buffer.from([0]), sign('sha256', content, privateKey)))
}

/** RFC 5280, section 4.1.2.5: years up to 2049 have two digits. */
function encodeTime(at: Date): Buffer {
  const digits = at.toISOString().replace(/\.\d+|[-:T]/g, '')
  return at.getUTCFullYear() < 2050
    ? encodeDer(UTC_TIME, Buffer.from(digits.slice(2)))
    : encodeDer(TIME, Buffer.from(digits))
}

function encodeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content])
}
