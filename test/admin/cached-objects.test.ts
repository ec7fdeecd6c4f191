// Objects of the configuration, and what tokens contain, are cached. Each change is visible at once on the server that makes it, and within a
// second on another one.
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { readSoon } from '../support/read-soon.ts'
import { newDatabase, newName } from '../support/service.ts'
import { startRelay } from '../support/tcp-relay.ts'

/** Changes in a random sequence. */
const STEPS = 40

const KEY = new Uint8Array(32)
const location = await newDatabase()
const service = await openService({ location, key: KEY })
await bootstrap(service, { user: 'admin', password: 'admin' })
const relay = location.url ? await startRelay(new URL(location.url)) : undefined
const directUrl = relay && Object.assign(new URL(location.url!), { port: relay.port }).href
/** The number of statements that the other server has executed. */
const statements = { other: 0 }
const otherService = location.url
  ? await openService({
      location: { ...location, connections: { directUrl } },
      key: KEY,
      onStatement: () => statements.other++,
    })
  : service
const [server, other] = [await createServer(service), await createServer(otherService)]
afterAll(async () => {
  for (const app of [server, other]) await app.close()
  for (const opened of new Set([service, otherService])) await opened.close()
  await relay?.close()
})

const REALM = newName()
const CLIENT = { client_id: 'app', client_secret: 'app-secret' }
/** The ids of the objects that are changed. */
const ids = { client: '', scope: '', role: '', group: '', user: '', mapper: '' }

beforeAll(async () => {
  await admin('POST', '', {
    realm: REALM,
    enabled: true,
    roles: { realm: [{ name: 'reader' }] },
    groups: [{ name: 'team', attributes: { floor: ['0'] } }],
    clientScopes: [{ name: 'extra', protocol: 'openid-connect' }],
    identityProviders: [{ alias: 'github', providerId: 'github', config: { clientId: 'x', clientSecret: 'y' } }],
    clients: [
      {
        ...{ clientId: CLIENT.client_id, secret: CLIENT.client_secret, publicClient: false },
        ...{ directAccessGrantsEnabled: true, serviceAccountsEnabled: true },
        protocolMappers: [
          {
            ...{ name: 'floor', protocol: 'openid-connect', protocolMapper: 'oidc-usermodel-attribute-mapper' },
            config: { 'user.attribute': 'floor', 'claim.name': 'floor', 'access.token.claim': 'true' },
          },
        ],
      },
    ],
    users: [
      {
        ...{ username: 'ann', email: 'ann@example.org', firstName: 'Ann', lastName: 'Lee', enabled: true },
        credentials: [{ type: 'password', value: 'ann' }],
      },
    ],
  })
  await admin('PUT', `/${REALM}/users/profile`, { unmanagedAttributePolicy: 'ENABLED' })
  const findId = async (path: string, name: string) =>
    (await admin('GET', `/${REALM}/${path}`)).find((object: Record<string, string>) =>
      [object.name, object.clientId, object.username].includes(name),
    ).id
  ids.client = await findId('clients', 'app')
  ids.scope = await findId('client-scopes', 'extra')
  ids.role = await findId('roles', 'reader')
  ids.group = await findId('groups', 'team')
  ids.user = await findId('users', 'ann')
  ids.mapper = (await admin('GET', `/${REALM}/clients/${ids.client}`)).protocolMappers[0].id
})

/** Changes of the configuration and of a user, each to a state with the number. */
const changes: Readonly<Record<string, (number: number) => Promise<unknown>>> = {
  client: (number) => admin('PUT', `/${REALM}/clients/${ids.client}`, { description: `Client ${number}` }),
  realm: (number) => admin('PUT', `/${REALM}`, { displayName: `Realm ${number}` }),
  role: (number) =>
    admin('PUT', `/${REALM}/roles-by-id/${ids.role}`, { name: 'reader', description: `Role ${number}` }),
  'name of a role': (number) => admin('PUT', `/${REALM}/roles-by-id/${ids.role}`, { name: `reader-${number}` }),
  group: (number) =>
    admin('PUT', `/${REALM}/groups/${ids.group}`, { name: 'team', attributes: { floor: [`${number}`] } }),
  'client scope': (number) =>
    admin('PUT', `/${REALM}/client-scopes/${ids.scope}`, { name: 'extra', description: `Scope ${number}` }),
  'scope of a client': (number) =>
    admin(number % 2 ? 'PUT' : 'DELETE', `/${REALM}/clients/${ids.client}/optional-client-scopes/${ids.scope}`),
  'protocol mapper': (number) =>
    admin('PUT', `/${REALM}/clients/${ids.client}/protocol-mappers/models/${ids.mapper}`, {
      ...{ id: ids.mapper, name: 'floor', protocol: 'openid-connect' },
      protocolMapper: 'oidc-usermodel-attribute-mapper',
      config: { 'user.attribute': 'floor', 'claim.name': `floor-${number}`, 'access.token.claim': 'true' },
    }),
  'role of a user': async (number) => {
    const role = await admin('GET', `/${REALM}/roles-by-id/${ids.role}`)
    await admin(number % 2 ? 'POST' : 'DELETE', `/${REALM}/users/${ids.user}/role-mappings/realm`, [role])
  },
  'group of a user': (number) =>
    admin(number % 2 ? 'PUT' : 'DELETE', `/${REALM}/users/${ids.user}/groups/${ids.group}`),
  'name of a group': (number) => admin('PUT', `/${REALM}/groups/${ids.group}`, { name: `team-${number}` }),
  'federated identity of a user': async (number) => {
    const path = `/${REALM}/users/${ids.user}/federated-identity/github`
    // It may exist, depending on the number of the last change.
    await call(server, 'DELETE', `/admin/realms${path}`)
    if (number % 2) await admin('POST', path, { userId: '1', userName: 'ann' })
  },
  'attribute of a service account': async (number) => {
    const { id } = await admin('GET', `/${REALM}/clients/${ids.client}/service-account-user`)
    await admin('PUT', `/${REALM}/users/${id}`, { attributes: { floor: [`${number}`] } })
  },
  'attribute of a user': (number) =>
    admin('PUT', `/${REALM}/users/${ids.user}`, { attributes: { floor: [`${number}`] } }),
}
const names = Object.keys(changes)

