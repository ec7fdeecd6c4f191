// Certificates that a key signs for itself. Node reads certificates and makes none; these are a name, a time and a key, so
// their few parts are written here (X.509, version 1, in DER).
import { type KeyObject, randomBytes, sign } from 'node:crypto'

const [INTEGER, BITS, UTF8, UTC_TIME, TIME, SEQUENCE, SET] = [0x02, 0x03, 0x0c, 0x17, 0x18, 0x30, 0x31]
const COMMON_NAME = Buffer.from('0603550403', 'hex')
/** How a signature was made, with SHA-256. */
const ALGORITHMS: Readonly<Record<string, Buffer>> = {
  rsa: Buffer.from('300d06092a864886f70d01010b0500', 'hex'),
  ec: Buffer.from('300a06082a8648ce3d040302', 'hex'),
}

/** A certificate in DER that says that the key is of that name until then. Throws for other keys than RSA's and EC's. */
export function selfSigned(
  name: string,
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  from: Date,
  until: Date,
): Buffer {
  const algorithm = ALGORITHMS[privateKey.asymmetricKeyType ?? '']
  if (!algorithm) throw new TypeError(`no certificates are made for keys of the type ${privateKey.asymmetricKeyType}`)
  const subject = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(name)))))
  const content = der(
    SEQUENCE,
    der(INTEGER, Buffer.from([1]), randomBytes(8)),
    algorithm,
    subject,
    der(SEQUENCE, time(from), time(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  return der(SEQUENCE, content, algorithm, der(BITS, Buffer.from([0]), sign('sha256', content, privateKey)))
}

/** Up to 2049 years have two digits. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/\.\d+|[-:T]/g, '')
  return at.getUTCFullYear() < 2050 ? der(UTC_TIME, Buffer.from(digits.slice(2))) : der(TIME, Buffer.from(digits))
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const digits = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content])
}
