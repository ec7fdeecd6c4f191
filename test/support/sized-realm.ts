// A realm with any number of objects of each kind, which an object named by LABEL refers to.
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { getLiveUser } from '../../src/service/admin-api/users/users.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { evaluateAttempt } from '../../src/service/login/brute-force-protection.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { APPLICATION } from './browser.ts'
import { createFilledRealm, createObjects, type FilledRealm, toAddress } from './filled-realm.ts'
import { createSampleObject, toName } from './samples.ts'
import { testServer } from './server.ts'
import { testService } from './service.ts'
import { applySource, createSource } from './sources.ts'

/** The name of the objects in URLs. */
export const LABEL = 'sample'
/** The names of further objects of each kind, for operations that repeat those of another path. */
export const SPARE_LABELS = ['second', 'third', 'fourth'] as const
export const USER = '/admin/realms/{realm}/users/{user-id}'
/** The only client whose tokens may request whoami. */
export const CONSOLE = 'security-admin-console'
/** The username of a user with all roles and groups, and with the password `pw` only. */
export const MEMBER = 'password-user'
export const ADMINISTRATOR = 'administrator'

/** A realm with `size` objects of each kind. */
export interface SizedRealm extends FilledRealm {
  readonly size: number
  /** Ids of roles to which no object refers. */
  readonly unusedRoles: { readonly realm: string[]; readonly client: string[] }
  readonly smtpServer: Representation
  /** Ids of the first steps of two workflows. The first one is due for `size` users. */
  readonly workflowSteps: readonly [string, string]
  /** The settings of a directory to test. */
  readonly directory: Representation
}

/** Creates a realm with `size` objects of each kind, and runtime data for them. */
export async function createSizedRealm(
  size: number,
  { smtpServer, directory }: Pick<SizedRealm, 'smtpServer' | 'directory'>,
): Promise<SizedRealm> {
  const more = createList(size, (at) => `more-${at}`)
  const credentials = [await hashPassword('pw')]
  const groupPaths = more.map((name) => `/${LABEL}/${name}`)
  const roles = more.map((name) => `role-${name}`)
  const unused = more.map((name) => `unused-${name}`)
  const fields = createFields(size, { more, roles, groupPaths, smtpServer })
  const roleMappings = { realmRoles: [LABEL], clientRoles: { [LABEL]: [LABEL] } }
  const fieldsOfMore = (name: string): Partial<Record<KindName, Representation>> => ({
    authenticationFlow: { topLevel: true },
    authorizationPolicy: { scopes: [LABEL], policies: ['leaf'] },
    organization: { identityProviders: [], members: [{ username: LABEL }] },
    user: { ...profile(name), ...roleMappings, groups: [toName('group', LABEL), ...groupPaths.slice(0, 3)] },
  })
  const filled = await createFilledRealm(LABEL, (kind) => fields[kind] ?? {}, [
    ...[...roles, ...unused].flatMap((name) => [
      createSampleObject('role', name),
      { ...createSampleObject('role', name), key: ['client', LABEL, name] },
    ]),
    { ...createSampleObject('authorizationPolicy', 'leaf'), key: ['client', LABEL, 'leaf'] },
    ...more.flatMap((name) => createObjects(name, (kind) => fieldsOfMore(name)[kind] ?? {}, LABEL)),
    ...SPARE_LABELS.flatMap((name) =>
      createObjects(name, (kind) => (kind === 'organization' ? { identityProviders: [] } : {})),
    ),
    ...groupPaths.map((path) => ({
      kind: 'group' as const,
      key: [path],
      representation: { path, ...roleMappings },
      path: [],
    })),
    createSampleObject('client', CONSOLE, {
      directAccessGrantsEnabled: true,
      serviceAccountsEnabled: false,
      authorizationServicesEnabled: false,
    }),
    createSampleObject('user', ADMINISTRATOR, {
      ...profile(ADMINISTRATOR),
      credentials,
      clientRoles: { 'realm-management': ['realm-admin'] },
    }),
    createSampleObject('user', MEMBER, { ...fields.user, ...profile(MEMBER), federatedIdentities: [], credentials }),
    createSampleObject('localization', 'en', {
      texts: Object.fromEntries([['greeting', 'Hi'], ...more.map((key) => [key, 'x'])]),
    }),
  ])
  await addRuntimeData(filled, size)
  await prepareOperations(filled)
  const { call } = await testServer()
  const listUnusedIds = async (path: string) =>
    (await call('GET', `${toAddress(path, filled)}?search=unused`)).body.map(({ id }: { id: string }) => id)
  return {
    ...filled,
    size,
    smtpServer,
    directory,
    unusedRoles: {
      realm: await listUnusedIds('/admin/realms/{realm}/roles'),
      client: await listUnusedIds('/admin/realms/{realm}/clients/{client-uuid}/roles'),
    },
    workflowSteps: await activateWorkflow(filled, size),
  }
}

/** Names of the objects of a realm, and its mail server. */
interface Names {
  readonly more: string[]
  readonly roles: string[]
  readonly groupPaths: string[]
  readonly smtpServer: Representation
}

