// Records which roles of administrators may call which operations of a server, for test/conformance/admin-matrix.test.ts.
// It makes things in master too, and deletes none of them: the server should be one to throw away.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { missingOperations, operations } from '../src/http/admin/index.ts'
import type { Operation } from '../src/http/operation.ts'
import { chunks } from '../src/lib/chunks.ts'
import {
  type AdminCase,
  adminCases,
  listPairs,
  type RealmRelation,
  type RecordedRoles,
  toOperationName,
} from '../test/support/admin-cases.ts'
import {
  createRemoteRealm,
  LABEL,
  type RemoteRealm,
  type RemoteResponse,
  toAddress,
} from '../test/support/remote-realm.ts'

const usage = `Usage: node scripts/record-admin-roles.ts --server URL --user NAME --password WORD [CASE...]
CASE: ${Object.keys(adminCases).join('; ')}`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { server: { type: 'string' }, user: { type: 'string' }, password: { type: 'string' } },
})
const { server, user, password } = values
if (!server || !user || !password) throw new Error(usage)

type Called = Pick<Operation, 'method' | 'path'> & { readonly body?: Operation['body'] | undefined }

async function send(
  token: string,
  method: string,
  address: string,
  body?: unknown,
  type?: string,
): Promise<RemoteResponse> {
  const text = typeof body === 'string' && type === 'text/plain' ? body : JSON.stringify(body)
  const answer = await fetch(server + address, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(body !== undefined && { body: text }),
  })
  const content = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') && content !== ''
  const location = answer.headers.get('location') ?? undefined
  return { status: answer.status, body: isJson ? JSON.parse(content) : content, location }
}

async function logIn(realm: string, username: string, password: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username, password }
  const address = `${server}/realms/${realm}/protocol/openid-connect/token`
  const answer = await fetch(address, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await answer.json()) as { access_token?: string }
  if (!access_token) throw new Error(`${username} cannot log in to ${realm}: ${answer.status}`)
  return access_token
}

let administrator = ''
async function call(method: string, address: string, body?: unknown): Promise<RemoteResponse> {
  const type = address.includes('/localization/') ? 'text/plain' : 'application/json'
  const answer = await send(administrator, method, address, body, type)
  if (answer.status !== 401) return answer
  administrator = await logIn('master', user!, password!)
  return send(administrator, method, address, body, type)
}

const places: Record<RealmRelation, RemoteRealm> = {
  own: createRemoteRealm(call, `${LABEL}-own`),
  other: createRemoteRealm(call, `${LABEL}-other`),
  master: createRemoteRealm(call, 'master'),
}

const REALM = '/admin/realms/{realm}'
const called = ([...operations, ...missingOperations] as Called[]).filter(({ path }) => path.startsWith('/admin'))

/** What destroys, or ends sessions, is called last and one after the other; the realm itself at the very end. */
const destroys = ({ method, path }: Called) => method === 'DELETE' || /logout|revocation/.test(path)
const inTurn = called
  .filter(destroys)
  .sort(
    (one, other) => Number(one.path === REALM) - Number(other.path === REALM) || one.path.length - other.path.length,
  )

/** Somebody of a case, who gets one set of roles after the other. */
async function callerOf({ holder, client, target }: AdminCase) {
  const [home, realm] = [places[holder], places[target]]
  const username = `${LABEL}-${client ?? 'master'}-${target}`
  let person: { token: string; mappings: string; roles: Map<string, object> } | undefined

  /** Makes the person, unless they are there. */
  const arrive = async () => {
    await home.ensure()
    await realm.ensure()
    const at = `/admin/realms/${home.name}`
    const about = { username, email: `${username}@example.org`, firstName: 'A', lastName: 'B', enabled: true }
    await call('POST', `${at}/users`, { ...about, credentials: [{ type: 'password', value: 'pw' }] })
    const [{ id }] = (await call('GET', `${at}/users?exact=true&username=${username}`)).body
    const name = client?.replace('own', places.own.name)
    const [{ id: clientId }] = name ? (await call('GET', `${at}/clients?clientId=${name}`)).body : [{}]
    const list = (await call('GET', name ? `${at}/clients/${clientId}/roles` : `${at}/roles`)).body as {
      name: string
    }[]
    return {
      token: await logIn(home.name, username, 'pw'),
      mappings: `${at}/users/${id}/role-mappings/${name ? `clients/${clientId}` : 'realm'}`,
      roles: new Map(list.map((role) => [role.name, role])),
    }
  }
  const grant = async (roles: readonly string[]) => {
    person ??= await arrive()
    const { mappings, roles: all } = person
    await call('DELETE', mappings)
    await call(
      'POST',
      mappings,
      roles.map((role) => all.get(role)),
    )
  }
  /** Whether the operation is not refused to them. `restore`: what it deletes is made again. */
  const may = async (operation: Called, restore: boolean): Promise<boolean> => {
    const { method, path, body } = operation
    const address = `${toAddress(realm, path)}?userId=${realm.value('/users/{user-id}', 'user-id')}`
    const content = contentFor(operation)
    const ask = () => send(person!.token, method, address, content, body?.plain ? 'text/plain' : 'application/json')
    let answer = await ask()
    if (answer.status === 401) {
      person!.token = await logIn(home.name, username, 'pw')
      answer = await ask()
    }
    if (method === 'DELETE' && answer.status < 300) {
      if (path === REALM) person = undefined
      else if (restore && path.endsWith('}')) await realm.ensure()
    }
    // Who has just logged in and is told to do so is of another realm than the operation is for.
    return answer.status !== 403 && answer.status !== 401
  }
  return { grant, may, restore: realm.ensure }
}

