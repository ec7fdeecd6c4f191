// Records which admin roles may call which operations of a server, for test/conformance/admin-matrix.test.ts.
// It also creates objects in master and does not delete them, so use a disposable server.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { operations } from '../src/http/admin/index.ts'
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

const usage = `Usage: node scripts/record-admin-roles.ts --server URL --user NAME --password PASSWORD [CASE...]
CASE: ${Object.keys(adminCases).join('; ')}`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { server: { type: 'string' }, user: { type: 'string' }, password: { type: 'string' } },
})
const { server, user, password } = values
if (!server || !user || !password) throw new Error(usage)

type CalledOperation = Pick<Operation, 'method' | 'path'> & { readonly body?: Operation['body'] | undefined }

interface RemoteRequest {
  readonly method: string
  readonly address: string
  readonly body?: unknown
  /** The content type of the body, by default JSON. */
  readonly type?: string
}

async function send(token: string, { method, address, body, type }: RemoteRequest): Promise<RemoteResponse> {
  const text = typeof body === 'string' && type === 'text/plain' ? body : JSON.stringify(body)
  const response = await fetch(server + address, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
    },
    ...(body !== undefined && { body: text }),
  })
  const content = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && content !== ''
  const location = response.headers.get('location') ?? undefined
  return { status: response.status, body: isJson ? JSON.parse(content) : content, location }
}

async function logIn(realm: string, username: string, password: string): Promise<string> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username, password }
  const address = `${server}/realms/${realm}/protocol/openid-connect/token`
  const response = await fetch(address, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = (await response.json()) as { access_token?: string }
  if (!access_token) throw new Error(`${username} cannot log in to ${realm}: ${response.status}`)
  return access_token
}

let administrator = ''
async function call(method: string, address: string, body?: unknown): Promise<RemoteResponse> {
  const type = address.includes('/localization/') ? 'text/plain' : 'application/json'
  const response = await send(administrator, { method, address, body, type })
  if (response.status !== 401) return response
  administrator = await logIn('master', user!, password!)
  return send(administrator, { method, address, body, type })
}

const realms: Record<RealmRelation, RemoteRealm> = {
  home: createRemoteRealm(call, `${LABEL}-home`),
  other: createRemoteRealm(call, `${LABEL}-other`),
  master: createRemoteRealm(call, 'master'),
}

const REALM = '/admin/realms/{realm}'
const allOperations: readonly CalledOperation[] = operations
const adminOperations = allOperations.filter(({ path }) => path.startsWith('/admin'))

/** Whether an operation deletes something or ends sessions. */
const isDestructive = ({ method, path }: CalledOperation) => method === 'DELETE' || /logout|revocation/.test(path)
/** Destructive operations are called last and one after the other, the deletion of the realm at the very end. */
const destructiveOperations = adminOperations
  .filter(isDestructive)
  .sort((a, b) => Number(a.path === REALM) - Number(b.path === REALM) || a.path.length - b.path.length)

/** Returns functions that grant roles to the user of a case, and call operations as this user. */
async function createCaller({ holder, client, target }: AdminCase) {
  const [home, realm] = [realms[holder], realms[target]]
  const username = `${LABEL}-${client ?? 'master'}-${target}`
  let account: { token: string; mappings: string; roles: Map<string, object> } | undefined

  /** Creates the user unless it exists, and logs in. */
  const createAccount = async () => {
    await home.ensure()
    await realm.ensure()
    const at = `/admin/realms/${home.name}`
    const representation = { username, email: `${username}@example.org`, firstName: 'A', lastName: 'B', enabled: true }
    await call('POST', `${at}/users`, { ...representation, credentials: [{ type: 'password', value: 'pw' }] })
    const [{ id }] = (await call('GET', `${at}/users?exact=true&username=${username}`)).body
    const name = client?.replace('home', realms.home.name)
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
    account ??= await createAccount()
    const { mappings, roles: allRoles } = account
    await call('DELETE', mappings)
    await call(
      'POST',
      mappings,
      roles.map((role) => allRoles.get(role)),
    )
  }
  /** Calls an operation, and returns whether it is allowed. `restore`: create the objects again that it deletes. */
  const isAllowed = async (operation: CalledOperation, restore: boolean): Promise<boolean> => {
    const { method, path, body } = operation
    const address = `${toAddress(realm, path)}?userId=${realm.value('/users/{user-id}', 'user-id')}`
    const content = createBody(operation)
    const callOperation = () =>
      send(account!.token, {
        method,
        address,
        body: content,
        type: body?.plain ? 'text/plain' : 'application/json',
      })
    let response = await callOperation()
    if (response.status === 401) {
      account!.token = await logIn(home.name, username, 'pw')
      response = await callOperation()
    }
    if (method === 'DELETE' && response.status < 300) {
      if (path === REALM) account = undefined
      else if (restore && path.endsWith('}')) await realm.ensure()
    }
    // 401 right after a login means that the user belongs to another realm than the operation.
    return response.status !== 403 && response.status !== 401
  }
  return { grant, isAllowed, restore: realm.ensure }
}

/** Bodies of operations for which an empty body would create or change something. */
const HARMLESS_BODIES: Readonly<Record<string, object>> = {
  'POST /admin/realms': { realm: 'master' },
  'PUT /admin/realms/{realm}/authentication/required-actions/{alias}': { providerId: 'VERIFY_EMAIL', enabled: true },
  'PUT /admin/realms/{realm}/clients/{client-uuid}': {
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
  },
}

