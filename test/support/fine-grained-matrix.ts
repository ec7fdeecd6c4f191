// The recorded matrix of fine-grained admin permissions: administrators who each have one grant call operations on objects of their own
// and on foreign ones. The same calls are recorded from Keycloak and made to Regent.

/** A response of the server under test. */
export interface MatrixResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers have every form
  readonly body: any
}

/** Calls the server. `token`: of a limited administrator; default: the administrator of all realms. Bodies are JSON, but forms as URLSearchParams. */
export type MatrixCall = (
  method: string,
  path: string,
  request?: { readonly body?: unknown; readonly token?: string },
) => Promise<MatrixResponse>

/** The outcomes of all operations by administrator and operation: for each target, the status, and what a list contains. */
export type Matrix = Readonly<Record<string, Readonly<Record<string, string>>>>

type Target = 'own' | 'other'
const TARGETS: readonly Target[] = ['own', 'other']

/** Scopes of a type of objects, for the own object or for all objects of the type; `deny`: the policy denies. */
interface Grant {
  readonly type: string
  readonly scopes: readonly string[]
  readonly on: 'own' | 'all'
  readonly deny?: true
}

const grant = (text: string): Grant => {
  const [, deny, type, on, scopes] = /^(not )?(\w+) (own|all): (.+)$/.exec(text)!
  return { type: type!, on: on as Grant['on'], scopes: scopes!.split(', '), ...(deny && { deny: true as const }) }
}

/** The administrators of each version, by their grants, separated by semicolons. They may list users, groups and clients, unless they are without roles. */
export const administrators = {
  1: [
    'none',
    ...['view', 'manage', 'map-roles', 'manage-group-membership', 'impersonate'].map((scope) => `Users all: ${scope}`),
    ...['view', 'manage', 'view-members', 'manage-members', 'manage-membership'].map((scope) => `Groups own: ${scope}`),
    ...['view', 'manage', 'configure', 'map-roles', 'map-roles-client-scope', 'map-roles-composite'].map(
      (scope) => `Clients own: ${scope}`,
    ),
    ...['map-role', 'map-role-client-scope', 'map-role-composite'].map((scope) => `Roles own: ${scope}`),
    'Users all: map-roles; Roles own: map-role',
    'Users all: map-roles; Clients own: map-roles',
    'Groups own: manage-members; Roles own: map-role',
    'Groups own: manage-membership; Users all: manage-group-membership',
    'Clients own: manage; Roles own: map-role-client-scope',
    'Groups own: view, view-members',
    'not Users all: view; Groups own: view-members',
    'Users all: view, map-roles; Roles own: map-role',
    'Groups own: manage; Roles own: map-role',
    'Groups own: manage, view-members; Users all: manage-group-membership',
    'Clients own: manage, map-roles-client-scope, map-roles-composite; Roles own: map-role-composite',
    'without roles; Users all: view; Groups own: view; Clients own: view',
  ],
  2: [
    'none',
    ...['view', 'manage', 'map-roles', 'manage-group-membership', 'impersonate', 'reset-password'].flatMap((scope) => [
      `Users own: ${scope}`,
      `Users all: ${scope}`,
    ]),
    ...[
      'view',
      'manage',
      'view-members',
      'manage-members',
      'manage-membership',
      'manage-membership-of-members',
      'impersonate-members',
    ].flatMap((scope) => [`Groups own: ${scope}`, `Groups all: ${scope}`]),
    ...['view', 'manage', 'map-roles', 'map-roles-client-scope', 'map-roles-composite'].flatMap((scope) => [
      `Clients own: ${scope}`,
      `Clients all: ${scope}`,
    ]),
    ...['map-role', 'map-role-client-scope', 'map-role-composite'].flatMap((scope) => [
      `Roles own: ${scope}`,
      `Roles all: ${scope}`,
    ]),
    ...['view', 'manage'].flatMap((scope) => [`Organizations own: ${scope}`, `Organizations all: ${scope}`]),
    'Users own: map-roles; Roles own: map-role',
    'Users all: map-roles; Clients own: map-roles',
    'Groups own: manage-members; Roles own: map-role',
    'Groups own: manage-membership; Users own: manage-group-membership',
    'Groups own: manage-membership; Groups own: manage-membership-of-members',
    'Clients own: manage; Roles own: map-role-client-scope',
    'Users all: view; not Users own: view',
    'Users own: view; not Users all: view',
    'Users all: view; not Groups own: view-members',
    'not Users all: view; Groups own: view-members',
    'Groups all: view; not Groups own: view',
    'Groups own: view; Groups own: view-members',
    'Clients all: view; not Clients own: view',
    'Organizations own: manage; Users all: view',
    'Organizations own: view, manage',
    'Organizations all: view, manage; Users all: view',
    'Users own: manage; Users all: view',
    'Users own: view; not Users own: view',
    'Users all: view; not Users all: view',
    'Users own: view, manage, map-roles; Roles own: map-role',
    'Users all: view, manage, manage-group-membership; Groups all: view, manage-membership',
    'Users all: view; Users own: manage; not Groups all: view-members',
    'Groups own: view, manage; Roles own: map-role',
    'Groups all: view-members; not Groups own: view-members',
    'Groups own: view-members; not Groups all: view-members',
    'Clients own: view, manage, map-roles-client-scope, map-roles-composite; Roles own: map-role-composite',
    'without roles; Users own: view; Groups own: view; Clients own: view; Organizations own: view',
    'without roles; Users all: view; Groups all: view; Clients all: view; Organizations all: view',
  ],
} as const satisfies Record<number, readonly string[]>

