// Public keys on the wire.
import { createHash } from 'node:crypto'
import type { JWK } from 'jose'
import type { RealmKey } from '../../service/realms/key-reading.ts'

/** The keys of a realm that others may use, as JWK: those that are not disabled and have a public half. */
export function publicJwks(keys: readonly RealmKey[]): JWK[] {
  return keys.filter(({ type, status }) => type !== 'OCT' && status !== 'DISABLED').map(publicJwk)
}

function publicJwk({ kid, algorithm, use, verifies, certificate }: RealmKey): JWK {
  const { kty, ...numbers } = verifies.export({ format: 'jwk' })
  const digest = (hash: string) => createHash(hash).update(certificate!.raw).digest('base64url')
  return {
    kid,
    kty: kty!,
    alg: algorithm,
    use,
    ...(certificate && {
      x5c: [certificate.raw.toString('base64')],
      x5t: digest('sha1'),
      'x5t#S256': digest('sha256'),
    }),
    ...numbers,
  } as JWK
}