const EXPORTED = 'exportClients=true&exportGroupsAndRoles=true'

/** Returns everything that the changes can concern, as a server shows it. */
async function readState(app: FastifyInstance) {
  const paths = [
    ...['', '/clients?clientId=app', `/clients/${ids.client}`, `/roles-by-id/${ids.role}`, `/groups/${ids.group}`],
    ...[`/client-scopes/${ids.scope}`, '/client-scopes', `/users/${ids.user}`],
    ...[`/users/${ids.user}/role-mappings`, `/users/${ids.user}/groups`],
    `/users/${ids.user}/role-mappings/realm/composite?briefRepresentation=false`,
  ]
  const responses: unknown[] = []
  for (const path of paths) {
    const { statusCode, body } = await call(app, 'GET', `/admin/realms/${REALM}${path}`)
    responses.push([path, statusCode, statusCode === 200 ? JSON.parse(body) : body])
  }
  const { body } = await call(app, 'POST', `/admin/realms/${REALM}/partial-export?${EXPORTED}`)
  responses.push(JSON.parse(body))
  const grants = [{ grant_type: 'client_credentials' }, { grant_type: 'password', username: 'ann', password: 'ann' }]
  for (const grant of grants) {
    const { access_token } = await requestToken(app, REALM, { ...CLIENT, ...grant })
    const { iat: _, exp: __, jti: ___, sid: ____, ...claims } = decodeJwt(access_token)
    responses.push(claims)
  }
  return responses
}

/** Reads what the other server shows a second after the call, or earlier if it is the state. */
const readOther = (state: unknown) =>
  readSoon(
    () => readState(other),
    (value) => isDeepStrictEqual(value, state),
  )

test.each(names)('a change of the %s is visible at once, and within a second on another server', async (name) => {
  for (const number of [1, 2]) {
    const before = await readState(server)
    await readState(other)
    await changes[name]!(number)
    const state = await readState(server)
    expect(state).not.toEqual(before)
    expect(await readOther(state)).toEqual(state)
  }
})

test('after random changes during requests, both servers show the same', async () => {
  let isOver = false
  const readers = [server, other].map(async (app) => {
    while (!isOver) await readState(app)
  })
  for (let step = 0; step < STEPS; step++) await changes[names[Math.floor(Math.random() * names.length)]!]!(step)
  const state = await readState(server)
  const otherState = await readOther(state)
  isOver = true
  await Promise.all(readers)
  expect(otherState).toEqual(state)
  expect(await readState(server)).toEqual(state)
  expect(await readState(other)).toEqual(state)
})

describe.runIf(inject('databaseUrl'))('of a server without the connection for notifications', () => {
  test.each(names)('a change of the %s is visible at once', async (name) => {
    await readState(other)
    relay!.cut()
    // The end of a connection is not noticed at once on a busy machine.
    await expect.poll(() => isCached(), { timeout: 10_000 }).toBe(false)
    await changes[name]!(3)
    expect(await readState(other)).toEqual(await readState(server))
    await changes[name]!(4)
    expect(await readState(other)).toEqual(await readState(server))
    relay!.restore()
  })
})

test('a value about a user that was read before a change is not cached after it', async () => {
  const [realm] = await service.findRealms([REALM])
  const key = { realm: realm!.number, user: ids.user, value: 'a test' }
  await service.cache.getUserValue(key, async () => {
    // No earlier change has this number: it changes the user.
    await changes['attribute of a user']!(STEPS)
    return 'before'
  })
  expect(await service.cache.getUserValue(key, async () => 'after')).toBe('after')
})

/** Whether the other server answers from its cache. */
async function isCached(): Promise<boolean> {
  const before = statements.other
  await call(other, 'GET', `/admin/realms/${REALM}`)
  return statements.other === before
}

let adminToken = { text: '', until: 0 }

/** Calls the first server as the administrator of all realms, and returns the body. */
async function admin(method: string, path: string, body?: unknown) {
  const response = await call(server, method, `/admin/realms${path}`, body)
  expect(response.statusCode, `${method} ${path}: ${response.body}`).toBeLessThan(300)
  return response.body && response.json()
}

async function call(app: FastifyInstance, method: string, url: string, body?: unknown) {
  if (performance.now() > adminToken.until) {
    const login = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password: 'admin' }
    adminToken = { text: (await requestToken(server, 'master', login)).access_token, until: performance.now() + 30_000 }
  }
  const headers = { authorization: `Bearer ${adminToken.text}`, 'content-type': 'application/json' }
  return app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
}

async function requestToken(app: FastifyInstance, realm: string, form: Record<string, string>) {
  const response = await app.inject({
    method: 'POST',
    url: `/realms/${realm}/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
  expect(response.statusCode, response.body).toBe(200)
  return response.json()
}
