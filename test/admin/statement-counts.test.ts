// Each operation takes the same number of statements when the realm has a hundred times as much of everything.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { getLiveUser } from '../../src/service/admin-api/users/users.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { evaluateAttempt } from '../../src/service/login/brute-force-protection.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { createBody, createFilledRealm, type FilledRealm, toAddress } from '../support/filled-realm.ts'
import { type Mailbox, openMailbox } from '../support/mailbox.ts'
import { takeSample } from '../support/property-options.ts'
import { createSampleObject, toName } from '../support/samples.ts'
import { testServer } from '../support/server.ts'
import { newName, testService, withoutCounting } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'
import { userTags } from '../support/user-tags.ts'

const { app, call } = await testServer()
const { service, statements } = await testService()

/** The names of the objects in URLs. */
const LABEL = 'thing'
const USER = '/admin/realms/{realm}/users/{user-id}'
/** Only what this client got tokens for may ask who it is. */
const CONSOLE = 'security-admin-console'

/** A realm with so many of everything, and the ids in it of what nothing else names: roles of the realm and of the client, and a client scope. */
interface Sized extends FilledRealm {
  readonly size: number
  readonly spare: { readonly realm: string[]; readonly client: string[]; readonly clientScope: string }
}

let mailbox: Mailbox
let sizes: Sized[]
const delivering = service.outboxWorker
beforeAll(async () => {
  mailbox = await openMailbox()
  // What leaves after an operation is not its own work.
  service.outboxWorker = undefined
  sizes = [await sized(1), await sized(100)]
})
afterAll(async () => {
  service.outboxWorker = delivering
  delivering?.wake()
  await mailbox.close()
})

/** Operations that end what others need, in this order: after those that end parts of objects, before those that end objects. */
const LATE = ['disableUserCredentialTypes', 'removeUserTotp', 'logUserOut', 'logOutAllUsers']

/** In an order in which each finds what it is about. */
const inOrder = operations
  .filter(({ tag }) => userTags.includes(tag))
  .toSorted((a, b) => stageOf(a) - stageOf(b) || (a.method === 'DELETE' ? b.path.length - a.path.length : 0))

function stageOf({ method, path, operationId }: Operation): number {
  if (LATE.includes(operationId)) return 3 + LATE.indexOf(operationId) / LATE.length
  if (method !== 'DELETE') return method === 'GET' ? 0 : 1
  return /\{(user-id|group-id|role-name|role-id|realm)\}$/.test(path) ? 4 : 2
}

test('the large realm has about a hundred times as many rows as the small one', async () => {
  const ROLE = '/admin/realms/{realm}/roles/{role-name}'
  const lists = [
    ...['users', 'roles', 'clients', 'identity-provider/instances', 'events', 'admin-events'].map(
      (list) => `/admin/realms/{realm}/${list}`,
    ),
    ...['groups', 'credentials', 'sessions', 'consents', 'federated-identity'].map((list) => `${USER}/${list}`),
    `${USER}/role-mappings/realm`,
    `${USER}/role-mappings/clients/{client-id}`,
    '/admin/realms/{realm}/groups/{group-id}/children',
    '/admin/realms/{realm}/groups/{group-id}/members',
    ...['composites', 'users', 'groups'].map((list) => `${ROLE}/${list}`),
  ]
  for (const list of lists) {
    const [few, many] = await Promise.all(
      sizes.map(async (realm) => (await call('GET', `${toAddress(list, realm)}?max=1000`)).body.length),
    )
    // What fills the realm leaves some events of its own.
    expect(few, list).toBeLessThanOrEqual(40)
    expect(many, list).toBeGreaterThanOrEqual(100)
  }
})

/** Objects that are created below a URL are deleted there. */
const paths = new Set(takeSample([...new Set(inOrder.map(({ path }) => path))]))

test.each(inOrder.filter(({ path }) => paths.has(path)))('$method $path', async (operation) => {
  const counts: number[] = []
  for (const realm of sizes) {
    const token = await withoutCounting.run(true, () => tokenFor(operation, realm))
    // What is kept in memory of master until it changes.
    await call('GET', '/admin/realms/master')
    const body = bodyOf(operation, realm)
    const executed = await statements(async () => {
      const { status, body: responseBody } = await call(operation.method, pathOf(operation, realm), {
        ...(token !== undefined && { token }),
        ...(operation.body?.plain && { headers: { 'content-type': 'text/plain' } }),
        ...(body !== undefined && { body }),
      })
      expect(status, JSON.stringify(responseBody)).toBeLessThan(300)
    })
    counts.push(executed.length)
  }
  expect(counts[0]).toBeGreaterThan(0)
  expect(counts[1]).toBe(counts[0])
})

