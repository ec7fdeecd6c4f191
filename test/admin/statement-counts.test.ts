// Each operation takes the same number of statements in a realm with one object of each kind and in a realm with a hundred.
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

/** The name of the objects in URLs. */
const LABEL = 'sample'
const USER = '/admin/realms/{realm}/users/{user-id}'
/** The only client whose tokens may request whoami. */
const CONSOLE = 'security-admin-console'

/** A realm with `size` objects of each kind. `unused` has ids of roles and of a client scope to which no object refers. */
interface SizedRealm extends FilledRealm {
  readonly size: number
  readonly unused: { readonly realm: string[]; readonly client: string[]; readonly clientScope: string }
}

let mailbox: Mailbox
let realms: SizedRealm[]
const outboxWorker = service.outboxWorker
beforeAll(async () => {
  mailbox = await openMailbox()
  // Deliveries after an operation would be counted as its statements.
  service.outboxWorker = undefined
  realms = [await createSizedRealm(1), await createSizedRealm(100)]
})
afterAll(async () => {
  service.outboxWorker = outboxWorker
  outboxWorker?.wake()
  await mailbox.close()
})

/** Operations that remove credentials and sessions, which operations on parts of users need. Only deletions of objects are later. */
const LATE = ['disableUserCredentialTypes', 'removeUserTotp', 'logUserOut', 'logOutAllUsers']

/** The operations, sorted so that the objects of each still exist. */
const sortedOperations = operations
  .filter(({ tag }) => userTags.includes(tag))
  .toSorted((a, b) => getStage(a) - getStage(b) || (a.method === 'DELETE' ? b.path.length - a.path.length : 0))

function getStage({ method, path, operationId }: Operation): number {
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
      realms.map(async (realm) => (await call('GET', `${toAddress(list, realm)}?max=1000`)).body.length),
    )
    // Filling the realm creates some more events.
    expect(few, list).toBeLessThanOrEqual(40)
    expect(many, list).toBeGreaterThanOrEqual(100)
  }
})

/** The tested paths. The sample has all operations of a path, so that created objects are also deleted. */
const testedPaths = new Set(takeSample([...new Set(sortedOperations.map(({ path }) => path))]))

test.each(sortedOperations.filter(({ path }) => testedPaths.has(path)))(
  '$method $path takes the same number of statements in both realms',
  async (operation) => {
    const counts: number[] = []
    for (const realm of realms) {
      const token = await withoutCounting.run(true, () => logIn(operation, realm))
      // Caches the keys and settings of master, which some operations change.
      await call('GET', '/admin/realms/master')
      const body = createRequestBody(operation, realm)
      const executedStatements = await statements(async () => {
        const { status, body: responseBody } = await call(operation.method, getPath(operation, realm), {
          ...(token !== undefined && { token }),
          ...(operation.body?.plain && { headers: { 'content-type': 'text/plain' } }),
          ...(body !== undefined && { body }),
        })
        expect(status, JSON.stringify(responseBody)).toBeLessThan(300)
      })
      counts.push(executedStatements.length)
    }
    if (counts[0] === 0) expect(withoutStatements).toContain(operation.operationId)
    expect(counts[1]).toBe(counts[0])
  },
)

/** The operations that need no statement if the caller, the realm and its user profile are cached. */
const withoutStatements = ['describeClient', 'getServerInfo', 'getUserProfile', 'getUserProfileMetadata']

/** Bodies of operations, by operation id, for which a sample of the schema is not valid or too small. */
const specialBodies: Readonly<Record<string, (realm: SizedRealm) => unknown>> = {
  createRealm: () => ({ realm: newName() }),
  updateRealm: () => ({ displayName: 'Other' }),
  describeClient: ({ size }) =>
    JSON.stringify({ clientId: 'described', redirectUris: createList(size, (at) => `https://${at}.example.org/*`) }),
  updateClientProfiles: ({ size }) => ({ profiles: createList(size, (at) => ({ name: `profile-${at}` })) }),
  updateClientPolicies: () => ({ policies: [] }),
  testSMTPConnection: () => createSmtpServer(),
  updateUserProfile: ({ size }) => ({
    attributes: ['username', 'email', ...createList(size, (at) => `attribute-${at}`)].map((name) => ({ name })),
  }),
  updateUsersUserId: ({ size }) => ({ email: `${LABEL}@example.org`, attributes: createAttributes(size + 1) }),
  labelUserCredential: () => 'blue key',
  resetUserPassword: () => ({ type: 'password', value: 'another password' }),
  disableUserCredentialTypes: () => ['password'],
  executeActionsEmail: () => ['VERIFY_EMAIL'],
  addFederatedIdentity: () => ({ userId: 'linked', userName: 'linked' }),
  createGroup: () => ({ name: 'created' }),
  createGroupChild: () => ({ name: 'created' }),
  updateGroupsGroupId: ({ size }) => ({ name: 'renamed', attributes: createAttributes(size) }),
  setLocalizationTexts: ({ size }) => Object.fromEntries(createList(size, (at) => [`other-${at}`, 'Text'])),
  setLocalizationText: () => 'Hello',
}

function createRequestBody(operation: Operation, realm: SizedRealm): unknown {
  const { operationId, path, body } = operation
  if (!body) return undefined
  const special = specialBodies[operationId]?.(realm)
  if (special !== undefined) return special
  if (/(composites|role-mappings\/(realm|clients\/\{client-id\}))$/.test(path))
    return realm.unused[path.includes('role-mappings/clients') ? 'client' : 'realm'].map((id) => ({ id }))
  return operation.method === 'PUT'
    ? createBody(operation, LABEL, { description: 'Other', attributes: createAttributes(realm.size) })
    : createBody(operation, 'created')
}

