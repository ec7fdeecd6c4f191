// The access of tokens is cached. Each change takes effect at once on the server that makes it, and within a second on another one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { authenticate } from '../../src/http/authenticate.ts'
import { createServer } from '../../src/http/server.ts'
import { createRealm } from '../../src/service/admin-api/realms/realms.ts'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { requirePermissions } from '../../src/service/permissions/require-permissions.ts'
import { LIMIT, readSoon } from '../support/read-soon.ts'
import { newDatabase, newName } from '../support/service.ts'
import { startRelay } from '../support/tcp-relay.ts'

/** Rounds of random changes during requests. */
const ROUNDS = 15

const KEY = new Uint8Array(32)

/** The statements of the first server. */
const statements: string[] = []

/** The number of statements that the other server has executed to verify tokens. */
const verifications = { other: 0 }

const location = await newDatabase()
const service = await openService({ location, key: KEY, onStatement: ({ sql }) => statements.push(sql) })
await bootstrap(service, { user: 'admin', password: 'admin' })
const relay = location.url ? await startRelay(new URL(location.url)) : undefined
const directUrl = relay && Object.assign(new URL(location.url!), { port: relay.port }).href
const otherService = location.url
  ? await openService({
      location: { ...location, connections: { directUrl } },
      key: KEY,
      onStatement({ sql }) {
        if (sql.includes('token_client')) verifications.other++
      },
    })
  : service
const server = await createServer(service, { basePath: '/v1' })
const other = await createServer(otherService, { basePath: '/v1' })
afterAll(async () => {
  for (const opened of new Set([server, other])) await opened.close()
  for (const opened of new Set([service, otherService])) await opened.close()
  await relay?.close()
})

/** The token of the administrator of all realms. It is valid for a minute. */
let adminToken: string

beforeEach(async () => {
  adminToken = await logIn('master', 'admin', 'admin')
  relay?.restore()
  await expect.poll(() => isCached(), { timeout: 10_000 }).toBe(true)
})

/** A realm with an administrator who has a token. */
interface Access {
  readonly realm: string
  readonly user: string
  readonly token: string
  readonly session: string
}

/** Changes after which the token of the administrator gives no access to the realm any more. */
const changes: Readonly<Record<string, (access: Access) => Promise<unknown>>> = {
  'disables the user': ({ realm, user }) => admin('PUT', `/${realm}/users/${user}`, { enabled: false }),
  'deletes the user': ({ realm, user }) => admin('DELETE', `/${realm}/users/${user}`),
  'logs the user out': ({ realm, user }) => admin('POST', `/${realm}/users/${user}/logout`),
  'ends the session': ({ realm, session }) => admin('DELETE', `/${realm}/sessions/${session}`),
  'ends all sessions of the realm': ({ realm }) => admin('POST', `/${realm}/logout-all`),
  'revokes the token': ({ realm, token }) => form(`/realms/${realm}/protocol/openid-connect/revoke`, { token }),
  'removes the role of the group': async ({ realm }) => {
    const [group] = await admin('GET', `/${realm}/groups?search=admins`)
    const mappings = `/${realm}/groups/${group.id}/role-mappings/realm`
    await admin('DELETE', mappings, await admin('GET', mappings))
  },
  'removes the composites of the role': async ({ realm }) => {
    const composites = `/${realm}/roles/administrator/composites`
    await admin('DELETE', composites, await admin('GET', composites))
  },
  'removes the user from the group': async ({ realm, user }) => {
    const [group] = await admin('GET', `/${realm}/groups?search=admins`)
    await admin('DELETE', `/${realm}/users/${user}/groups/${group.id}`)
  },
  'deletes the group': async ({ realm }) => {
    const [group] = await admin('GET', `/${realm}/groups?search=admins`)
    await admin('DELETE', `/${realm}/groups/${group.id}`)
  },
  'disables the client': async ({ realm }) => {
    const [client] = await admin('GET', `/${realm}/clients?clientId=admin-cli`)
    await admin('PUT', `/${realm}/clients/${client.id}`, { enabled: false })
  },
  'limits the scope of the client': async ({ realm }) => {
    const [client] = await admin('GET', `/${realm}/clients?clientId=admin-cli`)
    await admin('PUT', `/${realm}/clients/${client.id}`, { fullScopeAllowed: false })
  },
  'disables the realm': ({ realm }) => admin('PUT', `/${realm}`, { enabled: false }),
  'sets the not-before time of the realm': ({ realm }) =>
    admin('PUT', `/${realm}`, { notBefore: Math.floor(Date.now() / 1000) + 60 }),
  'renames the realm': ({ realm }) => admin('PUT', `/${realm}`, { realm: newName('renamed') }),
  'deletes the realm': ({ realm }) => admin('DELETE', `/${realm}`),
}
const names = Object.keys(changes)

