// Log-out with a browser. OpenID Connect RP-Initiated Logout 1.0, Front-Channel Logout 1.0.

import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { EndedPart } from '../../service/context/store-types.ts'
import { endSessions } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { loggedOutPage } from '../pages/logged-out.ts'
import { infoPage, logoutPage } from '../pages/messages.ts'
import { issuerOf } from '../realm.ts'
import { isRegistered } from '../redirect-uris.ts'
import { type IssuedTo, verifySignature } from '../tokens/tokens.ts'
import { LoginError } from './login-error.ts'
import { goTo, show } from './respond.ts'
import type { BrowserAnswer, BrowserRequest } from './session/browser.ts'
import { openFor, sealFor } from './session/cookies.ts'
import { findSso, noIdentityCookies } from './session/identity.ts'
import { type Visit, visit } from './session/visit.ts'
import { findClient, findClientById } from './start.ts'

/** What is asked before a log-out, sealed into the page: which session, and where to go on. */
interface Question {
  readonly session: string
  readonly client?: string | undefined
  readonly goal?: string | undefined
}

const PURPOSE = 'logout'

/** The log-out endpoint: asks first, unless the application shows by an ID token that it is its own session. */
export function logOut(service: Service, request: BrowserRequest): Promise<BrowserAnswer> {
  const query = request.form ? new URLSearchParams(request.form) : request.query
  return visit(service, request, async (here) => {
    here.type = 'LOGOUT'
    const hint = await readHint(here, query.get('id_token_hint'))
    const stated = query.get('client_id')
    const client = stated === null ? hint && (await findClientById(here, hint.client)) : await findClient(here, stated)
    const name = client?.key[0] ?? stated ?? undefined
    here.client = name
    if (hint && stated !== null && client?.id !== hint.client)
      throw new LoginError('invalidParameterMessage', 'invalid_client', ['client_id'])
    const goal = goalOf(client, query)
    const session = await findSso(here)
    if (session && hint?.session !== session.id) {
      const question: Question = { session: session.id, client: name, goal }
      const key = sealFor(service.vault, PURPOSE, question)
      const action = `${issuerOf(request.base, request.realm)}/login-actions/logout-confirm?${new URLSearchParams({ key })}`
      return show(here, logoutPage, { action, wishes: [query.get('ui_locales') ?? undefined] })
    }
    return end(here, session?.id, goal)
  })
}

/** The answer to the page that asks: it counts for the session that was asked about. */
export function confirmLogOut(service: Service, request: BrowserRequest): Promise<BrowserAnswer> {
  return visit(service, request, async (here) => {
    here.type = 'LOGOUT'
    const question = openFor<Question>(service.vault, PURPOSE, request.query.get('key') ?? undefined)
    if (!question || !request.form) throw new LoginError('staleCodeMessage', 'expired_code')
    here.client = question.client
    const session = await findSso(here)
    return end(here, session?.id === question.session ? session.id : undefined, question.goal)
  })
}

/** Ends the session. Applications that want to know of it from the browser are told by frames of a page. */
async function end(here: Visit, session: string | undefined, goal: string | undefined): Promise<BrowserAnswer> {
  const { service, realm, request, client } = here
  const which = { id: session ?? '', offline: false }
  const parts =
    session === undefined ? [] : await service.runtime(SYSTEM, realm.name, (context) => endSessions(context, which))
  if (session !== undefined) {
    const user = parts[0]?.user
    const details = { redirect_uri: goal }
    await service.tell(realm, [{ type: 'LOGOUT', client, user, session, address: request.address, details }])
  }
  const cookies = noIdentityCookies(request)
  const frames = parts.flatMap((part) => frameOf(part, issuerOf(request.base, realm.name)))
  if (frames.length) return show(here, loggedOutPage(frames, goal), { cookies, frames })
  return goal === undefined ? show(here, infoPage('successLogout'), { cookies }) : goTo(goal, cookies)
}

/** To whom the ID token was issued, also when its time is over. Throws where the realm did not sign it. */
async function readHint({ service, realm }: Visit, token: string | null): Promise<IssuedTo | undefined> {
  if (token === null) return undefined
  const hint = await verifySignature(service, realm, token)
  if (hint?.claims.typ !== 'ID') throw new LoginError('invalidParameterMessage', 'invalid_token', ['id_token_hint'])
  return hint.issuedTo
}

/** Where the browser goes on. Throws where the client did not say so. Keycloak: `+` stands for the redirect URIs. */
function goalOf(client: LiveObject | undefined, query: URLSearchParams): string | undefined {
  const address = query.get('post_logout_redirect_uri')
  if (address === null) return undefined
  if (!query.has('id_token_hint') && !query.has('client_id')) {
    throw new LoginError('missingParameterMessage', 'invalid_request', ['id_token_hint'])
  }
  const { attributes = {}, redirectUris = [], rootUrl } = client?.representation ?? {}
  const stated = ((attributes as Record<string, string>)['post.logout.redirect.uris'] || '+').split('##')
  const registered = stated.flatMap((one) => (one === '+' ? (redirectUris as string[]) : [one]))
  if (!client || !isRegistered(address, { redirectUris: registered, rootUrl: rootUrl as string | undefined })) {
    throw new LoginError('invalidRedirectUriMessage', 'invalid_redirect_uri')
  }
  const state = query.get('state')
  if (state === null) return address
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ state })}`
}

/** The address that tells an application in a frame. */
function frameOf({ session, attributes, frontchannel }: EndedPart, issuer: string): string[] {
  const url = URL.parse(attributes?.['frontchannel.logout.url'] ?? '')
  if (!url || !frontchannel) return []
  if (attributes?.['frontchannel.logout.session.required'] !== 'false') {
    url.searchParams.set('iss', issuer)
    url.searchParams.set('sid', session)
  }
  return [url.href]
}
