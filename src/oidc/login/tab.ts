// A log-in in one tab of a browser: its forms are answered, each once.
import type { Cookie } from '../../lib/cookies.ts'
import { findLogin, takeLogin } from '../../service/authentication-sessions.ts'
import { listObjects } from '../../service/live.ts'
import { type Service, SYSTEM } from '../../service/service.ts'
import { endSessions } from '../../service/sessions.ts'
import { languagesOf } from '../pages/localize.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'
import { AUTH_SESSION, cookie, idOf, LOCALE, newSecret, openFor, RESTART } from './cookies.ts'
import { addressOf, goOn, type Kept } from './go-on.ts'
import { findSso, noIdentityCookies } from './identity.ts'
import { findPerson, type Login, LoginError, type LoginState } from './login.ts'
import { answer } from './machine.ts'
import { goTo } from './respond.ts'
import { begin, demandRegistration, demandReset } from './start.ts'
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
    for (const said of ['problem', 'info', 'values'] as const) delete login.state[said]
    await answer(login, request.form)
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
    const login = await openTab(here, { ...kept, body: { ...kept.body, binding, ...nothingYet } })
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
    const body = { ...kept.body, binding: 'browser', ...nothingYet, notes: { restarted: 'true' } }
    const login = await openTab(here, { ...kept, body })
    return goOn(login, kept, noIdentityCookies(request))
  })
}

/** A log-in in which nobody has said anything. */
const nothingYet = {
  ...{ done: {}, methods: null, used: [], actions: [], ended: [], notes: {} },
  ...{ user: null, username: null, credential: null, problem: null, info: null, values: null },
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
  const state = Object.fromEntries(
    Object.entries(structuredClone(kept.body)).filter(([, value]) => value !== null),
  ) as unknown as LoginState
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
  return [cookie(request, LOCALE, chosen)]
}
