// Client assertions that are signed with the client secret. OpenID Connect Core, section 9: client_secret_jwt.
import { compactVerify, errors } from 'jose'
import { SECRET_ALGORITHMS } from '../../kinds/key-providers.ts'
import { OAuthError } from '../oauth-error.ts'
import { authenticateByAssertion, type VerifySignature } from './client-assertion.ts'
import type { ClientAuthenticator } from './client-authenticator.ts'
import { listClientSecrets } from './client-secret.ts'

const INVALID_SIGNATURE =
  'Client authentication with client secret signed JWT failed: Signature on JWT token by client secret failed validation'

/** Authenticates a client by an assertion signed with its secret. Keycloak: client-secret-jwt. */
export const authenticateBySecretJwt: ClientAuthenticator = (attempt) =>
  authenticateByAssertion(attempt, {
    id: 'client-secret-jwt',
    acceptsAlgorithm: (algorithm) => algorithm !== 'none',
    verifySignature,
    createSignatureError: () =>
      new OAuthError(400, 'unauthorized_client', {
        description: INVALID_SIGNATURE,
        event: { error: 'invalid_client_credentials', reason: INVALID_SIGNATURE },
      }),
  })

const verifySignature: VerifySignature = async (attempt, client, { text }) => {
  for (const secret of await listClientSecrets(attempt, client)) {
    try {
      await compactVerify(text, Buffer.from(secret), { algorithms: SECRET_ALGORITHMS })
      return
    } catch (error) {
      // The next secret may be the right one: a rotated secret is still valid for a while.
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}
