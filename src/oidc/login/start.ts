// A log-in begins: where an application sends a browser.
import { type LiveObject, listObjects } from '../../service/live.ts'
import { type Service, SYSTEM } from '../../service/service.ts'
import { OAuthError } from '../oauth-error.ts'
import { grantedScopes } from '../scopes.ts'
import type { BrowserAnswer, BrowserRequest } from './browser.ts'
import { AUTH_SESSION, cookie, idOf, newSecret, RESTART, sealFor } from './cookies.ts'
import { bodyOf, goOn, type Kept } from './go-on.ts'
import { LoginError, type LoginState } from './login.ts'
import { demandBrowserClient, type Parameters, Refused, readParameters, redirectUriOf } from './parameters.ts'
import { type Visit, visit } from './visit.ts'

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
  const { service, realm, request } = here
  const name = query.get('client_id')
  if (!name) throw new LoginError('invalidRequestMessage', 'invalid_request')
  here.client = name
  const [client] = await service.read(SYSTEM, realm.name, (context) =>
    listObjects(context, 'client', { keys: [[name]] }),
  )
  demandBrowserClient(client)
  const address = redirectUriOf(client.representation, query, request.base)
  const parameters = readParameters(client.representation, query, address)
  await demandScopes(here, client, parameters)
  const registering = parameters.prompt.includes('create')
  if (registering) demandRegistration(here)
  const state: LoginState = {
    binding: registering ? 'registration' : 'browser',
    client: name,
    parameters,
    done: {},
    used: [],
    actions: [],
    ended: [],
    notes: {},
    info,
    ...(parameters.loginHint !== undefined && { values: { username: parameters.loginHint } }),
  }
  here.login = { service, request, realm, client, state, person: undefined }
  const secret = request.cookies.get(AUTH_SESSION) || newSecret()
  const lifespan = Number(realm.settings.accessCodeLifespanLogin ?? 1800) * 1000
  const kept: Kept = {
    id: idOf(secret),
    tab: newSecret().slice(0, 11),
    code: newSecret(),
    expiresAt: new Date(realm.now.getTime() + lifespan),
    body: bodyOf(state),
    fresh: true,
  }
  const restart = sealFor(service.vault, RESTART, query.toString())
  return goOn(here.login, kept, [
    cookie(request, AUTH_SESSION, secret),
    ...(restart.length < LONGEST_COOKIE ? [cookie(request, RESTART, restart)] : []),
  ])
}

/** Throws unless people may register in the realm. */
export function demandRegistration({ realm }: Pick<Visit, 'realm'>): void {
  if (realm.settings.registrationAllowed !== true) {
    throw new LoginError('registrationNotAllowedMessage', 'registration_disabled')
  }
}

/** Throws Refused where the client asks for scopes that it may not have. */
async function demandScopes({ service, realm }: Visit, client: LiveObject, parameters: Parameters): Promise<void> {
  try {
    await service.read(SYSTEM, realm.name, (context) => grantedScopes(context, client, parameters.scope))
  } catch (error) {
    if (error instanceof OAuthError) throw new Refused(parameters, error.error, error.message, 'invalid_request')
    throw error
  }
}
