// A log-in begins: where an application sends a browser.

import { type Service, SYSTEM } from '../../service/context/service.ts'
import { type LiveObject, listObjects } from '../../service/objects/live.ts'
import { OAuthError } from '../oauth-error.ts'
import { grantedScopes } from '../tokens/scopes.ts'
import { bodyOf, goOn, type Kept } from './go-on.ts'
import type { Login } from './login.ts'
import { LoginError } from './login-error.ts'
import { demandBrowserClient, Refused, readParameters, redirectUriOf } from './parameters.ts'
import type { BrowserAnswer, BrowserRequest } from './session/browser.ts'
import { AUTH_SESSION, cookie, idOf, isSecret, newSecret, RESTART, sealFor } from './session/cookies.ts'
import { freshState, type LoginState, type Parameters } from './session/state.ts'
import { type Visit, visit } from './session/visit.ts'

/** Browsers keep cookies of 4 kB: a request that is longer cannot begin anew by itself. */
const LONGEST_COOKIE = 3500

/** The authorization endpoint. A POST says in its form what a GET says in its address. */
export function authorize(service: Service, request: BrowserRequest, registering = false): Promise<BrowserAnswer> {
  const query = new URLSearchParams(request.form ? Object.entries(request.form) : request.query)
  if (registering) query.set('prompt', 'create')
  return visit(service, request, (here) => begin(here, query))
}

/** Begins a log-in as the query says, in a tab of its own. */
export async function begin(here: Visit, query: URLSearchParams, info?: string): Promise<BrowserAnswer> {
  const { service, request } = here
  const name = query.get('client_id')
  if (!name) throw new LoginError('invalidRequestMessage', 'invalid_request')
  here.client = name
  const client = await findClient(here, name)
  demandBrowserClient(client)
  const address = redirectUriOf(client.representation, query, request.base)
  const parameters = readParameters(client.representation, query, address)
  await demandScopes(here, client, parameters)
  const registering = parameters.prompt.includes('create')
  if (registering) demandRegistration(here)
  const { login, tab, cookies } = newTab(here, client, {
    binding: registering ? 'registration' : 'browser',
    parameters,
    info,
    ...(parameters.loginHint !== undefined && { values: { username: parameters.loginHint } }),
  })
  const restart = sealFor(service.vault, RESTART, query.toString())
  const kept = restart.length < LONGEST_COOKIE ? [cookie(request, RESTART, restart)] : []
  return goOn(login, tab, [...cookies, ...kept])
}

/** A new log-in, which is not kept before somebody is asked something. */
export function newTab(
  here: Visit,
  client: LiveObject,
  begun: Pick<LoginState, 'binding' | 'parameters'> & Partial<LoginState>,
) {
  const { service, request, realm } = here
  const { binding, parameters } = begun
  const state: LoginState = { ...freshState(binding, { client: client.key[0]!, parameters }), ...begun }
  const before = request.cookies.get(AUTH_SESSION) ?? ''
  const secret = isSecret(before) ? before : newSecret()
  const lifespan = Number(realm.settings.accessCodeLifespanLogin ?? 1800) * 1000
  const tab: Kept = {
    id: idOf(secret),
    tab: newSecret().slice(0, 11),
    code: newSecret(),
    expiresAt: new Date(realm.now.getTime() + lifespan),
    body: bodyOf(state),
    fresh: true,
  }
  const login: Login = { service, request, realm, client, state, tab: tab.tab, person: undefined }
  here.login = login
  return { login, tab, cookies: [cookie(request, AUTH_SESSION, secret)] }
}

/** The client of that name. */
export async function findClient({ service, realm }: Visit, name: string): Promise<LiveObject | undefined> {
  const found = await service.read(SYSTEM, realm, (context) => listObjects(context, 'client', { keys: [[name]] }))
  return found[0]
}

/** The client with that id. */
export async function findClientById({ service, realm }: Visit, id: string): Promise<LiveObject | undefined> {
  const found = await service.read(SYSTEM, realm, (context) => listObjects(context, 'client', { ids: [id] }))
  return found[0]
}

/** Throws unless people may register in the realm. */
export function demandRegistration({ realm }: Pick<Visit, 'realm'>): void {
  if (realm.settings.registrationAllowed !== true) {
    throw new LoginError('registrationNotAllowedMessage', 'registration_disabled')
  }
}

/** Throws unless people may choose a new password in the realm when they have forgotten theirs. */
export function demandReset({ realm }: Pick<Visit, 'realm'>): void {
  if (realm.settings.resetPasswordAllowed !== true) {
    throw new LoginError('resetCredentialNotAllowedMessage', 'not_allowed')
  }
}

/** Throws Refused where the client asks for scopes that it may not have. */
async function demandScopes({ service, realm }: Visit, client: LiveObject, parameters: Parameters): Promise<void> {
  try {
    await service.read(SYSTEM, realm, (context) => grantedScopes(context, client, parameters.scope))
  } catch (error) {
    if (error instanceof OAuthError) throw new Refused(parameters, error.error, error.message, 'invalid_request')
    throw error
  }
}
