// A log-in on its way: what is known of it between two forms, and what steps may do with it.
import type { Representation } from '../../kinds/kind.ts'
import type { Context, RuntimeContext } from '../../service/context.ts'
import { credentialsOf } from '../../service/credentials.ts'
import { Refusal } from '../../service/errors.ts'
import { type LiveObject, listObjects } from '../../service/live.ts'
import type { Caller, Service } from '../../service/service.ts'
import type { UserEvent } from '../../service/user-events.ts'
import type { SessionFacts } from '../mappers/mapper.ts'
import type { Page } from '../pages/view.ts'
import type { TokenRealm } from '../realm.ts'
import type { Levels } from './authenticators/level.ts'
import type { BrowserRequest } from './browser.ts'
import type { Outcome, Step } from './flow.ts'
import type { Parameters } from './parameters.ts'
import type { Binding } from './steps.ts'
import { detailsOf } from './told.ts'

/** What is wrong with an answer: a text by its key, and the field that it is about. */
export interface Problem {
  readonly key: string
  readonly about?: readonly (string | number | null)[]
  readonly field?: string
  /** The reference server's word for the event; absent: nobody is told. `user`: whose log-in it was to be, by id. */
  readonly error?: string
  readonly user?: string
}

/** What is kept of a log-in between two forms. */
export interface LoginState {
  binding: Binding
  /** The client by its name. */
  readonly client: string
  readonly parameters: Parameters
  /** What came of steps, by id. */
  done: Record<string, 'success' | 'attempted'>
  /** The step or required action that was asked last. */
  asked?: string | undefined
  /** Whose log-in it is, by id. */
  user?: string | undefined
  /** The name that was typed. */
  username?: string | undefined
  rememberMe?: boolean | undefined
  /** The id of the credential that they logged in with; of a log-in that goes on, the session. */
  credential?: string | undefined
  session?: string | undefined
  /** What tokens call the steps that they passed, and until when: see SessionFacts. */
  methods?: SessionFacts['methods']
  /** Kinds of credentials that they showed. */
  used: string[]
  /** Levels of authentication that were reached, and when: see authenticators/level.ts. */
  levels?: Levels | undefined
  /** Required actions that this log-in brings along, and those that are done with. */
  actions: string[]
  ended: string[]
  /** What steps note for themselves. */
  notes: Record<string, string>
  /** What the last answer was refused for, and what it said that is no secret. */
  problem?: Problem | undefined
  info?: string | undefined
  values?: Record<string, string> | undefined
  /** The language that was chosen on a page. */
  locale?: string | undefined
}

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

/** A log-in that cannot go on: a text by its key for the person, and the reference server's word for the event. */
export class LoginError extends Refusal {
  readonly key: string
  readonly error: string
  readonly about: readonly (string | number)[]
  readonly status: number
  constructor(key: string, error: string, about: readonly (string | number)[] = [], status = 400) {
    super(key)
    this.key = key
    this.error = error
    this.about = about
    this.status = status
  }
}

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

/** Says whose log-in it is. */
export async function identify(login: Login, id: string): Promise<void> {
  login.person = await reading(login, (context) => findPerson(context, id))
  login.state.user = id
}

/** The person of the log-in. Throws where nobody said who it is. */
export function personOf({ person }: Login): Person {
  if (!person) throw new LoginError('invalidUserMessage', 'user_not_found')
  return person
}