/** The version of fine-grained admin permissions. */
export type Version = keyof typeof administrators

/** The ids of the objects by name, such as `own-group`. */
type Ids = Readonly<Record<string, string>>

const user = (username: string, more: object = {}) => ({
  username,
  email: `${username}@example.org`,
  firstName: 'A',
  lastName: 'B',
  enabled: true,
  emailVerified: true,
  credentials: [{ type: 'password', value: 'pw' }],
  ...more,
})

const WITHOUT_ROLES = 'without roles; '
const QUERY_ROLES = ['query-users', 'query-groups', 'query-clients', 'query-organizations']
const adminName = (at: number): string => `admin-${at}`

/** Returns the realm with the objects, and with the administrators. */
function createRealmBody(realm: string, version: Version): object {
  return {
    realm,
    enabled: true,
    accessTokenLifespan: 3600,
    organizationsEnabled: true,
    adminPermissionsEnabled: version === 2,
    groups: TARGETS.map((target) => ({ name: `${target}-group`, subGroups: [{ name: `${target}-branch` }] })),
    roles: {
      realm: TARGETS.map((target) => ({ name: `${target}-role` })),
      client: Object.fromEntries(TARGETS.map((target) => [`${target}-client`, [{ name: `${target}-client-role` }]])),
    },
    clients: TARGETS.map((target) => ({ clientId: `${target}-client`, secret: 'x', fullScopeAllowed: false })),
    users: [
      ...TARGETS.flatMap((target) => [
        user(`${target}-user`),
        user(`${target}-member`, { groups: [`/${target}-group`] }),
        user(`${target}-leaf`, { groups: [`/${target}-group/${target}-branch`] }),
      ]),
      ...administrators[version].map((title, at) =>
        user(
          adminName(at),
          title.startsWith(WITHOUT_ROLES) ? {} : { clientRoles: { 'realm-management': QUERY_ROLES } },
        ),
      ),
    ],
  }
}

/** Finds the ids of all objects. */
async function findIds(call: MatrixCall, path: string): Promise<Ids> {
  const list = async (rest: string, name: string, id = 'id'): Promise<[string, string][]> =>
    (await call('GET', `${path}${rest}`)).body.map((object: Record<string, string>) => [object[name]!, object[id]!])
  const groups = await list('/groups', 'name')
  const clients = await list('/clients', 'clientId')
  const ids: [string, string][] = [
    ...groups,
    ...clients,
    ...(await list('/users?max=1000', 'username')),
    ...(await list('/roles', 'name')),
    ...(await list('/organizations', 'name')),
  ]
  for (const target of TARGETS) {
    ids.push(...(await list(`/groups/${Object.fromEntries(groups)[`${target}-group`]}/children`, 'name')))
    ids.push(...(await list(`/clients/${Object.fromEntries(clients)[`${target}-client`]}/roles`, 'name')))
  }
  return Object.fromEntries(ids)
}

