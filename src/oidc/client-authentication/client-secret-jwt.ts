// An assertion that a client signs with its secret. OpenID Connect Core, section 9: client_secret_jwt.
import { compactVerify, errors } from 'jose'
import { SECRET_ALGORITHMS } from '../../kinds/key-providers.ts'
import { OAuthError } from '../oauth-error.ts'
import { byAssertion, type VerifySignature } from './assertion.ts'
import type { Method } from './method.ts'
import { secretsOf } from './secrets.ts'

const WRONG =
  'Client authentication with client secret signed JWT failed: Signature on JWT token by client secret failed validation'

/** Keycloak: client-secret-jwt. */
export const byClientSecretJwt: Method = (attempt) =>
  byAssertion(attempt, {
    id: 'client-secret-jwt',
    accepts: (algorithm) => algorithm !== 'none',
    verify,
    wrong: () =>
      new OAuthError(400, 'unauthorized_client', WRONG, { error: 'invalid_client_credentials', reason: WRONG }),
  })

const verify: VerifySignature = async (attempt, client, { text }) => {
  for (const secret of secretsOf(attempt, client)) {
    try {
      await compactVerify(text, Buffer.from(secret), { algorithms: SECRET_ALGORITHMS })
      return
    } catch (error) {
      // It may be signed with the secret from before.
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}
