// Connections to LDAP directories, through the guard of outbound connections.
import { isUtf8 } from 'node:buffer'
import { connect, isIP } from 'node:net'
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls'
import type { Change, Client, ClientOptions, Entry, Filter, SearchOptions } from 'ldapts'
import { getErrorCode } from '../error-code.ts'
import { type Outbound, OutboundRefused } from '../http/outbound.ts'
import { expireAfter } from '../timing/deadline.ts'
import { type LdapEntry, toEntry } from './ldap-entry.ts'
import { escapeFilterValue } from './ldap-syntax.ts'

/** The addresses of a directory, and the time limits of its responses. */
export interface LdapServer {
  /** `ldap://` or `ldaps://` URLs; the first that responds is used. */
  readonly urls: readonly string[]
  /** Whether an `ldap://` connection is upgraded to TLS before anything else is sent. */
  readonly startTls: boolean
  /** Milliseconds until the connection must be established. */
  readonly connectTimeout: number
  /** Milliseconds until each response must be complete. */
  readonly readTimeout: number
}

/** The name and password of a simple bind. */
export interface LdapCredential {
  readonly dn: string
  readonly password: string
}

/** A search for entries. */
export interface LdapSearch {
  readonly base: string
  readonly scope: 'base' | 'one' | 'sub'
  /** RFC 4515. */
  readonly filter: string
  /** The requested attributes. */
  readonly attributes: readonly string[]
  /** Entries of a page; absent: one response has all. */
  readonly pageSize?: number | undefined
  /** The most entries to return. */
  readonly limit?: number | undefined
}

/** An open connection. Its functions throw LdapError. */
export interface LdapConnection {
  /** Authenticates the connection. An empty password is refused, since servers take it for an anonymous bind. */
  bind(credential: LdapCredential): Promise<void>
  /** Yields the entries in pages. Referrals are ignored. */
  search(search: LdapSearch): AsyncGenerator<LdapEntry[]>
  add(dn: string, attributes: Readonly<Record<string, readonly (string | Buffer)[]>>): Promise<void>
  /** Replaces the values of attributes; an empty list removes them. */
  replaceAttributes(dn: string, attributes: Readonly<Record<string, readonly (string | Buffer)[]>>): Promise<void>
  /** Adds a value to an attribute, or removes it. */
  changeValue(
    dn: string,
    change: { readonly operation: 'add' | 'delete'; readonly attribute: string; readonly value: string },
  ): Promise<void>
  rename(dn: string, newDn: string): Promise<void>
  delete(dn: string): Promise<void>
  /** Sends the extended operation that changes a password. RFC 3062. */
  modifyPassword(dn: string, password: string): Promise<void>
  close(): Promise<void>
}

/** The reasons why a directory does not do what is requested. */
export type LdapProblem =
  | 'invalid URL'
  | 'unknown host'
  | 'refused address'
  | 'no connection'
  | 'no TLS'
  | 'no StartTLS'
  | 'timeout'
  | 'invalid credentials'
  /** Active Directory: the password is right, but must be changed. */
  | 'expired password'
  | 'no such entry'
  | 'invalid name'
  | 'refused by the directory'

/** An error of a directory or of the connection to it. The message is for administrators. */
export class LdapError extends Error {
  readonly problem: LdapProblem
  constructor(problem: LdapProblem, message: string, cause?: unknown) {
    super(message, { cause })
    this.problem = problem
  }
}

/** Opens a connection to the first of the servers that responds. @throws LdapError of the last one */
export async function openLdapConnection(outbound: Outbound, server: LdapServer): Promise<LdapConnection> {
  let problem: unknown = new LdapError('invalid URL', 'the connection URL is empty')
  for (const url of server.urls) {
    try {
      return await openUrl(outbound, url, server)
    } catch (error) {
      problem = error
      if (error instanceof LdapError && error.problem === 'refused address') throw error
    }
  }
  throw problem
}

