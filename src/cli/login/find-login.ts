// Finds the server of a command, and the credentials for it: flags, then variables, then the project file, then the context in use.
import { hasStore } from '../store-place.ts'
import {
  type AccessTokens,
  createClientTokens,
  createContextTokens,
  createFixedTokens,
  createPasswordTokens,
} from './access-tokens.ts'
import type { ClientCredentials } from './client-assertions.ts'
import { getContext, type NamedContext, readContexts } from './contexts.ts'

/** The flags for logging in at a server. A secret is never a flag, since other users can see it. */
export interface LoginFlags extends Omit<ClientCredentials, 'clientSecret'> {
  readonly token?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly loginRealm?: string | undefined
  readonly clientId?: string | undefined
}

/** The flags that name the store and the credentials of the caller. */
export interface StoreFlags extends LoginFlags {
  readonly context?: string
  readonly server?: string
  readonly database?: string
  readonly data?: string
  readonly keyFile?: string
  /** The folder whose project file may name a server. Default: the working directory. */
  readonly projectFolder?: string | undefined
  readonly environment?: string | undefined
  /** The server of the project file, if the command plans or applies the source of that file. */
  readonly required?: { readonly server: string; readonly operation: 'plan' | 'apply' }
}

/** A server, and the context that names it. */
export interface CommandServer {
  readonly server: string
  readonly context?: NamedContext
  /** The context was not named: it is the one in use, or that of the project's server. */
  readonly isImplied?: true
  /** The user named the server itself, and not a context. */
  readonly isServerNamed?: true
  /** The option or variable that names the server or the context. */
  readonly origin?: string
}

const FOLDER = 'data'

/**
 * Returns the server of a command; undefined if it opens a store itself. Precedence: flags, variables, the project file, the context in use.
 * @throws Error if the project file names a server without a context, or another server, or if both a context and the folder `data` could
 * be meant
 */
export async function findCommandServer(flags: StoreFlags): Promise<CommandServer | undefined> {
  const chosen = await chooseServer(flags)
  requireProjectServer(chosen, flags)
  return chosen
}

async function chooseServer(flags: StoreFlags): Promise<CommandServer | undefined> {
  const { REGENT_CONTEXT, REGENT_SERVER, REGENT_DATABASE, REGENT_DATABASE_DIRECT, REGENT_DATA } = process.env
  const { context, server, database, data } = flags
  if (context !== undefined && (server ?? database ?? data) !== undefined)
    throw new Error('Pass either --context, or --server, --database or --data.')
  if (server !== undefined && (database ?? data) !== undefined)
    throw new Error('Pass either --server, or --database or --data.')
  if (context !== undefined) return findNamedContext(context, '--context')
  if (server) return findNamedServer(server, '--server')
  if (database ?? data) return undefined
  if (REGENT_CONTEXT) return findNamedContext(REGENT_CONTEXT, 'REGENT_CONTEXT')
  if (REGENT_SERVER) return findNamedServer(REGENT_SERVER, 'REGENT_SERVER')
  if (REGENT_DATABASE || REGENT_DATABASE_DIRECT || REGENT_DATA) return undefined
  return (await findProjectContext(flags)) ?? findCurrentContext()
}

/**
 * A project file that names a server permits no other one. A plan in a store of its own harms nothing; an apply there, or a saved plan,
 * could be in the database of any server.
 */
function requireProjectServer(chosen: CommandServer | undefined, { required, environment }: StoreFlags): void {
  if (!required || (!chosen && required.operation === 'plan')) return
  const { server } = required
  if (chosen && toComparable(chosen.server) === toComparable(server)) return
  const name = environment ?? (process.env.REGENT_ENVIRONMENT || undefined)
  const project = `regent.yaml names the server ${server}${name === undefined ? '' : ` for the environment ${name}`}`
  if (!chosen)
    throw new Error(
      `${project}, and this command would open a store itself. Nothing was applied. Pass --server ${server}, or plan without --save. To apply to another store, choose an environment without a server.`,
    )
  throw new Error(
    `${project}, and ${chosen.origin ?? 'the context in use'} names ${chosen.server}. Nothing was applied. Pass --server ${server}, choose the environment of ${chosen.server}, or change regent.yaml.`,
  )
}

/** Returns a URL without the differences that do not matter: letter case of the host, default port, slashes at the end. */
const toComparable = (url: string): string => new URL(url).href.replace(/\/+$/, '')

async function findNamedContext(name: string, origin: string): Promise<CommandServer> {
  const context = getContext(await readContexts(), name)
  return { server: context.server, context, origin: `${origin} ${name}` }
}

/** Returns a server with the context of a log-in there, if there is one. @throws Error if the text is not an http or https URL. */
async function findNamedServer(text: string, origin: string): Promise<CommandServer> {
  const server = parseServer(text)
  const context = await findContextOf(server)
  return { server, isServerNamed: true, origin, ...(context && { context }) }
}

/** Returns the URL of a server without slashes at the end. @throws Error if the text is not an http or https URL. */
export function parseServer(text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error(`${text} is not the URL of a server. Give it in full, such as http://127.0.0.1:8080.`)
  return text.replace(/\/+$/, '')
}