/** Returns the URL. Operations that repeat an earlier one use an unused role or client scope, since the first one is already deleted or assigned. */
function getPath({ operationId, path }: Operation, realm: SizedRealm): string {
  const unusedIds: Record<string, string> = {
    ...(operationId === 'deleteRolesByIdRoleId' && { 'role-id': realm.unused.realm[0]! }),
    ...(path.includes('default-optional') && { clientScopeId: realm.unused.clientScope }),
  }
  return toAddress(path, { value: (path, parameter) => unusedIds[parameter] ?? realm.value(path, parameter) })
}

/** Returns a token of an administrator of only this realm, so that permissions to grant roles are checked; undefined for operations on all realms. */
async function logIn({ path, operationId }: Operation, { name }: SizedRealm): Promise<string | undefined> {
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

/** Creates a realm with `size` objects of each kind, and runtime data for them. */
async function createSizedRealm(size: number): Promise<SizedRealm> {
  const createAll = <T>(createElement: (at: number) => T) => createList(size, createElement)
  const names = (prefix: string) => createAll((at) => `${prefix}-${at}`)
  const groupPaths = names(`/${LABEL}/wide`)
  const [roles, users, clients, providers] = ['role', 'member', 'client', 'provider'].map(names) as string[][]
  const roleMappings = { realmRoles: [LABEL], clientRoles: { [LABEL]: [LABEL] } }
  const allRoleMappings = { realmRoles: [LABEL, ...roles!], clientRoles: { [LABEL]: [LABEL, ...roles!] } }
  const password = await hashPassword('pw')
  const profile = (username: string) => ({
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
      defaultGroups: groupPaths,
      smtpServer: createSmtpServer(),
      editUsernameAllowed: true,
    },
    role: { composites: { realm: roles!, client: { [LABEL]: roles! } }, attributes: createAttributes(size) },
    group: { ...allRoleMappings, attributes: createAttributes(size) },
    user: {
      ...allRoleMappings,
      ...profile(LABEL),
      attributes: createAttributes(size),
      groups: groupPaths,
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
  const toRoles = (name: string) => [
    createSampleObject('role', name),
    { ...createSampleObject('role', name), key: ['client', LABEL, name] },
  ]
  const filled = await createFilledRealm(LABEL, (kind) => fields[kind] ?? {}, [
    ...[...roles!, ...names('unused')].flatMap(toRoles),
    createSampleObject('group', LABEL),
    createSampleObject('clientScope', 'unused'),
    ...groupPaths.map((path) => ({
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
        ...profile(name),
        ...roleMappings,
        groups: [toName('group', LABEL), ...groupPaths.slice(0, 3)],
      }),
    ),
    createSampleObject('user', 'administrator', {
      ...profile('administrator'),
      credentials: [password],
      clientRoles: { 'realm-management': ['realm-admin'] },
    }),
    createSampleObject('localization', 'en', {
      texts: Object.fromEntries([['greeting', 'Hi'], ...names('text').map((key) => [key, 'x'])]),
    }),
  ])
  await addRuntimeData(filled, size)
  const listUnusedIds = async (path: string) =>
    (await call('GET', `${toAddress(path, filled)}?search=unused`)).body.map(({ id }: { id: string }) => id)
  return {
    ...filled,
    size,
    unused: {
      realm: await listUnusedIds('/admin/realms/{realm}/roles'),
      client: await listUnusedIds('/admin/realms/{realm}/clients/{client-uuid}/roles'),
      clientScope: (await call('GET', `/admin/realms/${filled.name}/client-scopes`)).body.find(
        ({ name }: { name: string }) => name === 'unused',
      ).id,
    },
  }
}

/** Adds runtime data to a realm: sessions, login failures, user events and admin events. */
async function addRuntimeData(realm: FilledRealm, size: number): Promise<void> {
  const id = realm.value(USER, 'user-id')
  const client = realm.value('/admin/realms/{realm}/clients/{client-uuid}', 'client-uuid')
  const [row] = await service.findRealms([realm.name])
  const user = await service.read(SYSTEM, realm.name, (context) => getLiveUser(context, id))
  // Documents cannot nest groups this deep.
  const nestedGroups = createList(size, (at) => ({
    representation: { path: `/${LABEL}${'/nested'.repeat(at + 1)}` },
  }))
  await service.write(SYSTEM, realm.name, (context) => writers.group.create(context, nestedGroups))
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
  // An apply creates an admin event for each change.
  const laterRoles = createList(size, (at) => ({ name: `later-${at}` }))
  await applySource(service, createSource([{ realm: realm.name, roles: { realm: laterRoles } }], `${realm.name}-later`))
  await service.recordUserEvents(
    row!,
    createList(size, () => ({ type: 'LOGIN', user: id, client: LABEL })),
  )
}

function createSmtpServer() {
  return { host: '127.0.0.1', port: mailbox.port, from: 'regent@example.org' }
}

function createAttributes(count: number): Record<string, string[]> {
  return Object.fromEntries(createList(count, (at) => [`attribute-${at}`, ['one', 'two']]))
}

function createList<T>(count: number, createElement: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => createElement(at))
}
