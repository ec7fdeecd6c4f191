// A log-in in one tab of a browser: its forms are answered, each once.
import type { Cookie } from '../../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../../service/context/service.ts'
import { findLogin, takeLogin } from '../../../service/login/authentication-sessions.ts'
import { endSessions } from '../../../service/login/sessions.ts'
import { listObjects } from '../../../service/objects/live.ts'
import { languagesOf } from '../../pages/localize.ts'
import { addressOf, bodyOf, goOn, type Kept, stateOf } from '../go-on.ts'
import { findPerson, type Login } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { answer } from '../machine.ts'
import { LONGEST_FIELD, refuse } from '../refuse.ts'
import { goTo } from '../respond.ts'
import { begin, demandRegistration, demandReset } from '../start.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'
import { AUTH_SESSION, cookie, idOf, LOCALE, newSecret, openFor, RESTART } from './cookies.ts'
import { findSso, noIdentityCookies } from './identity.ts'
import { freshState } from './state.ts'
import { type Visit, visit } from './visit.ts'

/** A page of a log-in that is on its way, or the answer to it. */
export function continueLogin(service: Service, request: BrowserRequest): Promise<BrowserAnswer> {
  return visit(service, request, async (here) => {
    const kept = await findTab(here)
    if (!kept) return beginAgain(here)
    if (!request.form) {
      const login = await openTab(here, kept)
      return goOn(login, kept, chooseLanguage(login))
    }
    const code = request.query.get('session_code') ?? ''
    const taken = await service.runtime(SYSTEM, request.realm, (context) => takeLogin(context, kept, code, newSecret()))
    if (!taken) return goTo(`${addressOf(request, kept)}&expired=true`)
    const login = await openTab(here, taken)
    demandBinding(login)
    for (const said of ['problem', 'info', 'values'] as const) delete login.state[said]
    const long = Object.keys(request.form).find((name) => request.form![name]!.length > LONGEST_FIELD)
    if (long === undefined) await answer(login, request.form)
    else
      refuse(login, request.form, {
        key: 'error-invalid-length-too-long',
        about: [long, '', LONGEST_FIELD],
        field: long,
      })
    return goOn(login, taken)
  })
}

/** Goes on with another flow than log-in: to register, or to choose new credentials. */
export function changeFlow(
  service: Service,
  request: BrowserRequest,
  binding: 'registration' | 'resetCredentials',
): Promise<BrowserAnswer> {
  return visit(service, request, async (here) => {
    const kept = await findTab(here)
    if (!kept) return beginAgain(here)
    if (binding === 'registration') demandRegistration(here)
    else demandReset(here)
    const login = await openTab(here, { ...kept, body: bodyOf(freshState(binding, stateOf(kept))) })
    return goOn(login, kept, chooseLanguage(login))
  })
}

/** Begins anew, for whoever it is. Who was asked to show anew who they are and is somebody else ends that session. */
export function restartLogin(service: Service, request: BrowserRequest): Promise<BrowserAnswer> {
  return visit(service, request, async (here) => {
    const kept = await findTab(here)
    if (!kept) return beginAgain(here)
    const session = await findSso(here)
    if (session) {
      await service.runtime(SYSTEM, request.realm, (context) =>
        endSessions(context, { id: session.id, offline: false }),
      )
    }
    const body = bodyOf({ ...freshState('browser', stateOf(kept)), notes: { restarted: 'true' } })
    const login = await openTab(here, { ...kept, body })
    return goOn(login, kept, noIdentityCookies(request))
  })
}

/** The log-in of the tab that the address names, in this browser. */
export async function findTab({ service, request }: Visit): Promise<Kept | undefined> {
  const secret = request.cookies.get(AUTH_SESSION)
  const tab = request.query.get('tab_id')
  if (!secret || !tab) return undefined
  return service.read(SYSTEM, request.realm, (context) => findLogin(context, { id: idOf(secret), tab }))
}

/** The log-in as it is kept, with its person. Throws where its client may no longer be used. */
export async function openTab(here: Visit, kept: Kept): Promise<Login> {
  const { service, request, realm } = here
  const state = stateOf(kept)
  const login = await service.read(SYSTEM, request.realm, async (context): Promise<Login> => {
    const [client] = await listObjects(context, 'client', { keys: [[state.client]] })
    if (client?.representation.enabled !== true) throw new LoginError('clientDisabledMessage', 'client_disabled')
    const person = state.user === undefined ? undefined : await findPerson(context, state.user)
    return { service, request, realm, client, state, tab: kept.tab, person }
  })
  here.login = login
  here.client = state.client
  return login
}

/** Throws where the realm does not offer any more what the log-in is for. */
function demandBinding({ state, realm }: Login): void {
  if (state.notes.authenticated !== undefined) return
  if (state.binding === 'registration') demandRegistration({ realm })
  if (state.binding === 'resetCredentials') demandReset({ realm })
}

/** A log-in that is over begins as it began; who sends no cookie at all is told so. */
async function beginAgain(here: Visit): Promise<BrowserAnswer> {
  const { request, service } = here
  const query = openFor<string>(service.vault, RESTART, request.cookies.get(RESTART))
  if (query === undefined || request.query.get('client_id') !== new URLSearchParams(query).get('client_id')) {
    throw request.cookies.has(AUTH_SESSION)
      ? new LoginError('staleCodeMessage', 'expired_code')
      : new LoginError('cookieNotFoundMessage', 'cookie_not_found')
  }
  return begin(here, new URLSearchParams(query), 'loginTimeout')
}

/** Keeps the language that was chosen on a page. */
function chooseLanguage({ state, request, realm }: Login): Cookie[] {
  const chosen = request.query.get('kc_locale')
  if (chosen === null || !languagesOf(realm.settings).includes(chosen)) return []
  state.locale = chosen
  return [cookie(request, LOCALE, encodeURIComponent(chosen))]
}
