import { resolve } from 'node:path'
import { findServerOfFolder } from '../connect.ts'
import { createClientTokens, LOGIN_CLIENT } from '../login/access-tokens.ts'
import { logInWithBrowser } from '../login/browser-login.ts'
import { type ClientCredentials, readClaims } from '../login/client-assertions.ts'
import { changeContexts, type LoginContext, type NamedContext, readContexts } from '../login/contexts.ts'
import { parseServer } from '../login/find-login.ts'
import { endSession, type ServerRealm } from '../login/token-request.ts'
import { isInteractive } from '../prompt.ts'
import { printHint } from '../terminal/hint.ts'

/** The flags of `regent login`. */
interface LoginCommandFlags extends ClientCredentials {
  readonly server?: string
  readonly context?: string
  readonly realm?: string
  readonly browser: boolean
  readonly clientId?: string
}

/** `regent login`: logs a user in by the browser, or stores how a client logs in, as a context, which is in use from then on. */
export async function login(flags: LoginCommandFlags): Promise<void> {
  const earlier = await findEarlierContext(flags)
  const at = await findRealm(flags, earlier)
  const name =
    flags.context ?? (earlier?.server === at.server && earlier.realm === at.realm ? earlier.name : nameContext(at))
  if (!/^[\w.@:-]+$/.test(name)) throw new Error('The name of a context consists of letters, digits and . _ @ : -')
  const clientId = flags.clientId ?? (process.env.REGENT_CLIENT_ID || undefined)
  const context = clientId ? await logClientIn(at, clientId, flags) : await logUserIn(at, flags)
  await changeContexts(async (file) => [{ current: name, contexts: { ...file.contexts, [name]: context } }, undefined])
  console.log(
    `Logged in at ${at.server}, realm ${at.realm}, as ${context.client ?? context.user}. The context ${name} is in use.`,
  )
}

/** `regent logout`: ends the session of a context, whose refresh token is deleted. */
export async function logout({ context: flag }: { readonly context?: string }): Promise<void> {
  const { name, ended } = await changeContexts(async (file) => {
    const name = flag ?? (process.env.REGENT_CONTEXT || file.current)
    const context = name === undefined ? undefined : file.contexts[name]
    if (name === undefined || !context)
      throw new Error('There is no context to log out of. "regent context list" lists them.')
    const { refreshToken, ...rest } = context
    if (context.client !== undefined)
      throw new Error(
        `The context ${name} is of a client, which has no session. "regent context delete ${name}" deletes it.`,
      )
    return [
      { ...file, contexts: { ...file.contexts, [name]: rest } },
      { name, ended: refreshToken && { ...rest, refreshToken } },
    ]
  })
  if (ended) await endSession(ended, LOGIN_CLIENT, ended.refreshToken)
  console.log(`Logged out of the context ${name}.`)
}

/** Returns the context that the flags name, or the one in use if they name no server. */
async function findEarlierContext({ context: flag, server }: LoginCommandFlags): Promise<NamedContext | undefined> {
  const { current, contexts } = await readContexts()
  const name = flag ?? (process.env.REGENT_CONTEXT || (server === undefined ? current : undefined))
  const context = name === undefined ? undefined : contexts[name]
  return name !== undefined && context ? { ...context, name } : undefined
}

async function findRealm(flags: LoginCommandFlags, earlier: NamedContext | undefined): Promise<ServerRealm> {
  const server =
    flags.server ?? (process.env.REGENT_SERVER || undefined) ?? earlier?.server ?? (await findServerOfFolder({}))
  if (server === undefined) throw new Error('Which server? Pass its URL with --server.')
  const realm =
    flags.realm ??
    (process.env.REGENT_LOGIN_REALM || undefined) ??
    (flags.server === undefined ? earlier?.realm : undefined)
  return { server: parseServer(server), realm: realm ?? 'master' }
}

/** Returns a name for the context: the host of the server, and the realm unless it is master. */
function nameContext({ server, realm }: ServerRealm): string {
  const { host } = new URL(server)
  return (realm === 'master' ? host : `${realm}@${host}`).replace(/[^\w.@:-]/g, '-')
}

async function logUserIn(at: ServerRealm, { browser }: LoginCommandFlags): Promise<LoginContext> {
  if (browser && !isInteractive())
    printHint('Without a browser, pass --no-browser. A pipeline logs in with --client-id and --oidc-token.')
  const issued = await logInWithBrowser(at, { opensBrowser: browser })
  const { preferred_username: user } = readClaims(issued.id_token ?? '')
  if (issued.refresh_token === undefined)
    throw new Error(
      `${at.server} issues no refresh token for the client ${LOGIN_CLIENT}. Check use.refresh.tokens of it.`,
    )
  return { ...at, user: typeof user === 'string' ? user : 'unknown', refreshToken: issued.refresh_token }
}

async function logClientIn(at: ServerRealm, client: string, flags: ClientCredentials): Promise<LoginContext> {
  const credentials = toStoredCredentials(flags)
  // Wrong credentials are reported at once.
  await createClientTokens(at, client, credentials).get()
  return { ...at, client, ...credentials }
}

/** Returns where the credentials of a client are. They are not stored themselves. */
function toStoredCredentials({
  clientSecretFile,
  privateKeyFile,
  oidcToken,
}: ClientCredentials): Partial<LoginContext> {
  const { REGENT_CLIENT_SECRET_FILE, REGENT_PRIVATE_KEY_FILE, REGENT_OIDC_TOKEN } = process.env
  const secretFile = clientSecretFile ?? (REGENT_CLIENT_SECRET_FILE || undefined)
  const keyFile = privateKeyFile ?? (REGENT_PRIVATE_KEY_FILE || undefined)
  const token = oidcToken ?? (REGENT_OIDC_TOKEN || undefined)
  if (!(secretFile ?? keyFile ?? token))
    throw new Error('A context stores no secret. Pass --client-secret-file, --private-key-file or --oidc-token.')
  return {
    ...(token !== undefined && { oidcToken: /^(github|gitlab|kubernetes)\b/.test(token) ? token : resolve(token) }),
    ...(keyFile !== undefined && { privateKeyFile: resolve(keyFile) }),
    ...(secretFile !== undefined && { clientSecretFile: resolve(secretFile) }),
  }
}