/** Bodies that must say something in particular. */
const bodies: Readonly<Record<string, (realm: Sized) => unknown>> = {
  createRealm: () => ({ realm: newName() }),
  updateRealm: () => ({ displayName: 'Other' }),
  describeClient: ({ size }) =>
    JSON.stringify({ clientId: 'described', redirectUris: numbered(size, (at) => `https://${at}.example.org/*`) }),
  updateClientProfiles: ({ size }) => ({ profiles: numbered(size, (at) => ({ name: `profile-${at}` })) }),
  updateClientPolicies: () => ({ policies: [] }),
  testSMTPConnection: () => smtp(),
  updateUserProfile: ({ size }) => ({
    attributes: ['username', 'email', ...numbered(size, (at) => `attribute-${at}`)].map((name) => ({ name })),
  }),
  updateUsersUserId: ({ size }) => ({ email: `${LABEL}@example.org`, attributes: attributes(size + 1) }),
  labelUserCredential: () => 'the blue one',
  resetUserPassword: () => ({ type: 'password', value: 'another password' }),
  disableUserCredentialTypes: () => ['password'],
  executeActionsEmail: () => ['VERIFY_EMAIL'],
  addFederatedIdentity: () => ({ userId: 'them', userName: 'them' }),
  createGroup: () => ({ name: 'fresh' }),
  createGroupChild: () => ({ name: 'fresh' }),
  updateGroupsGroupId: ({ size }) => ({ name: 'renamed', attributes: attributes(size) }),
  setLocalizationTexts: ({ size }) => Object.fromEntries(numbered(size, (at) => [`other-${at}`, 'Text'])),
  setLocalizationText: () => 'Hello',
}

function bodyOf(operation: Operation, realm: Sized): unknown {
  const { operationId, path, body } = operation
  if (!body) return undefined
  const special = bodies[operationId]?.(realm)
  if (special !== undefined) return special
  if (/(composites|role-mappings\/(realm|clients\/\{client-id\}))$/.test(path))
    return realm.spare[path.includes('role-mappings/clients') ? 'client' : 'realm'].map((id) => ({ id }))
  return operation.method === 'PUT'
    ? createBody(operation, LABEL, { description: 'Other', attributes: attributes(realm.size) })
    : createBody(operation, 'fresh')
}

/** The address; of something else where another operation has done the same to what it is usually about. */
function pathOf({ operationId, path }: Operation, realm: Sized): string {
  const instead: Record<string, string> = {
    ...(operationId === 'deleteRolesByIdRoleId' && { 'role-id': realm.spare.realm[0]! }),
    ...(path.includes('default-optional') && { clientScopeId: realm.spare.clientScope }),
  }
  return toAddress(path, { value: (path, parameter) => instead[parameter] ?? realm.value(path, parameter) })
}

