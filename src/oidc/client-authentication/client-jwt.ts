// Client assertions that are signed with a private key. OpenID Connect Core, section 9: private_key_jwt.
import { compactVerify, errors } from 'jose'
import { KEY_ALGORITHMS } from '../../kinds/key-providers.ts'
import { authenticateByAssertion, createAssertionError, type VerifySignature } from './client-assertion.ts'
import type { ClientAuthenticator } from './client-authenticator.ts'
import { getClientKeys } from './client-keys.ts'

/** Authenticates a client by an assertion signed with its private key. Keycloak: client-jwt. */
export const authenticateByPrivateKeyJwt: ClientAuthenticator = (attempt) =>
  authenticateByAssertion(attempt, {
    id: 'client-jwt',
    acceptsAlgorithm: (algorithm) => KEY_ALGORITHMS.includes(algorithm),
    verifySignature,
    createSignatureError: () =>
      createAssertionError('Client authentication with signed JWT failed: Signature on JWT token failed validation'),
  })

const verifySignature: VerifySignature = async ({ service, event }, client, { text, algorithm }) => {
  try {
    const { protectedHeader } = await compactVerify(text, getClientKeys(service.outbound, client), {
      algorithms: [algorithm],
    })
    if (typeof protectedHeader.kid === 'string') event.details.client_jwt_kid = protectedHeader.kid
  } catch (error) {
    if (error instanceof errors.JOSEError && error.code.startsWith('ERR_JWKS'))
      throw createAssertionError('Unable to load public key', 'client_credentials_setup_required')
    throw error
  }
}