test('a request with a cached token and realm executes no statement for them', async () => {
  const access = await createAccess()
  const countVerifications = async () => {
    const { other: before } = verifications
    expect(await read(other, access)).toBe(200)
    return verifications.other - before
  }
  // Notifications of the creation of the realm may still arrive.
  await expect.poll(countVerifications).toBe(0)
})

test('access that was read before a change is not cached after it', async () => {
  let loads = 0
  const { realm, user } = await createAccess()
  const find = (work = async () => {}) =>
    service.cache.findTokenValue('a key', async () => {
      loads++
      const [row] = await service.findRealms([realm])
      await work()
      return {
        issued: { id: 'a token', realm: row!, client: 'a client', issuedAt: 0 },
        user: { id: user },
        expiresAt: new Date(Date.now() + 60_000),
      }
    })
  await find(() => admin('PUT', `/${realm}/users/${user}`, { firstName: 'Anne' }))
  await find()
  expect(loads).toBe(2)
  // The server is also notified of its own change, possibly only now.
  const countLoads = async () => {
    const before = loads
    await find()
    return loads - before
  }
  await expect.poll(countLoads).toBe(0)
})

/** Changes of what the permissions depend on. */
const permissionChanges = [
  'logs the user out',
  'disables the client',
  'limits the scope of the client',
  'disables the user',
  'deletes the user',
  'removes the role of the group',
  'removes the composites of the role',
  'removes the user from the group',
  'deletes the group',
]

test.each(permissionChanges)('a write whose permissions were read before a change that %s is refused', async (name) => {
  const access = await createAccess()
  const caller = await authenticateCaller(access)
  await changes[name]!(access)
  const write = service.write(caller, access.realm, async (context) => requirePermissions(context, 'manage-users'))
  await expect(write).rejects.toThrow(/HTTP 40[13]/)
})

test('a realm is not created with a permission that was revoked after it was read', async () => {
  const username = newName('creator')
  const [role] = await admin('GET', '/master/roles?search=create-realm')
  await admin('POST', '/master/users', {
    ...{ username, email: `${username}@example.org`, firstName: 'A', lastName: 'B', enabled: true },
    credentials: [{ type: 'password', value: 'password' }],
  })
  const [{ id }] = await admin('GET', `/master/users?username=${username}`)
  const mappings = `/master/users/${id}/role-mappings/realm`
  await admin('POST', mappings, [role])
  const caller = await authenticateCaller({ token: await logIn('master', username, 'password') })
  await admin('DELETE', mappings, [role])
  const create = createRealm(service, caller, {
    ...{ body: { realm: newName() }, ids: new Map() },
    createContent: async () => undefined,
  })
  await expect(create).rejects.toThrow('HTTP 403 Forbidden')
})

