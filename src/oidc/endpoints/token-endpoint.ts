// The token endpoint: authenticates the client, carries out the grant, and issues the tokens. RFC 6749, section 3.2.
import type { UserEventType } from '../../kinds/user-events.ts'
import { grantPermissions, PERMISSION_GRANT } from '../authorization/permission-grant.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { handleClientRequest } from '../client-request.ts'
import type { EventDraft } from '../event-draft.ts'
import { grantByAuthorizationCode } from '../grants/authorization-code.ts'
import { grantByClientCredentials } from '../grants/client-credentials.ts'
import type { GrantHandler, GrantResult } from '../grants/grant.ts'
import { grantByPassword } from '../grants/password.ts'
import { grantByRefreshToken } from '../grants/refresh-token.ts'
import { OAuthError } from '../oauth-error.ts'
import { getTokenUrl } from '../oidc-realm.ts'
import { confirmSender } from '../sender-constraints/confirmation.ts'
import { type IssuedTokens, issueGrantedTokens } from '../tokens/token-response.ts'

const grants: Readonly<Record<string, { readonly grant: GrantHandler; readonly event: UserEventType }>> = {
  authorization_code: { grant: grantByAuthorizationCode, event: 'CODE_TO_TOKEN' },
  client_credentials: { grant: grantByClientCredentials, event: 'CLIENT_LOGIN' },
  password: { grant: grantByPassword, event: 'LOGIN' },
  refresh_token: { grant: grantByRefreshToken, event: 'REFRESH_TOKEN' },
}

/** The supported grant types. */
export const grantTypes = [...Object.keys(grants), PERMISSION_GRANT]

/** Returns the response to a request to the endpoint: for tokens, or for permissions. Throws OAuthError. */
export const handleTokenRequest = (endpoint: RealmEndpoint, request: TokenRequest): Promise<object> =>
  (request.form.grant_type === PERMISSION_GRANT ? grantPermissions : issueTokens)(endpoint, request)

/** Returns the response to a request for tokens. Throws OAuthError. */
export async function issueTokens(endpoint: RealmEndpoint, request: TokenRequest): Promise<IssuedTokens['response']> {
  const { service, base } = endpoint
  const { form, address } = request
  const type = form.grant_type
  if (!type) throw new OAuthError(400, 'invalid_request', { description: 'Missing form parameter: grant_type' })
  const handler = Object.hasOwn(grants, type) ? grants[type] : undefined
  if (!handler) throw new OAuthError(400, 'unsupported_grant_type', { description: 'Unsupported grant_type' })
  const event = { type: handler.event, details: { grant_type: type } }
  return handleClientRequest(endpoint, { request, event, policyEvent: 'token' }, async (call) => {
    const url = getTokenUrl(base, call.realm)
    const confirmation = await confirmSender({ service, realm: call.realm }, call.client, {
      ...{ method: 'POST', url, dpop: request.dpop },
      certificate: request.certificate,
    })
    const granted = await handler.grant({ ...call, service, base, form, address, confirmation })
    const issued = await issueGrantedTokens(endpoint, { ...call, confirmation }, granted)
    addTokenDetails(call.event, granted, issued)
    return issued.response
  })
}

/** Adds the user, the session and the issued tokens to the event. */
function addTokenDetails(
  event: EventDraft,
  { user, session }: GrantResult,
  { response, accessTokenId, refreshToken }: IssuedTokens,
): void {
  const { details } = event
  event.user = user.id
  event.session = session?.id
  details.token_id = accessTokenId
  details.scope = String(response.scope)
  if (!refreshToken) return
  const isRefreshed = details.refresh_token_id !== undefined
  Object.assign(details, {
    refresh_token_type: refreshToken.type,
    ...(isRefreshed
      ? { updated_refresh_token_id: refreshToken.id, access_token_expiration_time: String(response.expires_in) }
      : { refresh_token_id: refreshToken.id }),
  })
}
