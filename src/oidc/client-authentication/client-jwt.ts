// An assertion that a client signs with its private key. OpenID Connect Core, section 9: private_key_jwt.
import { compactVerify, errors } from 'jose'
import { KEY_ALGORITHMS } from '../../kinds/key-providers.ts'
import { byAssertion, refuse, type VerifySignature } from './assertion.ts'
import { keysOfClient } from './client-keys.ts'
import type { Method } from './method.ts'

/** Keycloak: client-jwt. */
export const byClientJwt: Method = (attempt) =>
  byAssertion(attempt, {
    id: 'client-jwt',
    accepts: (algorithm) => KEY_ALGORITHMS.includes(algorithm),
    verify,
    wrong: () => refuse('Client authentication with signed JWT failed: Signature on JWT token failed validation'),
  })

const verify: VerifySignature = async ({ service, notes }, client, { text, algorithm }) => {
  try {
    const { protectedHeader } = await compactVerify(text, keysOfClient(service.outbound, client), {
      algorithms: [algorithm],
    })
    if (typeof protectedHeader.kid === 'string') notes.details.client_jwt_kid = protectedHeader.kid
  } catch (error) {
    if (error instanceof errors.JOSEError && error.code.startsWith('ERR_JWKS'))
      throw refuse('Unable to load public key', 'client_credentials_setup_required')
    throw error
  }
}
