// A directory that behaves like Active Directory: entries in memory, pages, ranges of values, and its responses to passwords.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { BerReader, BerWriter, ExtensibleFilter, type Filter, FilterParser } from 'ldapts'

/** The attributes of an entry. Names are in lower case. */
export type FakeEntry = Record<string, (string | Buffer)[]>

/** A running directory. */
export interface ActiveDirectory {
  readonly url: string
  /** By DN. Tests read and change them. */
  readonly entries: Map<string, FakeEntry>
  close(): Promise<void>
}

/** The administrator of the directory, and the password. */
export const FAKE_ADMIN = { dn: 'cn=admin,dc=example,dc=org', password: 'admin' }

/** The most entries of a response, and the most values of an attribute. */
const SIZE_LIMIT = 1000
const VALUE_LIMIT = 1500

/** The tags of requests, and the results of responses. RFC 4511. */
const tags = {
  bind: 0x60,
  unbind: 0x42,
  search: 0x63,
  modify: 0x66,
  add: 0x68,
  delete: 0x4a,
  rename: 0x6c,
  extended: 0x77,
}
const results = {
  success: 0,
  sizeLimitExceeded: 4,
  noSuchObject: 32,
  invalidCredentials: 49,
  unwilling: 53,
  exists: 68,
}
const PAGED_RESULTS = '1.2.840.113556.1.4.319'

interface Result {
  readonly code: number
  readonly message?: string
}

interface Connection {
  readonly socket: Socket
  readonly isSecure: boolean
  readonly entries: Map<string, FakeEntry>
}

interface Message {
  readonly id: number
  readonly tag: number
  readonly reader: BerReader
  /** The cookie of the requested page, and the number of its entries. */
  readonly page: { readonly size: number; readonly offset: number } | undefined
}