/** Returns the context of a server: the one in use, or the only one. */
async function findContextOf(server: string): Promise<NamedContext | undefined> {
  const file = await readContexts()
  const names = Object.keys(file.contexts).filter((name) => file.contexts[name]!.server === server)
  const name = names.find((candidate) => candidate === file.current) ?? (names.length === 1 ? names[0] : undefined)
  return name === undefined ? undefined : getContext(file, name)
}

/**
 * Returns the context of the server that a project file names. Without one it is an error: it would be another store than that of the
 * project, and the file must not decide who gets credentials.
 */
async function findProjectContext({ projectFolder, environment }: StoreFlags): Promise<CommandServer | undefined> {
  const { findProjectServer } = await import('../../reconcile/read/source-identity.ts')
  const name = environment ?? (process.env.REGENT_ENVIRONMENT || undefined)
  const server = await findProjectServer(projectFolder ?? process.cwd(), name)
  if (!server) return undefined
  const context = await findContextOf(server.replace(/\/+$/, ''))
  if (context) return { server: context.server, context, isImplied: true }
  throw new Error(
    `regent.yaml names the server ${server}. To send it your credentials, pass --server ${server}. To log in there, run "regent login --server ${server}". To plan in a store of your own, pass --data or --database.`,
  )
}

/** Returns the context in use. @throws Error if there is also a store in the working folder: neither may be used by mistake. */
async function findCurrentContext(): Promise<CommandServer | undefined> {
  const file = await readContexts()
  if (file.current === undefined) return undefined
  const context = getContext(file, file.current)
  const { findFolderServer } = await import('../../service/context/store-types.ts')
  const isServed = (await findFolderServer(FOLDER)) === context.server
  if (!isServed && (await hasStore({ data: FOLDER, database: undefined })))
    throw new Error(
      `The context ${context.name} is in use (${context.server}), and this folder has a store in ${FOLDER}. Pass --context ${context.name} or --data ${FOLDER}.`,
    )
  return { server: context.server, context, isImplied: true }
}

/** The credentials for logging in that options or variables give. */
type GivenLogin = LoginFlags & Pick<ClientCredentials, 'clientSecret'>

/** Returns the credentials in the environment. An empty variable counts as absent. */
function readVariables(): GivenLogin {
  const get = (name: string) => process.env[`REGENT_${name}`] || undefined
  return omitAbsent({
    token: get('TOKEN'),
    user: get('USER'),
    password: get('PASSWORD'),
    loginRealm: get('LOGIN_REALM'),
    clientId: get('CLIENT_ID'),
    clientSecret: get('CLIENT_SECRET'),
    clientSecretFile: get('CLIENT_SECRET_FILE'),
    privateKeyFile: get('PRIVATE_KEY_FILE'),
    oidcToken: get('OIDC_TOKEN'),
  })
}

const omitAbsent = <Values extends object>(values: Values): Values => {
  const present = { ...values }
  for (const name of Object.keys(values))
    if (Reflect.get(values, name) === undefined) Reflect.deleteProperty(present, name)
  return present
}

/** Returns the credentials among the flags of a command. */
function readFlags(flags: LoginFlags): GivenLogin {
  const { token, user, password, loginRealm, clientId, clientSecretFile, privateKeyFile, oidcToken } = flags
  return omitAbsent({ token, user, password, loginRealm, clientId, clientSecretFile, privateKeyFile, oidcToken })
}

const hasCredentials = ({ token, user, clientId }: GivenLogin): boolean => (token ?? user ?? clientId) !== undefined

/**
 * Returns the access tokens for a server: by the credentials of flags, else of variables, else of the context. Variables do not count for a
 * context: they may be for another server. `defaults`: credentials if there are no others.
 * @throws Error if there are no credentials, or not all of them
 */
export function openLogin(
  { server, context, isServerNamed }: CommandServer,
  flags: LoginFlags,
  defaults: GivenLogin = {},
): AccessTokens {
  const fromFlags = readFlags(flags)
  const variables = readVariables()
  if (context && !hasCredentials(fromFlags) && !(isServerNamed && hasCredentials(variables)))
    return createContextTokens(context)
  // Flags for another way to log in precede the token and the client of variables.
  const { token: _token, clientId: _client, ...weaker } = variables
  const isChosen = hasCredentials(fromFlags)
  const login: GivenLogin = { ...defaults, ...(isChosen ? weaker : variables), ...fromFlags }
  if (login.token) return createFixedTokens(login.token)
  const at = { server, realm: login.loginRealm ?? context?.realm ?? 'master' }
  const clientId = fromFlags.user === undefined ? login.clientId : undefined
  if (clientId) return createClientTokens(at, clientId, login)
  if (fromFlags.oidcToken ?? fromFlags.privateKeyFile ?? (variables.oidcToken || variables.privateKeyFile))
    throw new Error('An assertion needs its client. Pass --client-id (REGENT_CLIENT_ID).')
  const { user, password } = login
  if (user && password) return createPasswordTokens(at, user, password)
  throw new Error(
    `${server} requires credentials. Pass --token, or --user and --password (REGENT_TOKEN, REGENT_USER, REGENT_PASSWORD), or run "regent login --server ${server}".`,
  )
}
