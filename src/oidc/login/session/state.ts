// What is kept of a log-in between two forms.
import type { SessionFacts } from '../../mappers/mapper.ts'
import type { About } from '../../pages/view.ts'
import type { ResponseMode } from '../response.ts'

/** What a flow is for, and the setting of the realm that names it. */
export const bindings = {
  browser: 'browserFlow',
  registration: 'registrationFlow',
  resetCredentials: 'resetCredentialsFlow',
  directGrant: 'directGrantFlow',
} as const

/** What a flow is for. */
export type Binding = keyof typeof bindings

/** What the application asks for, checked. */
export interface Parameters {
  readonly redirectUri: string
  readonly responseMode: ResponseMode
  readonly scope: string
  readonly state?: string
  readonly nonce?: string
  readonly codeChallenge?: string
  readonly codeChallengeMethod?: string
  readonly prompt: readonly string[]
  readonly maxAge?: number
  readonly loginHint?: string
  readonly acrValues?: string
  readonly claims?: string
  readonly action?: string
  readonly providerHint?: string
  readonly languages?: string
}

/** When each level was reached, in seconds since 1970; kept with the session. */
export type Levels = Readonly<Record<string, number>>

/** What is wrong with an answer: a text by its key, and the field that it is about. */
export interface Problem {
  readonly key: string
  readonly about?: readonly About[]
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

/** What a log-in keeps when it starts again: everything else is about the user who went before. */
export type KeptState = Pick<LoginState, 'client' | 'parameters' | 'locale'>

/** Returns the state of a log-in whose user is not known yet, and of which no step is done. */
export function freshState(binding: Binding, { client, parameters, locale }: KeptState): LoginState {
  return {
    binding,
    client,
    parameters,
    ...(locale && { locale }),
    done: {},
    used: [],
    actions: [],
    ended: [],
    notes: {},
  }
}