async function openUrl(outbound: Outbound, address: string, server: LdapServer): Promise<LdapConnection> {
  const url = URL.parse(address)
  if (!url || !/^ldaps?:$/.test(url.protocol) || !url.hostname)
    throw new LdapError('invalid URL', `${address} is not an LDAP URL`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const ldapts = await import('ldapts')
  const client = new ldapts.Client(toClientOptions(outbound, { url, host }, server))
  const tls = url.protocol === 'ldaps:' ? undefined : server.startTls
  try {
    // The socket does not look up an IP address, so it is checked here.
    if (isIP(host)) outbound.check(host)
    await within(server.connectTimeout, client, () => connectClient(client, { host, tls: tls === true }))
  } catch (error) {
    await disconnect(client)
    throw toLdapError(error, tls !== false)
  }
  return createConnection(ldapts, client, server)
}

type Ldapts = typeof import('ldapts')

function toClientOptions(
  outbound: Outbound,
  { url, host }: { readonly url: URL; readonly host: string },
  { connectTimeout, readTimeout }: LdapServer,
): ClientOptions {
  const servername = isIP(host) ? {} : { servername: host }
  return {
    url: `${url.protocol}//${url.host}`,
    timeout: readTimeout,
    connectTimeout,
    strictDN: false,
    createConnection: (port: unknown) => connect({ port: Number(port), host, lookup: outbound.lookup }),
    createSecureConnection: (portOrOptions: number | ConnectionOptions) =>
      typeof portOrOptions === 'number'
        ? connectSecurely({ port: portOrOptions, host, lookup: outbound.lookup, ...servername })
        : connectSecurely({ ...portOrOptions, ...servername }),
  }
}

/** The extended operation that asks for nothing but its response establishes the connection. RFC 4532: Who am I? */
const WHO_AM_I = '1.3.6.1.4.1.4203.1.11.3'

async function connectClient(client: Client, { host, tls }: { readonly host: string; readonly tls: boolean }) {
  if (tls) return client.startTLS({ host })
  // A server that does not know the operation has responded, too.
  await client.exop(WHO_AM_I).catch((error: unknown) => {
    if (!isResultCode(error)) throw error
  })
}

/** Runs work; after so many milliseconds, disconnects the client and throws. */
async function within<T>(milliseconds: number, client: Client, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = expireAfter(milliseconds, () => {
    reject(new LdapError('timeout', 'the directory does not respond in time'))
    disconnect(client)
  })
  return Promise.race([work(), promise]).finally(cancel)
}

const disconnect = (client: Client): Promise<void> => client.unbind().catch(() => {})

function createConnection(ldapts: Ldapts, client: Client, { readTimeout }: LdapServer): LdapConnection {
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!client.isConnected) throw new LdapError('no connection', 'the directory has closed the connection')
    try {
      return await within(readTimeout, client, work)
    } catch (error) {
      throw toLdapError(error, false)
    }
  }
  const toAttributes = (attributes: Readonly<Record<string, readonly (string | Buffer)[]>>) =>
    Object.entries(attributes).map(([type, values]) => new ldapts.Attribute({ type, values: toValues(values) }))
  const change = (operation: Change['operation'], attributes: Readonly<Record<string, readonly (string | Buffer)[]>>) =>
    toAttributes(attributes).map((modification) => new ldapts.Change({ operation, modification }))
  return {
    bind: ({ dn, password }) =>
      run(async () => {
        if (password === '') throw new LdapError('refused by the directory', 'the password is empty')
        await client.bind(dn, password)
      }),
    search: (search) => searchPages(client, { ...search, filter: parseFilter(ldapts, search.filter) }, run),
    add: (dn, attributes) => run(() => client.add(dn, toAttributes(attributes))),
    replaceAttributes: (dn, attributes) => run(() => client.modify(dn, change('replace', attributes))),
    changeValue: (dn, { operation, attribute, value }) =>
      run(() => client.modify(dn, change(operation, { [attribute]: [value] }))),
    rename: (dn, newDn) => run(() => client.modifyDN(dn, newDn)),
    delete: (dn) => run(() => client.del(dn)),
    modifyPassword: (dn, password) =>
      run(async () => {
        const writer = new ldapts.BerWriter()
        writer.startSequence()
        writer.writeString(dn, 0x80)
        writer.writeString(password, 0x82)
        writer.endSequence()
        await client.exop('1.3.6.1.4.1.4203.1.11.1', writer.buffer)
      }),
    close: () => disconnect(client),
  }
}

/** Values of text and bytes cannot be mixed in one attribute. */
const toValues = (values: readonly (string | Buffer)[]): string[] | Buffer[] =>
  values.some((value) => Buffer.isBuffer(value))
    ? values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value))
    : values.map(String)

/**
 * Parses a filter. RFC 4515: escapes are bytes, while the parser of the library takes each for a character: so that all other bytes than
 * those of ASCII are escaped before, and the values are decoded afterwards.
 */
