// The token endpoint: which client asks, what it is granted, and the tokens for that.
import { type Service, SYSTEM } from '../service/service.ts'
import { authenticateClient, type TokenRequest } from './client-authentication.ts'
import { byAuthorizationCode } from './grants/authorization-code.ts'
import { byClientCredentials } from './grants/client-credentials.ts'
import type { Grant } from './grants/grant.ts'
import { byPassword } from './grants/password.ts'
import { byRefreshToken } from './grants/refresh-token.ts'
import { OAuthError } from './oauth-error.ts'
import { openRealm } from './realm.ts'
import { tokenResponse } from './token-response.ts'

const grants: Readonly<Record<string, Grant>> = {
  authorization_code: byAuthorizationCode,
  client_credentials: byClientCredentials,
  password: byPassword,
  refresh_token: byRefreshToken,
}

/** The grant types that there are. */
export const grantTypes = Object.keys(grants)

/** Answers a token request. Throws OAuthError. */
export async function issueTokens(
  service: Service,
  base: string,
  name: string,
  request: TokenRequest,
): Promise<Record<string, unknown>> {
  const { form, address } = request
  const type = form.grant_type
  if (!type) throw new OAuthError(400, 'invalid_request', 'Missing form parameter: grant_type')
  const grant = Object.hasOwn(grants, type) ? grants[type] : undefined
  if (!grant) throw new OAuthError(400, 'unsupported_grant_type', 'Unsupported grant_type')
  const realm = await openRealm(service, name)
  const client = await service.read(SYSTEM, name, (context) => authenticateClient(context, request))
  return tokenResponse(service, base, realm, client, await grant({ service, base, realm, client, form, address }))
}