test('runtime data of a realm that another server has just deleted is refused as that of an unknown realm', async () => {
  const { realm } = await createAccess()
  await admin('PUT', `/${realm}`, { eventsEnabled: true })
  const [row] = await service.findRealms([realm])
  await admin('DELETE', `/${realm}`)
  const record = service.recordUserEvents(row!, [{ type: 'LOGIN', error: 'user_not_found' }])
  await expect(record).rejects.toThrow('Realm not found.')
  const write = service.writeRuntime(SYSTEM, row!, async ({ userEvents }) => userEvents.push({ type: 'LOGIN' }))
  await expect(write).rejects.toThrow('Realm not found.')
})

test('a write whose permissions are current does not read them again', async () => {
  const access = await createAccess()
  const caller = await authenticateCaller(access)
  statements.length = 0
  await service.write(caller, access.realm, async (context) => requirePermissions(context, 'manage-users'))
  expect(statements.filter((sql) => sql.includes('recursive'))).toEqual([])
  await service.write(
    { ...caller, permissions: {} as never, permissionVersions: { ...caller.permissionVersions!, userVersion: '0' } },
    access.realm,
    async (context) => requirePermissions(context, 'manage-users'),
  )
  expect(statements.filter((sql) => sql.includes('recursive'))).toHaveLength(1)
})

test('tokens are not verified again after a realm was created, which adds a client to master', async () => {
  const countVerifications = async (work: () => Promise<unknown>) => {
    statements.length = 0
    await work()
    return statements.filter((sql) => sql.includes('token_client')).length
  }
  const name = newName()
  await admin('POST', '', { realm: name, enabled: true })
  const createAndRead = async () => {
    const realm = newName()
    await admin('POST', '', { realm, enabled: true })
    await admin('GET', `/${realm}`)
  }
  const createRole = () => admin('POST', `/${name}/roles`, { name: newName() })
  // Notifications of earlier changes may still arrive. The permission to create a realm is read once more in the transaction.
  await expect.poll(() => countVerifications(createAndRead), { timeout: 10_000 }).toBe(1)
  // The first write finds that the configuration of master has changed, and reads the permissions again. Later ones have current versions.
  await expect.poll(() => countVerifications(createRole), { timeout: 10_000 }).toBe(0)
})

const isRefused = (status: number) => status >= 400

test.each(names)('a change that %s takes effect at once, and within a second on another server', async (name) => {
  const access = await createAccess()
  await changes[name]!(access)
  expect(await read(server, access)).toBeGreaterThanOrEqual(400)
  expect(await readSoon(() => read(other, access), isRefused)).toBeGreaterThanOrEqual(400)
})

test('during requests, a second after any change nothing is granted that the store refuses', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const access = await createAccess()
    const change = changes[names[Math.floor(Math.random() * names.length)]!]!
    const readers = [server, other].map(async (app) => {
      while ((await read(app, access)) < 400) await sleep(1)
    })
    await change(access)
    expect(await read(server, access)).toBeGreaterThanOrEqual(400)
    expect(await readSoon(() => read(other, access), isRefused)).toBeGreaterThanOrEqual(400)
    await Promise.all(readers)
    expect(await read(other, access)).toBeGreaterThanOrEqual(400)
  }
})