/** Where an empty body would make or change something. */
const harmless: Readonly<Record<string, object>> = {
  'POST /admin/realms': { realm: 'master' },
  'PUT /admin/realms/{realm}/authentication/required-actions/{alias}': { providerId: 'VERIFY_EMAIL', enabled: true },
  'PUT /admin/realms/{realm}/clients/{client-uuid}': {
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
  },
}

/** As little as can be read. */
function contentFor(operation: Called): unknown {
  const { method, body } = operation
  if (!body) return method === 'GET' || method === 'DELETE' ? undefined : {}
  if (body.plain) return 'x'
  return harmless[toOperationName(operation)] ?? [{}, []].find((one) => body.schema.safeParse(one).success)
}

/** By operation, the smallest sets of roles that are enough. */
async function record(one: AdminCase): Promise<Map<string, string[]>> {
  const { grant, may, restore } = await callerOf(one)
  const enough = new Map(called.map((operation) => [toOperationName(operation), [] as string[]]))
  const ask = async (roles: readonly string[], asked: readonly Called[], restoring = true) => {
    if (!asked.length) return []
    await grant(roles)
    const allowed: Called[] = []
    const attempt = async (operation: Called) => {
      if (await may(operation, restoring)) allowed.push(operation)
    }
    const [later, first] = [
      inTurn.filter((operation) => asked.includes(operation)),
      asked.filter((each) => !destroys(each)),
    ]
    for (const few of chunks(first, 16)) await Promise.all(few.map(attempt))
    for (const operation of later) await attempt(operation)
    return allowed
  }
  const note = (roles: readonly string[], allowed: readonly Called[]) => {
    for (const operation of allowed) enough.get(toOperationName(operation))!.push([...roles].sort().join('+'))
  }
  const small = one.roles.filter((role) => role !== 'realm-admin' && role !== 'admin')
  const free = await ask([], called)
  note([], free)
  const rest = called.filter((operation) => !free.includes(operation))
  // Roles only add: what is refused to all of them together no single one is enough for.
  const together = await ask(small, rest, false)
  await restore()
  for (const role of one.roles) note([role], await ask([role], small.includes(role) ? together : rest))
  const isSmall = (set: string) => set.split('+').every((role) => small.includes(role))
  const needsMore = () => together.filter((each) => !enough.get(toOperationName(each))!.some(isSmall))
  const pairable = needsMore()
  for (const pair of pairable.length ? listPairs(small) : []) note(pair, await ask(pair, pairable))
  for (const operation of needsMore())
    if ((await ask(small, [operation])).length)
      throw new Error(`${toOperationName(operation)}: no two roles are enough`)
  return enough
}

const file = join(import.meta.dirname, '..', 'test', 'conformance', 'admin-matrix.json')

/** Writes what was recorded of a case beside what is there of others. */
function keep(name: string, recorded: ReadonlyMap<string, readonly string[]>): void {
  const there = JSON.parse(readFileSync(file, 'utf8')) as RecordedRoles[]
  const known = new Map(there.flatMap(({ enough, operations }) => operations.map((one) => [one, enough] as const)))
  const all = [...recorded].sort(([one], [other]) => (one < other ? -1 : 1))
  const merged = all.map(([operation, sets]): [string, Record<string, readonly string[]>] => {
    const { [name]: _, ...others } = known.get(operation) ?? {}
    const enough = { ...others, ...(sets.length && { [name]: [...sets].sort() }) }
    return [
      operation,
      Object.fromEntries(Object.keys(adminCases).flatMap((one) => (enough[one] ? [[one, enough[one]]] : []))),
    ]
  })
  const groups = [...Map.groupBy(merged, ([, enough]) => JSON.stringify(enough)).values()]
  writeFileSync(file, `[\n${groups.map(render).sort().join(',\n')}\n]\n`)
}

/** Roles in one line, operations in one each. */
function render(group: readonly (readonly [operation: string, enough: object])[]): string {
  const cases = Object.entries(group[0]![1]).map(
    ([name, sets]) => `      ${JSON.stringify(name)}: ${JSON.stringify(sets)}`,
  )
  const names = group.map(([name]) => `      ${JSON.stringify(name)}`)
  const enough = cases.length ? `{\n${cases.join(',\n')}\n    }` : '{}'
  return `  {\n    "enough": ${enough},\n    "operations": [\n${names.join(',\n')}\n    ]\n  }`
}

// What is tried with the profile of people in master must not keep the administrator out.
const [self] = (await call('GET', `/admin/realms/master/users?exact=true&username=${user}`)).body
const whole = { ...self, email: `${LABEL}@example.org`, emailVerified: true, firstName: 'A', lastName: 'B' }
await call('PUT', `/admin/realms/master/users/${self.id}`, whole)

for (const name of positionals.length ? positionals : Object.keys(adminCases)) {
  keep(name, await record(adminCases[name]!))
  console.log(`${name} recorded`)
}