/** Starts the directory. With a certificate and its key in PEM, it speaks TLS. */
export async function startActiveDirectory(
  initial: Readonly<Record<string, FakeEntry>>,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<ActiveDirectory> {
  const entries = new Map(Object.entries(initial))
  const sockets = new Set<Socket>()
  const accept = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    serve({ socket, isSecure: certificate !== undefined, entries })
  }
  const server = certificate ? createSecureServer(certificate, accept) : createServer(accept)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `${certificate ? 'ldaps' : 'ldap'}://127.0.0.1:${port}`,
    entries,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function serve(connection: Connection): void {
  let pending = Buffer.alloc(0)
  connection.socket.on('data', (data) => {
    pending = Buffer.concat([pending, data])
    for (;;) {
      const length = findLength(pending)
      if (length === undefined || pending.length < length) return
      respond(connection, parseMessage(pending.subarray(0, length)))
      pending = pending.subarray(length)
    }
  })
}

/** Returns the length of the first message; undefined if its header is incomplete. */
function findLength(bytes: Buffer): number | undefined {
  const first = bytes[1]
  if (first === undefined) return undefined
  if (first < 0x80) return 2 + first
  const size = first & 0x7f
  return bytes.length < 2 + size ? undefined : 2 + size + bytes.readUIntBE(2, size)
}

function parseMessage(bytes: Buffer): Message {
  const reader = new BerReader(bytes)
  reader.readSequence()
  const id = reader.readInt()!
  const tag = reader.peek()!
  if (tag === tags.delete || tag === tags.unbind) return { id, tag, reader, page: undefined }
  reader.readSequence(tag)
  const end = reader.offset + reader.length
  const controls = new BerReader(bytes.subarray(end))
  return { id, tag, reader, page: parsePage(controls) }
}

function parsePage(controls: BerReader): Message['page'] {
  if (controls.remain < 2 || controls.readSequence(0xa0) === null) return undefined
  controls.readSequence()
  if (controls.readString() !== PAGED_RESULTS) return undefined
  if (controls.peek() === 1) controls.readBoolean()
  const value = new BerReader(controls.readString(0x04, true)!)
  value.readSequence()
  return { size: value.readInt()!, offset: Number(value.readString() || 0) }
}

function respond(connection: Connection, message: Message): void {
  const { tag, reader } = message
  const send = (result: Result) => sendResult(connection, message, result)
  if (tag === tags.unbind) connection.socket.end()
  else if (tag === tags.bind) send(bind(connection, reader))
  else if (tag === tags.search) search(connection, message)
  else if (tag === tags.modify) send(modify(connection, reader))
  else if (tag === tags.add) send(add(connection, reader))
  else if (tag === tags.rename) send(rename(connection, reader))
  else if (tag === tags.delete)
    send({ code: connection.entries.delete(reader.readString(tags.delete)!) ? results.success : results.noSuchObject })
  else send({ code: results.success })
}

function sendResult(
  { socket }: Connection,
  { id, tag }: Message,
  { code, message = '' }: Result,
  cookie?: string,
): void {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writer.startSequence(tag === tags.search ? 0x65 : tag === tags.delete ? 0x6b : tag + 1)
  writer.writeEnumeration(code)
  writer.writeString('')
  writer.writeString(message)
  writer.endSequence()
  if (cookie !== undefined) {
    const value = new BerWriter()
    value.startSequence()
    value.writeInt(0)
    value.writeString(cookie)
    value.endSequence()
    writer.startSequence(0xa0)
    writer.startSequence()
    writer.writeString(PAGED_RESULTS)
    writer.writeBuffer(value.buffer, 0x04)
    writer.endSequence()
    writer.endSequence()
  }
  writer.endSequence()
  socket.write(writer.buffer)
}

/** Active Directory: the codes of refusals. */
const refuse = (data: string): Result => ({
  code: results.invalidCredentials,
  message: `80090308: LdapErr: DSID-0C09042A, comment: AcceptSecurityContext error, data ${data}, v3839`,
})

function bind({ entries }: Connection, reader: BerReader): Result {
  reader.readInt()
  const dn = reader.readString()!
  const password = reader.readString(0x80)!
  if (dn === FAKE_ADMIN.dn) return password === FAKE_ADMIN.password ? { code: results.success } : refuse('52e')
  const entry = entries.get(dn)
  if (!entry || String(entry.password?.[0]) !== password) return refuse('52e')
  if (Number(entry.useraccountcontrol?.[0] ?? 0) & 2) return refuse('533')
  if (Number(entry.useraccountcontrol?.[0] ?? 0) & 0x800000) return refuse('532')
  return entry.pwdlastset?.[0] === '0' ? refuse('773') : { code: results.success }
}

function search(connection: Connection, message: Message): void {
  const { reader, page } = message
  const base = reader.readString()!.toLowerCase()
  const scope = reader.readEnumeration()!
  reader.readEnumeration()
  const limit = reader.readInt()!
  reader.readInt()
  reader.readBoolean()
  const matches = parseFilter(reader)
  const attributes: string[] = []
  if (reader.readSequence()) while (reader.remain > 0 && reader.peek() === 4) attributes.push(reader.readString()!)
  const isInScope = (dn: string) => dn === base || (scope !== 0 && dn.endsWith(`,${base}`))
  const matching = [...connection.entries].filter(
    ([dn, entry]) => isInScope(dn.toLowerCase()) && matches({ entry, entries: connection.entries }),
  )
  const offset = page?.offset ?? 0
  const size = Math.min(page?.size || SIZE_LIMIT, SIZE_LIMIT, limit || SIZE_LIMIT)
  for (const [dn, entry] of matching.slice(offset, offset + size))
    sendEntry(connection, message, { dn, entry, attributes })
  const isCut = matching.length > offset + size
  const code = isCut && !page ? results.sizeLimitExceeded : results.success
  sendResult(connection, message, { code }, page && (isCut ? String(offset + size) : ''))
}

interface Candidate {
  readonly entry: FakeEntry
  readonly entries: ReadonlyMap<string, FakeEntry>
}

type Matcher = (candidate: Candidate) => boolean

/** Parses a filter. The parser of the library reads neither filters for the presence of an attribute nor bytes. */
function parseFilter(reader: BerReader): Matcher {
  const tag = reader.peek()
  if (tag === 0x87) {
    const name = reader.readString(0x87)!.toLowerCase()
    return ({ entry }) => name in entry
  }
  if (tag === 0xa0 || tag === 0xa1 || tag === 0xa2) {
    const end = readEnd(reader, tag)
    const filters: Matcher[] = []
    while (reader.offset < end) filters.push(parseFilter(reader))
    if (tag === 0xa0) return (candidate) => filters.every((matches) => matches(candidate))
    return (candidate) => filters.some((matches) => matches(candidate)) === (tag === 0xa1)
  }
  if (tag === 0xa3) {
    readEnd(reader, tag)
    const name = reader.readString()!.toLowerCase()
    const value = reader.readString(0x04, true)!
    const requested = [toHex(value), toHex(value.toString())]
    return ({ entry }) => (entry[name] ?? []).some((value) => requested.includes(toHex(value)))
  }
  return createMatcher(FilterParser.parse(reader))
}

function createMatcher(filter: Filter): Matcher {
  if (filter instanceof ExtensibleFilter) return (candidate) => hasMember(candidate, filter.value)
  return ({ entry }) =>
    Object.entries(entry).some(([name, values]) =>
      values.some((value) => filter.matches({ [name]: String(value) }, false)),
    )
}

const toHex = (value: string | Buffer): string =>
  (typeof value === 'string' ? Buffer.from(value.toLowerCase()) : value).toString('hex')

/** Active Directory: the matching rule IN_CHAIN finds members of groups in groups. */
function hasMember({ entry, entries }: Candidate, dn: string): boolean {
  const members = (entry.member ?? []).map(String)
  return members.some((member) => {
    const group = entries.get(member)
    return (
      member.toLowerCase() === dn.toLowerCase() || (group !== undefined && hasMember({ entry: group, entries }, dn))
    )
  })
}

function sendEntry(
  { socket }: Connection,
  { id }: Message,
  { dn, entry, attributes }: { readonly dn: string; readonly entry: FakeEntry; readonly attributes: readonly string[] },
): void {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writer.startSequence(0x64)
  writer.writeString(dn)
  writer.startSequence()
  for (const [name, values] of listValues(entry, attributes)) {
    writer.startSequence()
    writer.writeString(name)
    writer.startSequence(0x31)
    for (const value of values) writer.writeBuffer(Buffer.from(value as string), 0x04)
    writer.endSequence()
    writer.endSequence()
  }
  writer.endSequence()
  writer.endSequence()
  writer.endSequence()
  socket.write(writer.buffer)
}

/** Returns the requested attributes. Of many values, only a range is returned, under a name with the range. */
function listValues(
  entry: FakeEntry,
  attributes: readonly string[],
): [name: string, values: readonly (string | Buffer)[]][] {
  return attributes.flatMap((requested): [string, readonly (string | Buffer)[]][] => {
    const [name = '', range] = requested.split(';range=')
    const values = entry[name.toLowerCase()] ?? []
    if (!values.length || name.toLowerCase() === 'password') return []
    const first = Number(range?.split('-')[0] ?? 0)
    if (range === undefined && values.length <= VALUE_LIMIT) return [[name, values]]
    const part = values.slice(first, first + VALUE_LIMIT)
    const isLast = first + part.length >= values.length
    return [[`${name};range=${first}-${isLast ? '*' : first + part.length - 1}`, part]]
  })
}

/** Enters a sequence, and returns the offset of its end. */
function readEnd(reader: BerReader, tag?: number): number {
  reader.readSequence(tag)
  return reader.offset + reader.length
}

function readAttributes(reader: BerReader): [name: string, values: Buffer[]] {
  reader.readSequence()
  const name = reader.readString()!.toLowerCase()
  const values: Buffer[] = []
  const end = readEnd(reader, 0x31)
  while (reader.offset < end) values.push(reader.readString(0x04, true)!)
  return [name, values]
}

function modify({ entries, isSecure }: Connection, reader: BerReader): Result {
  const entry = entries.get(reader.readString()!)
  if (!entry) return { code: results.noSuchObject }
  const end = readEnd(reader)
  while (reader.offset < end) {
    reader.readSequence()
    const operation = reader.readEnumeration()!
    const [name, values] = readAttributes(reader)
    if (name === 'unicodepwd') {
      if (!isSecure) return { code: results.unwilling, message: 'a secure connection is required' }
      entry.password = [values[0]!.toString('utf16le').slice(1, -1)]
    } else entry[name] = changeValues(entry[name] ?? [], operation, values.map(String))
  }
  return { code: results.success }
}

function changeValues(before: readonly (string | Buffer)[], operation: number, values: readonly string[]) {
  if (operation === 2) return [...values]
  const remaining = before.filter((value) => !values.includes(String(value)))
  return operation === 0 ? [...remaining, ...values] : remaining
}

function add({ entries }: Connection, reader: BerReader): Result {
  const dn = reader.readString()!
  if (entries.has(dn)) return { code: results.exists }
  const entry: FakeEntry = { objectguid: [Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex')] }
  const end = readEnd(reader)
  while (reader.offset < end) {
    const [name, values] = readAttributes(reader)
    entry[name] = values.map(String)
  }
  entries.set(dn, { ...entry, useraccountcontrol: ['546'], pwdlastset: ['0'] })
  return { code: results.success }
}

function rename({ entries }: Connection, reader: BerReader): Result {
  const dn = reader.readString()!
  const entry = entries.get(dn)
  if (!entry) return { code: results.noSuchObject }
  const rdn = reader.readString()!
  const [attribute = '', value = ''] = rdn.split('=')
  entries.delete(dn)
  entries.set(`${rdn}${dn.slice(dn.indexOf(','))}`, { ...entry, [attribute.toLowerCase()]: [value] })
  return { code: results.success }
}
