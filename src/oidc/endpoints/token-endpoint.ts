// The token endpoint: which client asks, what it is granted, and the tokens for that.
import type { UserEventType } from '../../kinds/user-events.ts'
import type { Endpoint } from '../call.ts'
import type { TokenRequest } from '../client-authentication.ts'
import { forClient } from '../client-call.ts'
import { noteTokens } from '../events.ts'
import { byAuthorizationCode } from '../grants/authorization-code.ts'
import { byClientCredentials } from '../grants/client-credentials.ts'
import type { Grant } from '../grants/grant.ts'
import { byPassword } from '../grants/password.ts'
import { byRefreshToken } from '../grants/refresh-token.ts'
import { OAuthError } from '../oauth-error.ts'
import { tokenResponse } from '../tokens/token-response.ts'

const grants: Readonly<Record<string, { readonly grant: Grant; readonly event: UserEventType }>> = {
  authorization_code: { grant: byAuthorizationCode, event: 'CODE_TO_TOKEN' },
  client_credentials: { grant: byClientCredentials, event: 'CLIENT_LOGIN' },
  password: { grant: byPassword, event: 'LOGIN' },
  refresh_token: { grant: byRefreshToken, event: 'REFRESH_TOKEN' },
}

/** The grant types that there are. */
export const grantTypes = Object.keys(grants)

/** Answers a token request. Throws OAuthError. */
export async function issueTokens(endpoint: Endpoint, request: TokenRequest): Promise<Record<string, unknown>> {
  const { service, base } = endpoint
  const { form, address } = request
  const type = form.grant_type
  if (!type) throw new OAuthError(400, 'invalid_request', 'Missing form parameter: grant_type')
  const known = Object.hasOwn(grants, type) ? grants[type] : undefined
  if (!known) throw new OAuthError(400, 'unsupported_grant_type', 'Unsupported grant_type')
  const event = { type: known.event, details: { grant_type: type } }
  return forClient(endpoint, { request, event }, async (call) => {
    const granted = await known.grant({ ...call, service, base, form, address })
    const response = await tokenResponse(endpoint, call, granted)
    noteTokens(call.notes, granted, response)
    return response
  })
}
