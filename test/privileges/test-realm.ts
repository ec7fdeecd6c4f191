// The model on the server: a realm with the ids of its objects, and tokens of the principals as which administrators can act.
import { ADMIN_PERMISSIONS } from '../../src/kinds/admin-permissions.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { type TestResponse, testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { createState, type InitialRealm } from './initial-state.ts'
import { DEFAULT_ROLE, LOGIN, MANAGEMENT, type Principal } from './model-state.ts'
import {
  createIds,
  type ModelKind,
  PASSWORD,
  POLICY,
  SETTINGS,
  toRealmDocument,
  toServiceAccountName,
  toSource,
} from './realm-document.ts'

/** A request with a path below that of the realm, or an absolute path. */
export type AdminRequest = readonly [method: string, path: string, body?: unknown]

/** A realm on the server whose objects have the names of the model. */
export interface TestRealm {
  /** The name of the realm on the server. */
  readonly name: string
  getId(kind: ModelKind, name: string): string
  /** Sets the id of a new object. */
  setId(kind: ModelKind, name: string, id: string): void
  /** The path of the policies about administrators. */
  readonly policies: string
  /** Sets the new secret of a client. */
  setSecret(client: string, secret: string): void
  /** Sends a request as a principal, or as an administrator with all permissions. */
  send(by: Principal | 'superuser', request: AdminRequest): Promise<TestResponse>
  /** Forgets the tokens that a client has got. */
  forgetTokens(client: string): void
  /** Gets a new token. */
  getToken(principal: Principal): Promise<string>
}

/** Creates the realm of an initial state. */
export async function createTestRealm(initial: InitialRealm): Promise<TestRealm> {
  const { call } = await testServer()
  const name = newName('model')
  const state = createState(initial)
  const document = { ...toRealmDocument(name, state), adminPermissionsEnabled: initial.version === 2 }
  const response = await call('POST', '/admin/realms', { body: document })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  const realm = connect(name, call, initial.version)
  await readIds(realm, state)
  await deleteRole(name, initial.missingRole)
  await addPolicies(realm, initial)
  const applied = await realm.send('superuser', ['POST', '/regent/v1/apply', toSource(name, 'first', state.declared)])
  if (applied.status !== 200) throw new Error(JSON.stringify(applied.body))
  return realm
}

type Call = Awaited<ReturnType<typeof testServer>>['call']

function connect(name: string, call: Call, version: InitialRealm['version']): TestRealm {
  const ids = new Map<string, string>()
  const secrets = new Map<string, string>()
  const tokens = new Map<string, string>()
  const getDefaultId = createIds(name)
  const realm: TestRealm = {
    name,
    getId: (kind, object) => ids.get(`${kind} ${object}`) ?? getDefaultId(kind, object),
    setId: (kind, object, id) => void ids.set(`${kind} ${object}`, id),
    get policies() {
      const client = realm.getId('client', version === 1 ? MANAGEMENT : ADMIN_PERMISSIONS)
      return `clients/${client}/authz/resource-server`
    },
    setSecret: (client, secret) => void secrets.set(client, secret),
    forgetTokens(client) {
      for (const key of [...tokens.keys()]) if (key.endsWith(` by ${client}`)) tokens.delete(key)
    },
    async getToken({ user, client }) {
      const { status, body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
        token: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          client_id: client,
          ...(client !== LOGIN && { client_secret: secrets.get(client) ?? client }),
          ...(user === toServiceAccountName(client)
            ? { grant_type: 'client_credentials' }
            : { grant_type: 'password', username: user, password: PASSWORD }),
        }).toString(),
      })
      if (status !== 200) throw new Error(`${user} by ${client}: ${status} ${JSON.stringify(body)}`)
      return body.access_token
    },
    async send(by, [method, path, body]) {
      const realmPath = `/admin/realms/${name}`
      const absolutePath = path.startsWith('/') ? path : path ? `${realmPath}/${path}` : realmPath
      const sendWith = (token?: string) => call(method, absolutePath, { ...(token && { token }), body })
      if (by === 'superuser') return sendWith()
      const key = `${by.user} by ${by.client}`
      const response = tokens.has(key) ? await sendWith(tokens.get(key)) : undefined
      // A change of the password ends the session of the token.
      if (response && response.status !== 401) return response
      tokens.set(key, await realm.getToken(by))
      return sendWith(tokens.get(key))
    },
  }
  return realm
}

/** Reads the ids of objects that the realm document does not set. */
async function readIds(realm: TestRealm, { users }: ReturnType<typeof createState>): Promise<void> {
  const get = async (path: string) => (await realm.send('superuser', ['GET', path])).body
  for (const { clientId, id } of await get('clients')) realm.setId('client', clientId, id)
  for (const { name, id } of await get(`clients/${realm.getId('client', MANAGEMENT)}/roles`))
    realm.setId('role', `${MANAGEMENT}/${name}`, id)
  realm.setId('role', DEFAULT_ROLE, (await get('')).defaultRole.id)
  for (const [name, { account }] of users) {
    if (account === undefined) continue
    realm.setId('user', name, (await get(`clients/${realm.getId('client', account)}/service-account-user`)).id)
  }
  const [withConfig] = await get(`authentication/flows/${SETTINGS.config}/executions`)
  const [withStep] = await get(`authentication/flows/${SETTINGS.step}/executions`)
  const flows: { readonly alias: string; readonly id: string }[] = await get('authentication/flows')
  realm.setId('setting', 'config', withConfig.authenticationConfig)
  realm.setId('setting', 'step', withStep.id)
  realm.setId('setting', 'flow', flows.find(({ alias }) => alias === SETTINGS.flow)!.id)
}

/** Adds a policy without permission, and lets one for the role of strong users give them some of the permissions that they have. */
async function addPolicies(realm: TestRealm, { version, strongRoles }: InitialRealm): Promise<void> {
  const send = async (...request: AdminRequest) => {
    const { status, body } = await realm.send('superuser', request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  const enabled =
    version === 1 ? await send('PUT', 'users-management-permissions', { enabled: true }) : { scopePermissions: {} }
  const users = [realm.getId('user', 'admin')]
  const { id } = await send('POST', `${realm.policies}/policy/user`, { name: POLICY, users })
  realm.setId('policy', POLICY, id)
  const role = await send('POST', `${realm.policies}/policy/role`, {
    name: 'strong',
    roles: [{ id: realm.getId('role', 'strong') }],
  })
  const scopes = strongRoles.includes('manage-users') ? ['view', 'manage'] : []
  if (!scopes.length) return
  const permission = { name: 'strong users', resourceType: 'Users', resources: [], scopes, policies: [role.id] }
  if (version === 2) return send('POST', `${realm.policies}/permission/scope`, permission)
  for (const scope of scopes) {
    const path = `${realm.policies}/permission/scope/${enabled.scopePermissions[scope]}`
    await send('PUT', path, { ...(await send('GET', path)), policies: [role.id] })
  }
}

/** Deletes an admin role. REST does not allow that, but realms without the role can be imported. */
async function deleteRole(realm: string, name: string): Promise<void> {
  const { service } = await testService()
  await service.write(SYSTEM, realm, async (context) => {
    const roles = await writers.role.list(context, { keys: [['client', MANAGEMENT, name]] })
    await writers.role.delete(context, roles)
  })
}