const OBJECTS: Readonly<Record<string, string>> = {
  Users: 'own-user',
  Groups: 'own-group',
  Clients: 'own-client',
  Roles: 'own-role',
  Organizations: 'own-org',
}

/** The paths of the permissions of version 1. */
const MANAGEMENT_PATHS: Readonly<Record<string, (ids: Ids) => string>> = {
  Users: () => '/users-management-permissions',
  Groups: (ids) => `/groups/${ids['own-group']}/management/permissions`,
  Clients: (ids) => `/clients/${ids['own-client']}/management/permissions`,
  Roles: () => '/roles/own-role/management/permissions',
}

/** The realm in which an administrator gets grants, and the address of the client with the policies. */
interface GrantedRealm {
  readonly path: string
  readonly ids: Ids
  readonly server: string
}

/** Gives an administrator their grants, by policies for the user. */
async function addGrants(
  call: MatrixCall,
  { path, ids, version }: { readonly path: string; readonly ids: Ids; readonly version: Version },
  at: number,
): Promise<void> {
  const text = administrators[version][at]!
  if (text === 'none') return
  const grants = text.replace(WITHOUT_ROLES, '').split('; ').map(grant)
  const client = version === 1 ? 'realm-management' : 'admin-permissions'
  const realm = { path, ids, server: `${path}/clients/${ids[client]}/authz/resource-server` }
  const permissions = version === 1 ? await enablePermissions(call, realm, grants) : undefined
  const createPolicy = async (logic: 'POSITIVE' | 'NEGATIVE') => {
    const body = { name: `${logic} for ${at}`, logic, users: [ids[adminName(at)]] }
    return (await requireSuccess(call('POST', `${realm.server}/policy/user`, { body }))).id
  }
  const policies = { positive: await createPolicy('POSITIVE'), negative: await createPolicy('NEGATIVE') }
  for (const [index, { type, scopes, on, deny }] of grants.entries()) {
    const policy = policies[deny ? 'negative' : 'positive']
    if (permissions) {
      for (const scope of scopes) await setPolicy(call, realm, { permission: permissions[type]![scope]!, policy })
      continue
    }
    const body = {
      name: `permission ${index} of ${at}`,
      resourceType: type,
      resources: on === 'own' ? [ids[OBJECTS[type]!]] : [],
      scopes,
      policies: [policy],
    }
    await requireSuccess(call('POST', `${realm.server}/permission/scope`, { body }))
  }
}

/** Enables the permissions of version 1 on the types of objects of grants. Returns the ids of the permissions by type and scope. */
async function enablePermissions(
  call: MatrixCall,
  { path, ids }: GrantedRealm,
  grants: readonly Grant[],
): Promise<Record<string, Record<string, string>>> {
  const permissions: Record<string, Record<string, string>> = {}
  for (const { type } of grants) {
    const enabled = await requireSuccess(call('PUT', path + MANAGEMENT_PATHS[type]!(ids), { body: { enabled: true } }))
    permissions[type] = enabled.scopePermissions
  }
  return permissions
}

/** Makes a policy the only one of a permission. */
async function setPolicy(
  call: MatrixCall,
  { server }: GrantedRealm,
  { permission, policy }: { readonly permission: string; readonly policy: string },
): Promise<void> {
  const current = await requireSuccess(call('GET', `${server}/permission/scope/${permission}`))
  const listIds = async (list: string, member: string) =>
    (await requireSuccess(call('GET', `${server}/policy/${permission}/${list}`))).map(
      (object: Record<string, string>) => object[member],
    )
  const [resources, scopes] = [await listIds('resources', '_id'), await listIds('scopes', 'id')]
  const body = { ...current, resources, scopes, policies: [policy] }
  await requireSuccess(call('PUT', `${server}/permission/scope/${permission}`, { body }))
}

