// The parameters of an authorization request: those of the request itself, or those that it refers to.
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { AuthorizationError, readRedirectUri, readResponseTarget } from '../login/authorization-request.ts'
import { LoginError } from '../login/login-error.ts'
import type { BrowserCall } from '../login/session/browser-call.ts'
import { viewClient } from '../views.ts'
import { isPushedRequest, takePushedRequest } from './pushed-requests.ts'

/**
 * Returns the parameters of an authorization request. Only those of a pushed request count, where the request refers to one.
 *
 * @throws LoginError if the pushed request is used or expired
 * @throws AuthorizationError if the client may only push requests
 */
export async function resolveAuthorizationRequest(
  call: BrowserCall,
  client: LiveObject,
  query: URLSearchParams,
): Promise<URLSearchParams> {
  const address = query.get('request_uri') ?? ''
  if (isPushedRequest(address)) {
    const pushed = await takePushedRequest(call, client, address)
    if (!pushed) throw new LoginError('invalidRequestMessage', 'invalid_request')
    return pushed
  }
  if (viewClient(client).attributes?.['require.pushed.authorization.requests'] === 'true') {
    const target = readResponseTarget(query, readRedirectUri(client, query, call.request.base))
    const description = 'Pushed Authorization Request is only allowed.'
    throw new AuthorizationError(target, 'invalid_request', { description })
  }
  return query
}
