// A log-in on its way: what is known of it between two forms, and what steps may do with it.
import type { Representation } from '../../kinds/json.ts'
import type { Context, RuntimeContext, UserEvent } from '../../service/context/context.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { type LiveObject, listObjects } from '../../service/objects/live.ts'
import { credentialsOf } from '../../service/users/credentials.ts'
import type { Page } from '../pages/view.ts'
import type { TokenRealm } from '../realm.ts'
import type { Outcome, Step } from './flow.ts'
import { LoginError } from './login-error.ts'
import type { BrowserRequest } from './session/browser.ts'
import { type Binding, freshState, type LoginState, type Problem } from './session/state.ts'
import { detailsOf } from './told.ts'

/** Who logs in, with the secrets of their credentials opened. */
export interface Person {
  readonly live: LiveObject
  readonly credentials: readonly Representation[]
}

/** A log-in, in one request. */
export interface Login {
  readonly service: Service
  readonly request: BrowserRequest
  readonly realm: TokenRealm
  readonly client: LiveObject
  readonly state: LoginState
  /** The tab of the browser that it is in. */
  readonly tab: string
  person: Person | undefined
}

/** Somebody must answer a page first. */
export interface Asked {
  readonly page: Page
}

/** What a step does. */
export interface Authenticator {
  /** It is about a person: who it is must be known. */
  readonly ofPerson?: true
  /** Whether the person has what it takes; absent: everybody has. */
  configured?(login: Login): boolean
  /** The required action that gives a person what it takes. */
  readonly setUpBy?: string
  begin(login: Login, step: Step): Promise<Outcome<Asked>> | Outcome<Asked>
  /** Reads the answer to its page. */
  answer?(login: Login, step: Step, form: Form): Promise<'success' | 'attempted' | Problem>
}

/** The fields of a form. */
export type Form = Readonly<Record<string, string>>

/** Who acts on the pages: the person, as far as they are known. */
export function callerOf({ realm, client, person, request }: Login): Caller {
  return {
    actor: {
      kind: 'person',
      realm: realm.name,
      ...(person && { userId: person.live.id, user: person.live.key[0]! }),
      client: client.key[0]!,
      address: request.address,
    },
  }
}

/** Tells what happened in a log-in; with an error, what was tried. Of several types, each is told. */
export function tell(
  login: Login,
  types: UserEvent['type'] | readonly UserEvent['type'][],
  { user = login.person?.live.id, error, details }: Pick<UserEvent, 'user' | 'error' | 'details'> = {},
): Promise<void> {
  const { service, realm, request, client } = login
  const event = { client: client.key[0], user, address: request.address, error }
  const told = { ...event, details: { ...detailsOf(login), ...details } }
  return service.tell(
    realm,
    [types].flat().map((type) => ({ type, ...told })),
  )
}

/** What a log-in is for, as events call it. */
export function typeOf({ state: { binding } }: Pick<Login, 'state'>): UserEvent['type'] {
  if (binding === 'registration') return 'REGISTER'
  return binding === 'resetCredentials' ? 'RESET_PASSWORD' : 'LOGIN'
}

/** Reads in the realm of the log-in. */
export function reading<T>(login: Login, work: (context: Context) => Promise<T>): Promise<T> {
  return login.service.read(callerOf(login), login.realm.name, work)
}

/** Writes what is neither configuration nor people, in the realm of the log-in. */
export function noting<T>(login: Login, work: (context: RuntimeContext) => Promise<T>): Promise<T> {
  return login.service.runtime(callerOf(login), login.realm.name, work)
}

/** The person with that id. Two statements. */
export async function findPerson(context: Context, id: string): Promise<Person | undefined> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  if (!live) return undefined
  return { live, credentials: (await credentialsOf(context, [live])).get(id) ?? [] }
}

/** Starts the log-in again: its user is not known, and nothing that was shown so far counts. */
export function startAgain(login: Login, binding: Binding): void {
  const { state } = login
  const fresh = freshState(binding, state)
  for (const field of Object.keys(state)) delete (state as Partial<LoginState>)[field as keyof LoginState]
  Object.assign(state, fresh)
  login.person = undefined
}

/** Sets the user of the log-in. What another user has shown before does not count for this one. */
export async function identify(login: Login, id: string): Promise<void> {
  const { user, binding } = login.state
  if (user !== undefined && user !== id) startAgain(login, binding)
  login.person = await reading(login, (context) => findPerson(context, id))
  login.state.user = id
}

/** The person of the log-in. Throws where nobody said who it is. */
export function personOf({ person }: Login): Person {
  if (!person) throw new LoginError('invalidUserMessage', 'user_not_found')
  return person
}
