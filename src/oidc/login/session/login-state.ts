// The state of a login between two requests, which is stored in its authentication session.
import * as z from 'zod'
import type { AuthenticationSession } from '../../../service/context/store-types.ts'
import { responseModes } from '../authorization-response.ts'

/** The flow bindings, and the realm setting that selects the flow of each. */
export const flowBindings = {
  browser: 'browserFlow',
  registration: 'registrationFlow',
  resetCredentials: 'resetCredentialsFlow',
  directGrant: 'directGrantFlow',
} as const

/** The purpose of an authentication flow in a realm, such as browser login. */
export type FlowBinding = keyof typeof flowBindings

const text = z.string().exactOptional()

const authorizationParameters = z.object({
  redirectUri: z.string(),
  responseMode: z.enum(responseModes),
  scope: z.string(),
  state: text,
  nonce: text,
  codeChallenge: text,
  codeChallengeMethod: text,
  dpopJkt: text,
  prompt: z.array(z.string()),
  /** In seconds. */
  maxAge: z.number().exactOptional(),
  loginHint: text,
  acrValues: text,
  claims: text,
  /** Keycloak: `kc_action`, the alias of a requested required action. */
  action: text,
  /** Keycloak: `kc_idp_hint`, the alias of a requested identity provider. */
  providerHint: text,
  /** The preferred languages: `kc_locale` or `ui_locales`. */
  languages: text,
})

/** The checked parameters of an authorization request. */
export type AuthorizationParameters = Readonly<z.infer<typeof authorizationParameters>>

const formProblem = z.object({
  /** The key of the text. */
  key: z.string(),
  params: z.array(z.union([z.string(), z.number(), z.null(), z.object({ name: z.string() })])).exactOptional(),
  /** The field of the form; absent: the whole form. */
  field: text,
  /** Keycloak: the error code of the user event; absent: no event is recorded. */
  error: text,
  /** The id of the user whose login failed. */
  user: text,
})

/** The problem of a submitted form. */
export type FormProblem = Readonly<z.infer<typeof formProblem>>

/** Notes that steps store for a later request. */
const notes = z.object({
  /** The login only carries out an action token of a link: the user is not logged in. */
  isActionTokenOnly: z.literal(true).exactOptional(),
  /** The user left a session, so that the login does not continue it. */
  isRestarted: z.literal(true).exactOptional(),
  /** The user has a session, but must authenticate again. */
  isReauthentication: z.literal(true).exactOptional(),
  /** Names of the client scopes on the consent page. */
  requestedConsents: z.array(z.string()).exactOptional(),
  /** Keycloak: `kc_action_status`, the result of a requested required action. */
  actionStatus: z.enum(['success', 'cancelled', 'error']).exactOptional(),
  /** The level of authentication that this login has reached. */
  level: z.number().exactOptional(),
  /** The level of authentication of the session that the login continues. */
  sessionLevel: z.number().exactOptional(),
  /** The username or email address that the user entered in the organization step. */
  enteredName: text,
  /** The id of the action token that the password reset email contains; empty: no email was sent. */
  resetTokenId: text,
  /** The email address that the verification email was sent to. */
  verificationSentTo: text,
  /** The time when the verification email was sent, in seconds since 1970. */
  verificationSentAt: z.number().exactOptional(),
  /** The encrypted secret of an authenticator app that is being set up. */
  sealedOtpSecret: text,
  /** The id of the selected OTP credential. */
  otpDevice: text,
  /** The id of the user that this login has created. */
  createdUser: text,
  /** The invitation that the registration accepts: its id, and the name of the organization. */
  invitation: z.object({ id: z.string(), organization: z.string() }).exactOptional(),
})

const loginState = z.object({
  binding: z.enum(['browser', 'registration', 'resetCredentials', 'directGrant']),
  /** The client id. */
  client: z.string(),
  parameters: authorizationParameters,
  /** The results of executed steps, by id. */
  stepResults: z.record(z.string(), z.enum(['success', 'attempted'])),
  /** The flow has succeeded: required actions and consent follow. */
  isAuthenticated: z.literal(true).exactOptional(),
  /** The page that was shown last: the id of a step, the alias of a required action, or `consent`. */
  currentPage: text,
  /** The id of the user. */
  user: text,
  /** The username that was entered. */
  username: text,
  rememberMe: z.boolean().exactOptional(),
  /** The id of the credential that the user authenticated with. */
  credential: text,
  /** The id of the SSO session that the login continues. */
  session: text,
  /** The authentication methods that the user passed, and the time until each counts, in seconds since 1970. */
  methods: z.array(z.object({ name: z.string(), until: z.number() })).exactOptional(),
  /** The types of credentials that the user authenticated with. */
  usedCredentialTypes: z.array(z.string()),
  /** The levels of authentication that the user reached, each with the time in seconds since 1970. */
  levels: z.record(z.string(), z.number()).exactOptional(),
  /** The aliases of required actions that this login adds to those of the user. */
  requiredActions: z.array(z.string()),
  /** The aliases of completed required actions; `consent` after the consent page. */
  completedActions: z.array(z.string()),
  notes,
  /** The problem of the last form. */
  problem: formProblem.exactOptional(),
  /** The key of an information text. */
  info: text,
  /** The values of the last form, except for passwords and codes. */
  values: z.record(z.string(), z.string()).exactOptional(),
  /** The language that the user selected. */
  locale: text,
})

/** The state of a login. */
export type LoginState = z.infer<typeof loginState>

/** Creates the state of a login without a user and without executed steps. Keeps the request and the language of a state. */
export function createLoginState(
  binding: FlowBinding,
  { client, parameters, locale }: Pick<LoginState, 'client' | 'parameters' | 'locale'>,
): LoginState {
  return {
    binding,
    client,
    parameters,
    ...(locale !== undefined && { locale }),
    stepResults: {},
    usedCredentialTypes: [],
    requiredActions: [],
    completedActions: [],
    notes: {},
  }
}

/** An authentication session with the parsed state of its login. `isNew`: it is not stored yet; that happens when a page is shown. */
export interface SavedLogin extends Omit<AuthenticationSession, 'body'> {
  readonly state: Readonly<LoginState>
  readonly isNew?: true
}

/** Reads a stored login; undefined where an incompatible version of Regent stored it, so that the login starts again. */
export function readSavedLogin(session: AuthenticationSession | undefined): SavedLogin | undefined {
  if (!session) return undefined
  const { body, ...rest } = session
  const { data } = loginState.safeParse(body)
  return data && { ...rest, state: data }
}

/** Returns the authentication session to store for a login. */
export function toAuthenticationSession({ isNew: _, state, ...session }: SavedLogin): AuthenticationSession {
  return { ...session, body: JSON.parse(JSON.stringify(state)) }
}