/** Returns the body of a response. @throws Error if the call failed */
async function requireSuccess(response: Promise<MatrixResponse>): Promise<MatrixResponse['body']> {
  const { status, body } = await response
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** Calls as the limited administrator, and as the administrator of all realms to undo changes. */
interface Caller {
  readonly as: (method: string, path: string, body?: unknown) => Promise<MatrixResponse>
  readonly undo: (method: string, path: string, body?: unknown) => Promise<MatrixResponse>
  /** Logs the limited administrator in again: impersonation ends their session. */
  readonly logIn: () => Promise<void>
  readonly ids: Ids
}

/** Makes a call for a target and returns its outcome. */
type MatrixOperation = (caller: Caller, target: Target) => Promise<string>

const plain =
  (method: string, toPath: (ids: Ids, target: Target) => string, toBody?: (ids: Ids, target: Target) => unknown) =>
  async ({ as, ids }: Caller, target: Target) =>
    String((await as(method, toPath(ids, target), toBody?.(ids, target))).status)

/** Returns the status and the names in a list, but for those of administrators and built-in objects. */
const listing =
  (name: string, toPath: (ids: Ids, target: Target) => string) =>
  async ({ as, ids }: Caller, target: Target) => {
    const { status, body } = await as('GET', toPath(ids, target))
    if (status !== 200) return String(status)
    const names = body.map((object: Record<string, string>) => object[name])
    return `200 ${names.filter((text: string) => /^(own|other)-/.test(text)).sort()}`
  }

/** Makes a call, and undoes it if it succeeded. */
const undone =
  (
    [method, undoMethod]: readonly [string, string],
    toPath: (ids: Ids, target: Target) => string,
    toBody: (ids: Ids, target: Target) => unknown = () => undefined,
  ) =>
  async ({ as, undo, ids }: Caller, target: Target) => {
    const { status } = await as(method, toPath(ids, target), toBody(ids, target))
    if (status < 300) await undo(undoMethod, toPath(ids, target), toBody(ids, target))
    return String(status)
  }

/** Creates an object with a list path, and deletes it if that succeeded. */
const creating =
  (toPath: (ids: Ids, target: Target) => string, toBody: (ids: Ids, target: Target) => object, find: string) =>
  async ({ as, undo, ids }: Caller, target: Target) => {
    const { status } = await as('POST', toPath(ids, target), toBody(ids, target))
    if (status < 300) {
      const [list, name, item] = find.split(' ')
      const { body } = await undo('GET', list!.replace('{}', ids[`${target}-group`]!))
      const created = body.find((object: Record<string, string>) => object[name!] === 'new-object')
      await undo('DELETE', `${item}/${created.id}`)
    }
    return String(status)
  }

const role = (name: (target: Target) => string) => (ids: Ids, target: Target) => [
  { id: ids[name(target)], name: name(target) },
]
const ownRole = role(() => 'own-role')
const otherRole = role(() => 'other-role')
const ownClientRole = role(() => 'own-client-role')
const someUser = (ids: Ids, target: Target) => `/users/${ids[`${target}-user`]}`
const someMember = (ids: Ids, target: Target) => `/users/${ids[`${target}-member`]}`
const someGroup = (ids: Ids, target: Target) => `/groups/${ids[`${target}-group`]}`
const someBranch = (ids: Ids, target: Target) => `/groups/${ids[`${target}-branch`]}`
const someClient = (ids: Ids, target: Target) => `/clients/${ids[`${target}-client`]}`
const ADD = ['POST', 'DELETE'] as const
const JOIN = ['PUT', 'DELETE'] as const
const once = (operation: MatrixOperation) => (caller: Caller, target: Target) =>
  target === 'own' ? operation(caller, target) : Promise.resolve('')

/** The operations by title. Paths are below the realm. */
export const matrixOperations: Readonly<Record<string, MatrixOperation>> = {
  'list users': once(listing('username', () => '/users?max=100')),
  'search users': once(listing('username', () => '/users?search=-user&max=100')),
  'page of users': once(listing('username', () => '/users?first=1&max=2')),
  'count users': once(async ({ as }) => {
    const { status, body } = await as('GET', '/users/count')
    return `${status}${status === 200 ? ` ${body}` : ''}`
  }),
  'create a user': once(
    creating(
      () => '/users',
      () => ({ username: 'new-object' }),
      '/users?username=new-object username /users',
    ),
  ),
  'create a user in a group': creating(
    () => '/users',
    (_ids, target) => ({ username: 'new-object', groups: [`/${target}-group`] }),
    '/users?username=new-object username /users',
  ),
  ...Object.fromEntries(
    (
      [
        ['user', someUser],
        ['member', someMember],
        ['member of a subgroup', (ids, target) => `/users/${ids[`${target}-leaf`]}`],
      ] as const satisfies readonly (readonly [string, (ids: Ids, target: Target) => string])[]
    ).flatMap(([title, toPath]): [string, MatrixOperation][] => [
      [`get a ${title}`, plain('GET', toPath)],
      [
        `access to a ${title}`,
        async ({ as, ids }, target) => {
          const { status, body } = await as('GET', toPath(ids, target))
          const granted = Object.entries(body.access ?? {}).filter(([, value]) => value === true)
          return status === 200 ? `200 ${granted.map(([name]) => name).sort()}` : String(status)
        },
      ],
      [`update a ${title}`, plain('PUT', toPath, () => ({ firstName: 'A' }))],
      [
        `set the password of a ${title}`,
        plain(
          'PUT',
          (ids, target) => `${toPath(ids, target)}/reset-password`,
          () => ({ type: 'password', value: 'pw' }),
        ),
      ],
      [`groups of a ${title}`, listing('name', (ids, target) => `${toPath(ids, target)}/groups`)],
      [`roles of a ${title}`, plain('GET', (ids, target) => `${toPath(ids, target)}/role-mappings`)],
      [
        `available roles of a ${title}`,
        listing('name', (ids, target) => `${toPath(ids, target)}/role-mappings/realm/available`),
      ],
      [
        `give the own role to a ${title}`,
        undone(ADD, (ids, target) => `${toPath(ids, target)}/role-mappings/realm`, ownRole),
      ],
      [
        `give a foreign role to a ${title}`,
        undone(ADD, (ids, target) => `${toPath(ids, target)}/role-mappings/realm`, otherRole),
      ],
      [
        `give the role of the own client to a ${title}`,
        undone(
          ADD,
          (ids, target) => `${toPath(ids, target)}/role-mappings/clients/${ids['own-client']}`,
          ownClientRole,
        ),
      ],
      [`sessions of a ${title}`, plain('GET', (ids, target) => `${toPath(ids, target)}/sessions`)],
      [`credentials of a ${title}`, plain('GET', (ids, target) => `${toPath(ids, target)}/credentials`)],
      [`log out a ${title}`, plain('POST', (ids, target) => `${toPath(ids, target)}/logout`)],
      [
        `impersonate a ${title}`,
        async ({ as, logIn, ids }, target) => {
          const { status } = await as('POST', `${toPath(ids, target)}/impersonation`)
          if (status === 200) await logIn()
          return String(status)
        },
      ],
    ]),
  ),
  'a user joins the own group': undone(JOIN, (ids, target) => `${someUser(ids, target)}/groups/${ids['own-group']}`),
  'a user joins a foreign group': undone(
    JOIN,
    (ids, target) => `${someUser(ids, target)}/groups/${ids['other-group']}`,
  ),
  'a member leaves the group': async ({ as, undo, ids }, target) => {
    const path = `${someMember(ids, target)}/groups/${ids[`${target}-group`]}`
    const { status } = await as('DELETE', path)
    if (status < 300) await undo('PUT', path)
    return String(status)
  },
  'list groups': once(listing('name', () => '/groups')),
  'search groups': once(listing('name', () => '/groups?search=branch')),
  'count groups': once(async ({ as }) => {
    const { status, body } = await as('GET', '/groups/count')
    return `${status}${status === 200 ? ` ${body.count}` : ''}`
  }),
  'create a group': once(
    creating(
      () => '/groups',
      () => ({ name: 'new-object' }),
      '/groups?search=new-object&exact=true name /groups',
    ),
  ),
  'create a subgroup': creating(
    (ids, target) => `${someGroup(ids, target)}/children`,
    () => ({ name: 'new-object' }),
    '/groups/{}/children name /groups',
  ),
  'get a group': plain('GET', someGroup),
  'access to a group': async ({ as, ids }, target) => {
    const { status, body } = await as('GET', someGroup(ids, target))
    const granted = Object.entries(body.access ?? {}).filter(([, value]) => value === true)
    return status === 200 ? `200 ${granted.map(([name]) => name).sort()}` : String(status)
  },
  'get a subgroup': plain('GET', someBranch),
  'children of a group': listing('name', (ids, target) => `${someGroup(ids, target)}/children`),
  'update a group': plain('PUT', someGroup, (_ids, target) => ({ name: `${target}-group` })),
  'members of a group': listing('username', (ids, target) => `${someGroup(ids, target)}/members`),
  'roles of a group': plain('GET', (ids, target) => `${someGroup(ids, target)}/role-mappings`),
  'give the own role to a group': undone(
    ADD,
    (ids, target) => `${someGroup(ids, target)}/role-mappings/realm`,
    ownRole,
  ),
  'give the role of the own client to a group': undone(
    ADD,
    (ids, target) => `${someGroup(ids, target)}/role-mappings/clients/${ids['own-client']}`,
    ownClientRole,
  ),
  'list clients': once(listing('clientId', () => '/clients')),
  'create a client': once(
    creating(
      () => '/clients',
      () => ({ clientId: 'new-object' }),
      '/clients?clientId=new-object clientId /clients',
    ),
  ),
  'get a client': plain('GET', someClient),
  'access to a client': async ({ as, ids }, target) => {
    const { status, body } = await as('GET', someClient(ids, target))
    const granted = Object.entries(body.access ?? {}).filter(([, value]) => value === true)
    return status === 200 ? `200 ${granted.map(([name]) => name).sort()}` : String(status)
  },
  'update a client': plain('PUT', someClient, (_ids, target) => ({ clientId: `${target}-client`, name: 'A' })),
  'switch on the full scope of a client': async ({ as, undo, ids }, target) => {
    const clientId = `${target}-client`
    const { status } = await as('PUT', someClient(ids, target), { clientId, fullScopeAllowed: true })
    if (status < 300) await undo('PUT', someClient(ids, target), { clientId, fullScopeAllowed: false })
    return String(status)
  },
  'secret of a client': plain('GET', (ids, target) => `${someClient(ids, target)}/client-secret`),
  'roles of a client': listing('name', (ids, target) => `${someClient(ids, target)}/roles`),
  'update a client role': plain(
    'PUT',
    (ids, target) => `${someClient(ids, target)}/roles/${target}-client-role`,
    (_ids, target) => ({ name: `${target}-client-role` }),
  ),
  'add the own role to the scope of a client': undone(
    ADD,
    (ids, target) => `${someClient(ids, target)}/scope-mappings/realm`,
    ownRole,
  ),
  'add a foreign role to the scope of a client': undone(
    ADD,
    (ids, target) => `${someClient(ids, target)}/scope-mappings/realm`,
    otherRole,
  ),
  'add the role of the own client to the scope of a client': undone(
    ADD,
    (ids, target) => `${someClient(ids, target)}/scope-mappings/clients/${ids['own-client']}`,
    ownClientRole,
  ),
  'list roles': once(listing('name', () => '/roles')),
  'get a role': plain('GET', (_ids, target) => `/roles/${target}-role`),
  'update a role': plain(
    'PUT',
    (_ids, target) => `/roles/${target}-role`,
    (_ids, target) => ({ name: `${target}-role` }),
  ),
  'users with a role': plain('GET', (_ids, target) => `/roles/${target}-role/users`),
  'add the role of the own client to a role': undone(
    ADD,
    (_ids, target) => `/roles/${target}-role/composites`,
    ownClientRole,
  ),
  'add the own role to a client role': undone(
    ADD,
    (ids, target) => `${someClient(ids, target)}/roles/${target}-client-role/composites`,
    ownRole,
  ),
  'list organizations': once(listing('name', () => '/organizations')),
  'get an organization': plain('GET', (ids, target) => `/organizations/${ids[`${target}-org`]}`),
  'update an organization': plain(
    'PUT',
    (ids, target) => `/organizations/${ids[`${target}-org`]}`,
    (_ids, target) => ({ name: `${target}-org`, alias: `${target}-org`, domains: [{ name: `${target}.example.org` }] }),
  ),
  'members of an organization': plain('GET', (ids, target) => `/organizations/${ids[`${target}-org`]}/members`),
  'create an organization': once(
    creating(
      () => '/organizations',
      () => ({ name: 'new-object', domains: [{ name: 'new.example.org' }] }),
      '/organizations?search=new-object name /organizations',
    ),
  ),
  'get the realm': once(async ({ as }) => {
    const { status, body } = await as('GET', '')
    return `${status} ${Object.keys(body).length > 5 ? 'whole' : 'brief'}`
  }),
}

/** Creates the realm of an administrator, and returns the outcomes of all operations that they call. */
async function runAdministrator(
  call: MatrixCall,
  { realm, version, at }: { readonly realm: string; readonly version: Version; readonly at: number },
): Promise<Record<string, string>> {
  const path = `/admin/realms/${realm}`
  const created = await call('POST', '/admin/realms', { body: createRealmBody(realm, version) })
  if (created.status !== 201) throw new Error(`${realm}: ${created.status} ${JSON.stringify(created.body)}`)
  for (const target of TARGETS) {
    const body = { name: `${target}-org`, alias: `${target}-org`, domains: [{ name: `${target}.example.org` }] }
    await call('POST', `${path}/organizations`, { body })
  }
  const ids = await findIds(call, path)
  await addGrants(call, { path, ids, version }, at)
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: 'admin-cli',
    username: adminName(at),
    password: 'pw',
  })
  let token = ''
  const logIn = async () => {
    const { body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, { body: form })
    token = body.access_token
  }
  await logIn()
  const caller: Caller = {
    ids,
    logIn,
    as: (method, rest, body) => call(method, `${path}${rest}`, { token, ...(body !== undefined && { body }) }),
    undo: (method, rest, body) => call(method, `${path}${rest}`, { ...(body !== undefined && { body }) }),
  }
  const outcomes: Record<string, string> = {}
  for (const [title, operation] of Object.entries(matrixOperations)) {
    const results = []
    for (const target of TARGETS) results.push(await operation(caller, target))
    outcomes[title] = results.filter(Boolean).join(' | ')
  }
  await call('DELETE', path)
  return outcomes
}