describe.runIf(inject('databaseUrl'))('of a server without the connection for notifications', () => {
  test.each(names)('nothing is granted after a change that %s', async (name) => {
    const access = await createAccess()
    relay!.cut()
    // The end of a connection is not noticed at once on a busy machine.
    await expect.poll(() => isCached(), { timeout: 10_000 }).toBe(false)
    await changes[name]!(access)
    expect(await read(other, access)).toBeGreaterThanOrEqual(400)
  })

  test('a change takes effect within a second if the connection only seems to work', async () => {
    const access = await createAccess()
    relay!.freeze()
    await changes['disables the user']!(access)
    await sleep(LIMIT)
    expect(await read(other, access)).toBe(401)
    relay!.cut()
  })

  test('a refresh token that was issued before the not-before time of the realm is refused at once', async () => {
    const access = await createAccess()
    const credentials = { grant_type: 'password', username: 'ann', password: 'ann' }
    const { refresh_token } = await form(`/realms/${access.realm}/protocol/openid-connect/token`, credentials)
    relay!.freeze()
    await changes['sets the not-before time of the realm']!(access)
    const response = await other.inject({
      method: 'POST',
      url: `/realms/${access.realm}/protocol/openid-connect/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'admin-cli', refresh_token }).toString(),
    })
    expect(response.json()).toMatchObject({ error: 'invalid_grant' })
    relay!.cut()
  })

  test('a change during the interruption is known after it', async () => {
    const access = await createAccess()
    relay!.cut()
    await changes['disables the user']!(access)
    relay!.restore()
    await expect.poll(() => isCached(), { timeout: 10_000 }).toBe(true)
    expect(await read(other, access)).toBe(401)
  })
})

/** Whether the other server caches tokens: after the start or an interruption, it checks first whether notifications arrive. */
async function isCached(): Promise<boolean> {
  const get = () => request(other, 'GET', '/admin/realms', { token: adminToken })
  await get()
  const { other: before } = verifications
  await get()
  return verifications.other === before
}

/** Creates a realm with an administrator, whose token both servers have in their caches. */
async function createAccess(): Promise<Access> {
  const realm = newName()
  await admin('POST', '', {
    realm,
    enabled: true,
    roles: { realm: [{ name: 'administrator', composites: { client: { 'realm-management': ['realm-admin'] } } }] },
    groups: [{ name: 'admins', realmRoles: ['administrator'] }],
    users: [
      {
        ...{ username: 'ann', email: 'ann@example.org', firstName: 'Ann', lastName: 'Lee', enabled: true },
        ...{ groups: ['/admins'], credentials: [{ type: 'password', value: 'ann' }] },
      },
    ],
  })
  const token = await logIn(realm, 'ann', 'ann')
  const [{ id: user }] = await admin('GET', `/${realm}/users?username=ann`)
  const [{ id: session }] = await admin('GET', `/${realm}/users/${user}/sessions`)
  const access = { realm, user, session, token }
  for (const app of [server, other]) expect(await read(app, access)).toBe(200)
  return access
}

/** Returns the caller of a request with the token. */
function authenticateCaller({ token }: Pick<Access, 'token'>): Promise<Caller> {
  const headers = { authorization: `Bearer ${token}` }
  const request = { method: 'GET', url: '/admin/realms', headers, raw: {}, ip: '127.0.0.1', protocol: 'http' }
  return authenticate(service, request as FastifyRequest, { base: 'http://localhost' })
}

/** Reads the realm with the token, and returns the status. */
async function read(app: FastifyInstance, { realm, token }: Access): Promise<number> {
  return (await request(app, 'GET', `/admin/realms/${realm}/users`, { token })).statusCode
}

async function logIn(realm: string, username: string, password: string): Promise<string> {
  const credentials = { grant_type: 'password', username, password }
  return (await form(`/realms/${realm}/protocol/openid-connect/token`, credentials)).access_token
}

async function form(url: string, fields: Record<string, string>) {
  const payload = new URLSearchParams({ client_id: 'admin-cli', ...fields }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const response = await server.inject({ method: 'POST', url, headers, payload })
  expect(response.statusCode, response.body).toBe(200)
  return response.body && response.json()
}

/** Calls the first server as the administrator of all realms, and returns the body. */
async function admin(method: string, path: string, body?: unknown) {
  const response = await request(server, method, `/admin/realms${path}`, { token: adminToken, body })
  expect(response.statusCode, response.body).toBeLessThan(300)
  return response.body && response.json()
}

function request(
  app: FastifyInstance,
  method: string,
  url: string,
  { token, body }: { readonly token: string; readonly body?: unknown },
) {
  return app.inject({
    method: method as 'GET',
    url,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
}