/** Returns the fields of the realm and of the objects named by LABEL, which refer to `size` objects each. */
function createFields(
  size: number,
  { more, roles, groupPaths, smtpServer }: Names,
): Partial<Record<KindName, Representation>> {
  const attributes = createAttributes(size)
  const texts = Object.fromEntries(more.map((name) => [name, 'x']))
  const allRoles = { realm: roles, client: { [LABEL]: roles } }
  const allRoleMappings = { realmRoles: [LABEL, ...roles], clientRoles: { [LABEL]: [LABEL, ...roles] } }
  const credentials = (type: string, secretData: string) =>
    more.map((name) => ({ type, userLabel: `${type} ${name}`, secretData, credentialData: '{}' }))
  return {
    realm: {
      enabled: true,
      eventsEnabled: true,
      adminEventsEnabled: true,
      adminEventsDetailsEnabled: true,
      bruteForceProtected: true,
      defaultGroups: groupPaths,
      smtpServer,
      editUsernameAllowed: true,
      ...secretRotation,
    },
    role: { composites: allRoles, attributes },
    group: { ...allRoleMappings, attributes },
    clientScope: { scopeMappings: allRoles, attributes: texts },
    client: {
      secret: 'secret',
      directAccessGrantsEnabled: true,
      redirectUris: [APPLICATION, ...more.map((name) => `https://${name}.example.org/*`)],
      defaultClientScopes: ['basic', 'roles', 'profile', ...more],
      scopeMappings: allRoles,
      registeredNodes: { [LABEL]: 1 },
      attributes: texts,
    },
    authenticationFlow: {
      authenticationExecutions: ['identity-provider-redirector', ...more.map(() => 'auth-cookie')].map(
        (authenticator, at) => ({ authenticator, requirement: 'ALTERNATIVE', priority: at }),
      ),
    },
    organization: {
      members: [LABEL, ...more].map((username) => ({ username })),
      identityProviders: [LABEL, ...more].map((alias) => ({ alias })),
    },
    authorizationResource: { scopes: [LABEL, ...more] },
    authorizationPolicy: { scopes: [LABEL, ...more], policies: more },
    user: {
      ...allRoleMappings,
      ...profile(LABEL),
      attributes,
      groups: groupPaths,
      credentials: [...credentials('webauthn', '{}'), ...credentials('otp', '{"value":"x"}')],
      federatedIdentities: more.map((identityProvider) => ({ identityProvider, userId: 'x', userName: 'x' })),
      clientConsents: [LABEL, ...more].map((clientId) => ({ clientId, grantedClientScopes: [LABEL] })),
    },
  }
}

/** Client policies that keep the previous secret of a client. */
const secretRotation = {
  clientProfiles: [{ name: 'rotating', executors: [{ executor: 'secret-rotation', configuration: {} }] }],
  clientPolicies: [
    {
      name: 'rotate',
      enabled: true,
      conditions: [{ condition: 'any-client', configuration: {} }],
      profiles: ['rotating'],
    },
  ],
}

const profile = (username: string) => ({
  email: `${username}@example.org`,
  firstName: 'A',
  lastName: 'B',
  enabled: true,
})

/** Calls operations that others require: the realm has keys, a client has a rotated secret, and a required action is not registered. */
async function prepareOperations(realm: FilledRealm): Promise<void> {
  const { call } = await testServer()
  await call('GET', `/realms/${realm.name}/protocol/openid-connect/certs`)
  await call('POST', toAddress('/admin/realms/{realm}/clients/{client-uuid}/client-secret', realm))
  await call('DELETE', `/admin/realms/${realm.name}/authentication/required-actions/update_user_locale`)
}

/** Activates the workflow named by LABEL for `size` users. Returns the ids of its first step and of that of another workflow. */
async function activateWorkflow(realm: FilledRealm, size: number): Promise<[string, string]> {
  const { call } = await testServer()
  const users = await call('GET', `/admin/realms/${realm.name}/users?max=${size}`)
  const path = '/admin/realms/{realm}/workflows/{id}'
  const [workflow, another] = [toAddress(path, realm), toAddress(path, realm.withLabel(SPARE_LABELS[0]))]
  for (const { id } of users.body) await call('POST', `${workflow}/activate/USERS/${id}`)
  const steps = await Promise.all([workflow, another].map(async (url) => (await call('GET', url)).body.steps[0].id))
  return [steps[0], steps[1]]
}

/** Adds runtime data to a realm: sessions, login failures, user events and admin events. */
async function addRuntimeData(realm: FilledRealm, size: number): Promise<void> {
  const { service } = await testService()
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

/** Returns a number of attributes with two values each. */
export function createAttributes(count: number): Record<string, string[]> {
  return Object.fromEntries(createList(count, (at) => [`attribute-${at}`, ['one', 'two']]))
}

/** Returns a list of elements that are created by their position. */
export function createList<T>(count: number, createElement: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => createElement(at))
}