/** Returns the outcomes of all operations, called by administrators of a version. `only`: those at these positions. */
export async function runMatrix(
  call: MatrixCall,
  { realm, version, only }: { readonly realm: string; readonly version: Version; readonly only?: readonly number[] },
): Promise<Matrix> {
  const matrix: Record<string, Record<string, string>> = {}
  for (const [at, title] of administrators[version].entries())
    if (only?.includes(at) ?? true)
      matrix[title] = await runAdministrator(call, { realm: `${realm}-${at}`, version, at })
  return matrix
}

/** The administrator without grants. */
const NONE = 'none'

/** Returns a matrix without the outcomes that are those of the administrator without grants. */
export function compactMatrix(matrix: Matrix): Matrix {
  const isGranted = ([operation, outcome]: [string, string]) => outcome !== matrix[NONE]![operation]
  const compact = (outcomes: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(outcomes).filter(isGranted))
  return Object.fromEntries(
    Object.entries(matrix).map(([title, outcomes]) => [title, title === NONE ? outcomes : compact(outcomes)]),
  )
}

/** Returns all outcomes of an administrator of a compacted matrix. */
export function expandOutcomes(matrix: Matrix, title: string): Readonly<Record<string, string>> {
  return { ...matrix[NONE], ...matrix[title] }
}