function parseFilter(ldapts: Ldapts, text: string): Filter {
  const escaped = text.replace(/[^\0-\x7f]+/g, (characters) => escapeFilterValue(Buffer.from(characters)))
  return decodeValues(ldapts, ldapts.FilterParser.parseString(escaped))
}

function decodeValues(ldapts: Ldapts, filter: Filter): Filter {
  const decode = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8')
  if (filter instanceof ldapts.AndFilter || filter instanceof ldapts.OrFilter)
    for (const operand of filter.filters) decodeValues(ldapts, operand)
  else if (filter instanceof ldapts.NotFilter) decodeValues(ldapts, filter.filter)
  else if (filter instanceof ldapts.EqualityFilter) {
    const bytes = Buffer.from(String(filter.value), 'latin1')
    filter.value = isUtf8(bytes) ? bytes.toString('utf8') : bytes
  } else if (filter instanceof ldapts.SubstringFilter) {
    filter.initial = decode(filter.initial)
    filter.any = filter.any.map(decode)
    filter.final = decode(filter.final)
  } else if ('value' in filter) filter.value = decode(String(filter.value))
  return filter
}

async function* searchPages(
  client: Client,
  { base, scope, filter, attributes, pageSize, limit }: Omit<LdapSearch, 'filter'> & { readonly filter: Filter },
  run: <T>(work: () => Promise<T>) => Promise<T>,
): AsyncGenerator<LdapEntry[]> {
  const options: SearchOptions = {
    scope,
    filter,
    attributes: [...attributes],
    // Texts are decoded from the bytes, since the library guesses which values are texts.
    explicitBufferAttributes: [...attributes],
    ...(limit !== undefined && { sizeLimit: limit }),
    ...(pageSize !== undefined && limit === undefined && { paged: { pageSize } }),
  }
  if (options.paged === undefined) {
    const { searchEntries } = await run(() => client.search(base, options))
    yield searchEntries.map((entry: Entry) => toEntry(entry))
    return
  }
  const pages = client.searchPaginated(base, options)
  for (;;) {
    const page = await run(() => pages.next())
    if (page.done) return
    yield page.value.searchEntries.map((entry: Entry) => toEntry(entry))
  }
}

/** An error with the result code of a response. RFC 4511, appendix A. */
interface ResultCodeError extends Error {
  readonly code: number
}

const isResultCode = (error: unknown): error is ResultCodeError =>
  error instanceof Error && 'code' in error && typeof error.code === 'number'

const NO_SUCH_OBJECT = 32
const INVALID_DN_SYNTAX = 34
const INVALID_CREDENTIALS = 49
const INAPPROPRIATE_AUTHENTICATION = 48
/** Active Directory: 532 means that the password has expired, 773 that it must be changed at the next log-in. */
const EXPIRED_PASSWORD = /\bdata (532|773)\b/

function toLdapError(error: unknown, isTls: boolean): LdapError {
  if (error instanceof LdapError) return error
  if (error instanceof OutboundRefused) return new LdapError('refused address', error.message, error)
  if (isResultCode(error))
    return isTls ? new LdapError('no StartTLS', 'the directory refuses StartTLS', error) : toResultError(error)
  const code = getErrorCode(error)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return new LdapError('unknown host', 'the host is unknown', error)
  if (error instanceof Error && /timeout/i.test(error.message))
    return new LdapError('timeout', 'the directory does not respond in time', error)
  const isRefused = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(code ?? '')
  return isTls && !isRefused
    ? new LdapError('no TLS', 'there is no secure connection to the directory', error)
    : new LdapError('no connection', 'there is no connection to the directory', error)
}

function toResultError(error: ResultCodeError): LdapError {
  if (error.code === NO_SUCH_OBJECT) return new LdapError('no such entry', 'the entry does not exist', error)
  if (error.code === INVALID_CREDENTIALS && EXPIRED_PASSWORD.test(error.message))
    return new LdapError('expired password', 'the password must be changed', error)
  if (error.code === INVALID_DN_SYNTAX) return new LdapError('invalid name', 'a distinguished name is invalid', error)
  if (error.code === INVALID_CREDENTIALS || error.code === INAPPROPRIATE_AUTHENTICATION)
    return new LdapError('invalid credentials', 'the directory does not accept the credentials', error)
  return new LdapError('refused by the directory', `the directory refuses the request: ${error.message}`, error)
}
