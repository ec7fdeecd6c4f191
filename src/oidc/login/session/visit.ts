// What every page of a log-in begins and ends with: the realm, and what becomes of a refusal.

import type { UserEvent } from '../../../service/context/context.ts'
import type { Service } from '../../../service/context/service.ts'
import { errorPage } from '../../pages/messages.ts'
import { cameSafely, findTokenRealm, issuerOf, type TokenRealm } from '../../realm.ts'
import { type Login, tell, typeOf } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { Refused } from '../parameters.ts'
import { respond, show } from '../respond.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'

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
  const asked = request.form ? new URLSearchParams(Object.entries(request.form)) : request.query
  const client = (request.query.get('client_id') ?? asked.get('client_id')) || undefined
  const here: Visit = { service, realm: await findTokenRealm(service, request.realm), request, client }
  try {
    if (here.realm.settings.enabled !== true) throw new LoginError('realmNotEnabledMessage', 'realm_disabled', [], 403)
    if (!cameSafely(here.realm, request)) throw new LoginError('httpsRequiredMessage', 'ssl_required')
    return await work(here)
  } catch (error) {
    if (error instanceof Refused) {
      // Keycloak: that somebody would have to log in is an answer, no failure.
      if (error.error !== 'login_required') {
        const before = here.login ? {} : wishOf(asked, error)
        await tellOf(here, error.event, { ...before, reason: error.description })
      }
      return respond(here, error.to, {
        error: error.error,
        ...(error.description !== undefined && { error_description: error.description }),
        ...(error.to.state !== undefined && { state: error.to.state }),
        iss: issuerOf(request.base, here.realm.name),
      })
    }
    if (error instanceof LoginError) {
      const wrong = error.error === 'invalid_redirect_uri'
      const reason = error.about.join(' ') || undefined
      await tellOf(here, error.error, wrong ? { redirect_uri: addressIn(asked) } : { reason })
      return show(here, errorPage(error.key, error.about, backTo(here)), {
        status: error.status,
        wishes: [here.login?.state.locale, here.login?.state.parameters.languages],
      })
    }
    throw error
  }
}

const addressIn = (asked: URLSearchParams): string | undefined =>
  (asked.get('redirect_uri') ?? asked.get('post_logout_redirect_uri')) || undefined

/** What the event says of a request that did not even begin a log-in. */
function wishOf(asked: URLSearchParams, { to }: Refused) {
  const type = asked.get('response_type') ?? undefined
  return { response_type: type, response_mode: to.responseMode, redirect_uri: to.redirectUri }
}

function tellOf(here: Visit, error: string, details: NonNullable<UserEvent['details']>): Promise<void> {
  const { service, realm, request, login, client, type } = here
  if (login) return tell(login, type ?? typeOf(login), { error, details })
  return service.tell(realm, [{ type: type ?? 'LOGIN', error, client, address: request.address, details }])
}

/** The page of the application, where it has one. */
function backTo({ login }: Visit): string | undefined {
  const { baseUrl, rootUrl } = login?.client.representation ?? {}
  const address =
    typeof baseUrl === 'string' ? URL.parse(baseUrl, typeof rootUrl === 'string' ? rootUrl : undefined) : null
  return address && /^https?:$/.test(address.protocol) ? address.href : undefined
}
