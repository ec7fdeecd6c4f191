// Access tokens of a server. Each is requested when a request needs it, so that a command may take longer than a token is valid.
import { adviseClient, authenticateClient, type ClientCredentials } from './client-assertions.ts'
import { changeContexts, getContext, type NamedContext } from './contexts.ts'
import { requestTokens, type ServerRealm, TokenRefused, type TokenResponse } from './token-request.ts'

/** The client with which users log in. It is built into every realm, and its tokens are for administration. */
export const LOGIN_CLIENT = 'security-admin-console'
/** Milliseconds before its end at which a token is replaced. */
const EARLY = 10_000

/** The access tokens of a command. */
export interface AccessTokens {
  /** Returns a valid token. `rejected`: the server has refused this one. */
  get(rejected?: string): Promise<string>
}

/** Returns the given token, whatever the server thinks of it. */
export const createFixedTokens = (token: string): AccessTokens => ({ get: async () => token })

/** Returns tokens that a function requests. */
function createRequestedTokens(request: () => Promise<TokenResponse>): AccessTokens {
  let last: { readonly token: string; readonly expires: number } | undefined
  let pending: Promise<string> | undefined
  const renew = async () => {
    const { access_token: token, expires_in: lifespan } = await request()
    last = { token, expires: Date.now() + lifespan * 1000 }
    return token
  }
  return {
    async get(rejected) {
      if (last && last.token !== rejected && Date.now() < last.expires - EARLY) return last.token
      pending ??= renew().finally(() => {
        pending = undefined
      })
      return pending
    },
  }
}

/** Returns tokens of a user who logs in by name and password. */
export function createPasswordTokens(at: ServerRealm, username: string, password: string): AccessTokens {
  return createRequestedTokens(() =>
    requestTokens(at, { grant_type: 'password', client_id: 'admin-cli', username, password }).catch((error: Error) => {
      throw error instanceof TokenRefused
        ? new Error(
            `${username} cannot log in at ${at.server}, realm ${at.realm}: ${error.message}. Check user, password and --login-realm.`,
            { cause: error },
          )
        : error
    }),
  )
}

/** The tokens of this process, by what they are requested with. The connections of a command share them: an assertion may be valid only once. */
const shared = new Map<string, AccessTokens>()

function share(key: unknown, create: () => AccessTokens): AccessTokens {
  const text = JSON.stringify(key)
  const tokens = shared.get(text) ?? create()
  shared.set(text, tokens)
  return tokens
}

/** Returns tokens of the service account of a client. */
export function createClientTokens(at: ServerRealm, client: string, credentials: ClientCredentials): AccessTokens {
  return share([at, client, credentials], () => createTokensOfClient(at, client, credentials))
}

function createTokensOfClient(at: ServerRealm, client: string, credentials: ClientCredentials): AccessTokens {
  return createRequestedTokens(async () => {
    const form = await authenticateClient(at, client, credentials)
    return requestTokens(at, { grant_type: 'client_credentials', client_id: client, ...form }).catch((error: Error) => {
      if (!(error instanceof TokenRefused)) throw error
      const advice = adviseClient(credentials, form)
      const refusal = `The client ${client} cannot log in at ${at.server}, realm ${at.realm}: ${error.message}.`
      throw new Error(`${refusal} ${advice}`, { cause: error })
    })
  })
}

/** Returns tokens of the user or the client of a context. */
export function createContextTokens(context: NamedContext): AccessTokens {
  if (context.client !== undefined) return createClientTokens(context, context.client, context)
  return share(context.name, () => createRequestedTokens(() => refreshSession(context.name)))
}

/** Refreshes the session of a context, and stores its new refresh token. Commands do it one after the other: a token may be valid only once. */
function refreshSession(name: string): Promise<TokenResponse> {
  return changeContexts(async (file) => {
    const { name: _, ...context } = getContext(file, name)
    const { refreshToken } = context
    if (refreshToken === undefined) throw createSessionError(name)
    const form = { grant_type: 'refresh_token', client_id: LOGIN_CLIENT, refresh_token: refreshToken }
    const issued = await requestTokens(context, form).catch((error: Error) => {
      throw error instanceof TokenRefused ? createSessionError(name, error) : error
    })
    const renewed = { ...context, refreshToken: issued.refresh_token ?? refreshToken }
    return [{ ...file, contexts: { ...file.contexts, [name]: renewed } }, issued] as const
  })
}

const createSessionError = (name: string, cause?: Error): Error =>
  new Error(`The session of context ${name} has ended. Run "regent login".`, { cause })