/** Returns the smallest valid body. */
function createBody(operation: CalledOperation): unknown {
  const { method, body } = operation
  if (!body) return method === 'GET' || method === 'DELETE' ? undefined : {}
  if (body.plain) return 'x'
  return (
    HARMLESS_BODIES[toOperationName(operation)] ?? [{}, []].find((content) => body.schema.safeParse(content).success)
  )
}

/** Returns for each operation the smallest sets of roles that allow it. */
async function record(adminCase: AdminCase): Promise<Map<string, string[]>> {
  const { grant, isAllowed, restore } = await createCaller(adminCase)
  const roleSets = new Map(adminOperations.map((operation) => [toOperationName(operation), [] as string[]]))
  const findAllowed = async (
    roles: readonly string[],
    candidates: readonly CalledOperation[],
    restoreDeleted = true,
  ) => {
    if (!candidates.length) return []
    await grant(roles)
    const allowed: CalledOperation[] = []
    const attempt = async (operation: CalledOperation) => {
      if (await isAllowed(operation, restoreDeleted)) allowed.push(operation)
    }
    const harmless = candidates.filter((operation) => !isDestructive(operation))
    for (const concurrent of chunks(harmless, 16)) await Promise.all(concurrent.map(attempt))
    for (const operation of destructiveOperations) if (candidates.includes(operation)) await attempt(operation)
    return allowed
  }
  const add = (roles: readonly string[], allowed: readonly CalledOperation[]) => {
    for (const operation of allowed) roleSets.get(toOperationName(operation))!.push([...roles].sort().join('+'))
  }
  const partialRoles = adminCase.roles.filter((role) => role !== 'realm-admin' && role !== 'admin')
  const allowedWithoutRoles = await findAllowed([], adminOperations)
  add([], allowedWithoutRoles)
  const restricted = adminOperations.filter((operation) => !allowedWithoutRoles.includes(operation))
  // A role never takes permissions away, so operations that all roles together do not allow are allowed by none of them.
  const allowedTogether = await findAllowed(partialRoles, restricted, false)
  await restore()
  for (const role of adminCase.roles)
    add([role], await findAllowed([role], partialRoles.includes(role) ? allowedTogether : restricted))
  const isPartial = (set: string) => set.split('+').every((role) => partialRoles.includes(role))
  const listUnexplained = () =>
    allowedTogether.filter((operation) => !roleSets.get(toOperationName(operation))!.some(isPartial))
  const unexplained = listUnexplained()
  for (const pair of unexplained.length ? listPairs(partialRoles) : []) add(pair, await findAllowed(pair, unexplained))
  for (const operation of listUnexplained())
    if ((await findAllowed(partialRoles, [operation])).length)
      throw new Error(`${toOperationName(operation)}: no pair of roles is sufficient`)
  return roleSets
}

const file = join(import.meta.dirname, '..', 'test', 'conformance', 'admin-matrix.json')

/** Writes the recording of a case to the file, and keeps those of other cases. */
function save(name: string, recorded: ReadonlyMap<string, readonly string[]>): void {
  const existing = JSON.parse(readFileSync(file, 'utf8')) as RecordedRoles[]
  const existingSets = new Map(
    existing.flatMap(({ enough, operations }) => operations.map((operation) => [operation, enough] as const)),
  )
  const sorted = [...recorded].sort(([a], [b]) => (a < b ? -1 : 1))
  const merged = sorted.map(([operation, sets]): [string, Record<string, readonly string[]>] => {
    const { [name]: _, ...otherCases } = existingSets.get(operation) ?? {}
    const enough = { ...otherCases, ...(sets.length && { [name]: [...sets].sort() }) }
    return [
      operation,
      Object.fromEntries(Object.keys(adminCases).flatMap((name) => (enough[name] ? [[name, enough[name]]] : []))),
    ]
  })
  const groups = [...Map.groupBy(merged, ([, enough]) => JSON.stringify(enough)).values()]
  writeFileSync(file, `[\n${groups.map(render).sort().join(',\n')}\n]\n`)
}

/** Returns a group as JSON, with one line per case and per operation. */
function render(group: readonly (readonly [operation: string, enough: object])[]): string {
  const cases = Object.entries(group[0]![1]).map(
    ([name, sets]) => `      ${JSON.stringify(name)}: ${JSON.stringify(sets)}`,
  )
  const names = group.map(([name]) => `      ${JSON.stringify(name)}`)
  const enough = cases.length ? `{\n${cases.join(',\n')}\n    }` : '{}'
  return `  {\n    "enough": ${enough},\n    "operations": [\n${names.join(',\n')}\n    ]\n  }`
}

// Operations on the user profile of master must not prevent the administrator from logging in, so the account gets all fields.
const [self] = (await call('GET', `/admin/realms/master/users?exact=true&username=${user}`)).body
const completeUser = { ...self, email: `${LABEL}@example.org`, emailVerified: true, firstName: 'A', lastName: 'B' }
await call('PUT', `/admin/realms/master/users/${self.id}`, completeUser)

for (const name of positionals.length ? positionals : Object.keys(adminCases)) {
  save(name, await record(adminCases[name]!))
  console.log(`${name} recorded`)
}
