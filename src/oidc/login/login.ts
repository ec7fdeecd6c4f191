// A login in progress, and the interface of its steps.
import type { Representation } from '../../kinds/json.ts'
import type { Context, RuntimeContext, UserEvent } from '../../service/context/context.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { type LiveObject, listObjects } from '../../service/objects/live-objects.ts'
import { getCredentialsByUser } from '../../service/users/credentials.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import type { Page } from '../pages/view.ts'
import { type UserFields, viewUser } from '../views.ts'
import { getLoginEventDetails } from './event-details.ts'
import type { FlowStep, StepOutcome } from './flow.ts'
import type { FormFields } from './form.ts'
import { LoginError } from './login-error.ts'
import type { BrowserRequest } from './session/browser-request.ts'
import { createLoginState, type FlowBinding, type FormProblem, type LoginState } from './session/login-state.ts'

/** The user of a login. */
export interface LoginUser {
  readonly id: string
  readonly username: string
  readonly fields: UserFields
  readonly live: LiveObject
  /** The credentials, decrypted. */
  readonly credentials: readonly Representation[]
}

/** A login during one request. */
export interface Login {
  readonly service: Service
  readonly request: BrowserRequest
  readonly realm: OidcRealm
  readonly client: LiveObject
  readonly state: LoginState
  /** The id of the browser tab. */
  readonly tab: string
  /** Undefined until the user is identified. */
  user: LoginUser | undefined
}

/** A page that the user must answer before the login continues. */
export interface Challenge {
  readonly page: Page
}

/** A stage of a login: authentication, required actions or consent. */
export interface LoginStage {
  /** Returns the next page of the stage; undefined if the stage is complete. */
  findPage(login: Login): Promise<Challenge | undefined>
  /** Handles the submitted form of a page of the stage. */
  submit(login: Login, form: FormFields): Promise<void>
}

/** Executes a step of an authentication flow. Keycloak: Authenticator. */
export interface Authenticator {
  /** The user must be identified before. */
  readonly requiresUser?: true
  /** Whether the user can pass the step; absent: every user can. */
  isConfigured?(login: Login): boolean
  /** The required action that lets a user pass the step in the future. */
  readonly setupAction?: string
  authenticate(login: Login, step: FlowStep): Promise<StepOutcome<Challenge>> | StepOutcome<Challenge>
  /** Handles the submitted form of its page. */
  handleForm?(login: Login, step: FlowStep, form: FormFields): Promise<'success' | 'attempted' | FormProblem>
}

/** Returns the caller of service functions: the user, as soon as they are identified. */
export function getCaller({ realm, client, user, request }: Login): Caller {
  return {
    actor: {
      kind: 'user',
      realm: realm.name,
      ...(user && { userId: user.id, user: user.username }),
      client: client.key[0]!,
      address: request.address,
    },
  }
}

/** Records a user event of a login, once for each type; with an error, an error event. */
export function recordLoginEvent(
  login: Login,
  types: UserEvent['type'] | readonly UserEvent['type'][],
  { user = login.user?.id, error, details }: Pick<UserEvent, 'user' | 'error' | 'details'> = {},
): Promise<void> {
  const { service, realm, request, client } = login
  const event = { client: client.key[0], user, address: request.address, error }
  const allDetails = { ...getLoginEventDetails(login), ...details }
  return service.recordUserEvents(
    realm,
    [types].flat().map((type) => ({ type, ...event, details: allDetails })),
  )
}

/** Returns the type of a login's events. */
export function getEventType({ state: { binding } }: Pick<Login, 'state'>): UserEvent['type'] {
  if (binding === 'registration') return 'REGISTER'
  return binding === 'resetCredentials' ? 'RESET_PASSWORD' : 'LOGIN'
}

/** Runs work that reads the realm of a login. */
export function readRealm<T>(login: Login, work: (context: Context) => Promise<T>): Promise<T> {
  return login.service.read(getCaller(login), login.realm.name, work)
}

/** Runs work that writes runtime data in the realm of a login, neither configuration nor users. */
export function writeRuntime<T>(login: Login, work: (context: RuntimeContext) => Promise<T>): Promise<T> {
  return login.service.writeRuntime(getCaller(login), login.realm.name, work)
}

/** Returns the user with an id. Two statements. */
export async function findLoginUser(context: Context, id: string): Promise<LoginUser | undefined> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  if (!live) return undefined
  const credentials = (await getCredentialsByUser(context, [live])).get(id) ?? []
  return { id, username: live.key[0]!, fields: viewUser(live), live, credentials }
}

/** Starts a login again with another flow: its user and its executed steps no longer count. */
export function resetLogin(login: Login, binding: FlowBinding): void {
  const { state } = login
  const newState = createLoginState(binding, state)
  for (const name of Object.keys(state)) Reflect.deleteProperty(state, name)
  Object.assign(state, newState)
  login.user = undefined
}

/** Sets the user of a login. Steps that another user has passed before do not count. */
export async function setLoginUser(login: Login, id: string): Promise<void> {
  const { user, binding } = login.state
  if (user !== undefined && user !== id) resetLogin(login, binding)
  login.user = await readRealm(login, (context) => findLoginUser(context, id))
  login.state.user = id
}

/** Returns the user of a login. Throws LoginError where no step has identified one. */
export function getLoginUser({ user }: Login): LoginUser {
  if (!user) throw new LoginError('invalidUserMessage', 'user_not_found')
  return user
}