/** A token of an administrator of the realm only, where that is enough: what they may give is looked into. */
async function tokenFor({ path, operationId }: Operation, { name }: Sized): Promise<string | undefined> {
  if (!path.includes('{realm}')) return undefined
  const form = {
    grant_type: 'password',
    client_id: operationId === 'whoAmI' ? CONSOLE : 'admin-cli',
    username: 'administrator',
    password: 'pw',
  }
  const response = await app.inject({
    method: 'POST',
    url: `/realms/${name}/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
  return response.json().access_token
}

async function sized(size: number): Promise<Sized> {
  const createAll = <T>(make: (at: number) => T) => numbered(size, make)
  const names = (prefix: string) => createAll((at) => `${prefix}-${at}`)
  const wide = names(`/${LABEL}/wide`)
  const [roles, users, clients, providers] = ['role', 'member', 'client', 'provider'].map(names) as string[][]
  const roleMappings = { realmRoles: [LABEL], clientRoles: { [LABEL]: [LABEL] } }
  const many = { realmRoles: [LABEL, ...roles!], clientRoles: { [LABEL]: [LABEL, ...roles!] } }
  const password = await hashPassword('pw')
  const mail = (username: string) => ({
    email: `${username}@example.org`,
    firstName: 'A',
    lastName: 'B',
    enabled: true,
  })
  const fields: Partial<Record<KindName, Representation>> = {
    realm: {
      enabled: true,
      eventsEnabled: true,
      adminEventsEnabled: true,
      adminEventsDetailsEnabled: true,
      bruteForceProtected: true,
      defaultGroups: wide,
      smtpServer: smtp(),
      editUsernameAllowed: true,
    },
    role: { composites: { realm: roles!, client: { [LABEL]: roles! } }, attributes: attributes(size) },
    group: { ...many, attributes: attributes(size) },
    user: {
      ...many,
      ...mail(LABEL),
      attributes: attributes(size),
      groups: wide,
      credentials: [
        ...createAll((at) => ({ type: 'webauthn', userLabel: `key ${at}`, secretData: '{}', credentialData: '{}' })),
        ...createAll((at) => ({
          type: 'otp',
          userLabel: `code ${at}`,
          secretData: '{"value":"x"}',
          credentialData: '{}',
        })),
      ],
      federatedIdentities: providers!.map((identityProvider) => ({ identityProvider, userId: 'x', userName: 'x' })),
      clientConsents: [LABEL, ...clients!].map((clientId) => ({ clientId, grantedClientScopes: [LABEL] })),
    },
  }
  const role = (name: string) => [
    createSampleObject('role', name),
    { ...createSampleObject('role', name), key: ['client', LABEL, name] },
  ]
  const filled = await createFilledRealm(LABEL, (kind) => fields[kind] ?? {}, [
    ...[...roles!, ...names('spare')].flatMap(role),
    createSampleObject('group', LABEL),
    createSampleObject('clientScope', 'spare'),
    ...wide.map((path) => ({
      kind: 'group' as const,
      key: [path],
      representation: { path, ...roleMappings },
      path: [],
    })),
    ...clients!.map((name) => createSampleObject('client', name)),
    {
      kind: 'client' as const,
      key: [CONSOLE],
      representation: { clientId: CONSOLE, directAccessGrantsEnabled: true },
      path: [],
    },
    ...providers!.map((name) => createSampleObject('identityProvider', name)),
    ...users!.map((name) =>
      createSampleObject('user', name, {
        ...mail(name),
        ...roleMappings,
        groups: [toName('group', LABEL), ...wide.slice(0, 3)],
      }),
    ),
    createSampleObject('user', 'administrator', {
      ...mail('administrator'),
      credentials: [password],
      clientRoles: { 'realm-management': ['realm-admin'] },
    }),
    createSampleObject('localization', 'en', {
      texts: Object.fromEntries([['greeting', 'Hi'], ...names('text').map((key) => [key, 'x'])]),
    }),
  ])
  await live(filled, size)
  const spare = async (path: string) =>
    (await call('GET', `${toAddress(path, filled)}?search=spare`)).body.map(({ id }: { id: string }) => id)
  return {
    ...filled,
    size,
    spare: {
      realm: await spare('/admin/realms/{realm}/roles'),
      client: await spare('/admin/realms/{realm}/clients/{client-uuid}/roles'),
      clientScope: (await call('GET', `/admin/realms/${filled.name}/client-scopes`)).body.find(
        ({ name }: { name: string }) => name === 'spare',
      ).id,
    },
  }
}

/** Adds runtime data to a realm: sessions, login failures, user events and admin events. */
async function live(realm: FilledRealm, size: number): Promise<void> {
  const id = realm.value(USER, 'user-id')
  const client = realm.value('/admin/realms/{realm}/clients/{client-uuid}', 'client-uuid')
  const [row] = await service.findRealms([realm.name])
  const user = await service.read(SYSTEM, realm.name, (context) => getLiveUser(context, id))
  // Documents are not nested that deep.
  const deep = numbered(size, (at) => ({ representation: { path: `/${LABEL}${'/deep'.repeat(at + 1)}` } }))
  await service.write(SYSTEM, realm.name, (context) => writers.group.create(context, deep))
  await service.writeRuntime(SYSTEM, realm.name, async (context) => {
    for (let at = 0; at < size; at++) {
      for (const offline of [false, true]) {
        const session = await startSession(context, { user: id, offline, body: {} })
        await addClientSession(context, session, { client, scope: '', base: 'http://localhost' })
      }
    }
  })
  for (let at = 0; at < size; at++) {
    const settings = { bruteForceProtected: true, failureFactor: 1_000 }
    const target = { id: at ? `unknown-${at}` : id, username: user.key[0]!, body: user.representation }
    const attempt = { user: target, username: target.username, evaluate: async () => false }
    await evaluateAttempt(service, { ...row!, settings }, attempt)
  }
  // An apply leaves an admin event for each change.
  const later = numbered(size, (at) => ({ name: `later-${at}` }))
  await applySource(service, createSource([{ realm: realm.name, roles: { realm: later } }], `${realm.name}-later`))
  await service.recordUserEvents(
    row!,
    numbered(size, () => ({ type: 'LOGIN', user: id, client: LABEL })),
  )
}

function smtp() {
  return { host: '127.0.0.1', port: mailbox.port, from: 'regent@example.org' }
}

function attributes(count: number): Record<string, string[]> {
  return Object.fromEntries(numbered(count, (at) => [`attribute-${at}`, ['one', 'two']]))
}

function numbered<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}
