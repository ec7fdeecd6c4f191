// What every page of a log-in begins and ends with: the realm, and what becomes of a refusal.
import type { Service } from '../../service/service.ts'
import type { UserEvent } from '../../service/user-events.ts'
import { errorPage } from '../pages/messages.ts'
import { cameSafely, issuerOf, openRealm, type TokenRealm } from '../realm.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'
import { type Login, LoginError, typeOf } from './login.ts'
import { Refused } from './parameters.ts'
import { respond, show } from './respond.ts'

/** A browser in a realm. `login` and `client` are known once they are found: what is refused is told of them. */
export interface Visit {
  readonly service: Service
  readonly realm: TokenRealm
  readonly request: BrowserRequest
  login?: Login | undefined
  client?: string | undefined
  /** What is being tried; absent: what the log-in is for. */
  type?: UserEvent['type']
}

/** Answers a browser. What is refused leaves an event, and a page or an answer to the application. Throws OAuthError. */
export async function visit(
  service: Service,
  request: BrowserRequest,
  work: (visit: Visit) => Promise<BrowserAnswer>,
): Promise<BrowserAnswer> {
  const here: Visit = { service, realm: await openRealm(service, request.realm), request }
  try {
    if (!cameSafely(here.realm, request)) throw new LoginError('httpsRequiredMessage', 'ssl_required')
    return await work(here)
  } catch (error) {
    if (error instanceof Refused) {
      await tell(here, error.event, error.description, error.to.redirectUri)
      return respond(here, error.to, {
        error: error.error,
        ...(error.description !== undefined && { error_description: error.description }),
        ...(error.to.state !== undefined && { state: error.to.state }),
        iss: issuerOf(request.base, here.realm.name),
      })
    }
    if (error instanceof LoginError) {
      await tell(here, error.error, error.about.join(' ') || undefined, here.login?.state.parameters.redirectUri)
      return show(here, errorPage(error.key, error.about, backTo(here)), {
        status: error.status,
        wishes: [here.login?.state.locale, here.login?.state.parameters.languages],
      })
    }
    throw error
  }
}

function tell(
  { service, realm, request, login, client, type }: Visit,
  error: string,
  reason: string | undefined,
  redirectUri: string | undefined,
): Promise<void> {
  return service.tell(realm, [
    {
      type: type ?? (login ? typeOf(login) : 'LOGIN'),
      error,
      client,
      user: login?.person?.live.id,
      address: request.address,
      details: { auth_method: 'openid-connect', redirect_uri: redirectUri, username: login?.state.username, reason },
    },
  ])
}

/** The page of the application, where it has one. */
function backTo({ login }: Visit): string | undefined {
  const { baseUrl, rootUrl } = login?.client.representation ?? {}
  const address =
    typeof baseUrl === 'string' ? URL.parse(baseUrl, typeof rootUrl === 'string' ? rootUrl : undefined) : null
  return address && /^https?:$/.test(address.protocol) ? address.href : undefined
}
