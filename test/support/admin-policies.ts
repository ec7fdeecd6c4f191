// Realms with fine-grained admin permissions of version 2, and the tokens of their administrators.
import { logInWithPassword } from './password-login.ts'
import { testServer } from './server.ts'
import { newName } from './service.ts'

/** A permission: scopes of a resource type for the principals of a policy. */
export interface TestPermission {
  readonly resourceType: 'Clients' | 'Groups' | 'Organizations' | 'Roles' | 'Users'
  /** Names or ids of objects. Absent: all. */
  readonly resources?: readonly string[]
  readonly scopes: readonly string[]
  readonly policies: readonly string[]
}

/** A realm whose administrators have policies. */
export interface PolicyRealm {
  readonly realm: string
  /** Returns a path of the realm. */
  path(rest: string): string
  /** Returns the id of the object in a list with a value of a field. */
  findId(list: string, field: string, value: string): Promise<string>
  /** Creates a policy, and returns its id. */
  addPolicy(type: 'user' | 'role' | 'group', settings: object): Promise<string>
  addPermission(permission: TestPermission): Promise<string>
  logIn(username: string, clientId?: string): Promise<string>
}

/** A user with the password `pw`, and without required actions. */
export const toUser = (username: string, more: object = {}): object => ({
  username,
  email: `${username}@example.org`,
  firstName: 'A',
  lastName: 'B',
  enabled: true,
  credentials: [{ type: 'password', value: 'pw' }],
  ...more,
})

/** Creates a realm with fine-grained admin permissions of version 2. */
export async function createPolicyRealm(content: object): Promise<PolicyRealm> {
  const { call, createRealm } = await testServer()
  const realm = newName()
  await createRealm({ realm, accessTokenLifespan: 3600, adminPermissionsEnabled: true, ...content })
  const path = (rest: string) => `/admin/realms/${realm}${rest}`
  const findId = async (list: string, field: string, value: string): Promise<string> => {
    const { body } = await call('GET', path(list))
    return body.find((object: Record<string, unknown>) => object[field] === value).id
  }
  const client = await findId('/clients', 'clientId', 'admin-permissions')
  const create = async (rest: string, body: object): Promise<string> => {
    const response = await call('POST', path(`/clients/${client}/authz/resource-server${rest}`), { body })
    if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
    return response.body.id
  }
  return {
    realm,
    path,
    findId,
    addPolicy: (type, settings) => create(`/policy/${type}`, { name: newName(), ...settings }),
    addPermission: (permission) => create('/permission/scope', { name: newName(), resources: [], ...permission }),
    logIn: async (username, clientId = 'admin-cli') =>
      (await logInWithPassword(realm, { clientId, username, password: 'pw' })).body.access_token,
  }
}
