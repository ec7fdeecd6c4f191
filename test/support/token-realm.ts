// A realm with protocol mappers of every type, and requests for tokens. Both work in the same way on Keycloak and Regent.

/** Functions to call a server: as administrator with JSON, and as an application with a form or a token. */
export interface TokenServer {
  admin(method: string, path: string, body?: object): Promise<{ location?: string | undefined; body: unknown }>
  form(path: string, form: Record<string, string>): Promise<Record<string, unknown>>
  userInfo(path: string, token: string): Promise<Record<string, unknown>>
  /** Logs a user in on the page of the address, and returns the parameters of the response to the application. */
  logIn(address: string, fields: Record<string, string>): Promise<URLSearchParams>
}

/** The responses of a server in one case. */
export type TokenResponses = Readonly<Record<string, unknown>>

type Config = Record<string, string>

const everywhere: Config = {
  'access.token.claim': 'true',
  'id.token.claim': 'true',
  'userinfo.token.claim': 'true',
  'introspection.token.claim': 'true',
}
const many: Config = { multivalued: 'true', 'jsonType.label': 'String' }

const id = (number: number) => `10000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const mapper = (name: string, type: string, config: Config = {}, flags = everywhere) => ({
  name,
  protocol: 'openid-connect',
  protocolMapper: `oidc-${type}-mapper`,
  config: { ...flags, ...config },
})

const attribute = (claim: string, name: string, type?: string, more: Config = {}) =>
  mapper(`${claim} ${type}`, 'usermodel-attribute', {
    'user.attribute': name,
    'claim.name': claim,
    ...(type && { 'jsonType.label': type }),
    ...more,
  })

const hardcoded = (claim: string, value = 'hard', type = 'String', more: Config = {}) =>
  mapper(`${claim} ${type}`, 'hardcoded-claim', {
    'claim.name': claim,
    'claim.value': value,
    'jsonType.label': type,
    ...more,
  })

const roles = (claim: string, more: Config = {}) => {
  const type = more.client === undefined ? 'usermodel-realm-role' : 'usermodel-client-role'
  const { client, prefix, ...rest } = more
  return mapper(`roles ${claim} ${client}`, type, {
    ...many,
    'claim.name': claim,
    ...(client && { 'usermodel.clientRoleMapping.clientId': client }),
    ...(prefix && {
      'usermodel.clientRoleMapping.rolePrefix': prefix,
      'usermodel.realmRoleMapping.rolePrefix': prefix,
    }),
    ...rest,
  })
}

const EACH = '$' + '{client_id}'
const roleMappers = [
  roles('realm_access.roles'),
  roles(`resource_access.${EACH}.roles`, { client: '' }),
  mapper('audience resolve', 'audience-resolve'),
]
const rename = (role: string, to: string) => mapper(`rename ${role}`, 'role-name', { role, 'new.role.name': to }, {})
const hardcodedRole = (role: string) => mapper(`give ${role}`, 'hardcoded-role', { role }, {})
const organization = (claim: string, more: Config) =>
  mapper(`organization ${claim}`, 'organization-membership', { 'claim.name': claim, ...more })

const ownAudience = (clientId: string) =>
  mapper(
    'itself',
    'audience',
    { 'included.client.audience': clientId, 'lightweight.claim': 'true' },
    { 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
  )

const FLAGGED = ['acr', 'address', 'allowed-origins', 'amr', 'audience-resolve', 'full-name', 'session-state', 'sub']

interface TestClient {
  readonly protocolMappers?: readonly object[]
  /** The client is not in the audience of its own tokens. */
  readonly alone?: true
  readonly [field: string]: unknown
}

const clients: Readonly<Record<string, TestClient>> = {
  api: { bearerOnly: true, directAccessGrantsEnabled: false },
  'dotted.client': {},
  off: { enabled: false },
  plain: {
    defaultClientScopes: undefined,
    optionalClientScopes: undefined,
    rootUrl: 'https://root.example.org',
    webOrigins: ['+', 'https://other.example.org'],
    redirectUris: ['https://app.example.org:8443/*', '/relative/*', 'http://localhost/cb', 'custom:/x'],
  },
  narrow: {
    fullScopeAllowed: false,
    defaultClientScopes: ['basic', 'roles', 'profile'],
    optionalClientScopes: ['email', 'phone', 'address', 'offline_access', 'microprofile-jwt'],
  },
  bare: { defaultClientScopes: [] },
  attributes: {
    protocolMappers: [
      ...['long', 'int', 'String', 'JSON', 'float'].map((type) => attribute(`age_${type}`, 'age', type)),
      attribute('age_untyped', 'age'),
      attribute('bool', 'admin', 'boolean'),
      attribute('bool_word', 'word', 'boolean'),
      attribute('json', 'json', 'JSON'),
      attribute('list', 'list', 'JSON'),
      attribute('json_word', 'word', 'JSON'),
      attribute('json_broken', 'broken', 'JSON'),
      attribute('int_word', 'word', 'int'),
      attribute('int_decimal', 'decimal', 'long'),
      attribute('int_large', 'large', 'int'),
      attribute('long_large', 'large', 'long'),
      attribute('tags', 'tags', 'String', { multivalued: 'true' }),
      attribute('tag', 'tags', 'String'),
      attribute('ages', 'age', 'int', { multivalued: 'true' }),
      attribute('missing', 'missing', 'String'),
      attribute('missings', 'missing', 'String', { multivalued: 'true' }),
      attribute('a.b.c', 'word', 'String'),
      attribute('a.b.d', 'age', 'int'),
      attribute('x\\.y.z', 'word', 'String'),
      attribute('p\\\\q', 'word', 'String'),
      attribute('trail.', 'word', 'String'),
      attribute('.lead', 'word', 'String'),
      attribute('dou..ble', 'word', 'String'),
      attribute('floor', 'floor', 'int'),
      attribute('city', 'city', 'String'),
      attribute('cities', 'city', 'String', { multivalued: 'true' }),
      attribute('level', 'level', 'String'),
      attribute('motto', 'motto', 'String', { multivalued: 'true' }),
      attribute('mottos', 'motto', 'String', { multivalued: 'true', 'aggregate.attrs': 'true' }),
      attribute('u_name', 'username', 'String'),
      attribute('u_email', 'email', 'String'),
      attribute('u_first', 'firstName', 'String'),
      attribute('u_verified', 'emailVerified', 'boolean'),
      attribute('', 'word', 'String'),
      attribute('aa', 'word', 'String'),
      attribute('aa.nested', 'word', 'String'),
    ],
  },
  properties: {
    protocolMappers: [
      ...['username', 'email', 'firstName', 'lastName', 'emailVerified', 'enabled', 'id', 'federationLink'],
      ...['serviceAccountClientLink', 'nowhere', 'word'],
    ].map((name) =>
      mapper(name, 'usermodel-property', { 'user.attribute': name, 'claim.name': name, 'jsonType.label': 'String' }),
    ),
  },
  claims: {
    protocolMappers: [
      ...['iss', 'exp', 'iat', 'jti', 'typ', 'acr', 'scope', 'nonce', 'auth_time', 'session_state', 'name'],
      ...['client_id', 'active', 'token_type', 'permissions', 'phone_number', 'category', 'act', 'groups', 's_hash'],
    ].map((claim) => hardcoded(claim)),
  },
  'claim-numbers': {
    protocolMappers: [
      ...['exp', 'iat', 'auth_time', 'updated_at'].map((claim) => hardcoded(claim, '5', 'long')),
      hardcoded('email_verified', 'true', 'boolean'),
    ],
  },
  'claim-sub': { protocolMappers: [hardcoded('sub')] },
  'claim-aud': { protocolMappers: [hardcoded('aud')], alone: true },
  'claim-aud-list': { protocolMappers: [attribute('aud', 'tags', 'String', { multivalued: 'true' })], alone: true },
  'claim-azp': { protocolMappers: [hardcoded('azp')] },
  'claim-sid': { protocolMappers: [hardcoded('sid')] },
  roles: {
    protocolMappers: [
      ...roleMappers,
      roles('prefixed', { prefix: 'r_' }),
      roles('api', { client: 'api', prefix: 'c_' }),
      roles('flat', { client: '' }),
      roles(`place.${EACH}.x`, { client: '' }),
      roles('nowhere', { client: 'nowhere' }),
      roles('all'),
      roles('all', { client: '', prefix: `${EACH}_` }),
      roles('single', { client: 'dotted.client', multivalued: 'false' }),
      roles(`named.${EACH}`, { client: 'dotted.client' }),
      mapper('groups', 'group-membership', { 'claim.name': 'groups and roles' }),
      roles('groups and roles'),
    ],
  },
  'given-roles': {
    fullScopeAllowed: false,
    protocolMappers: [...roleMappers, hardcodedRole('given'), hardcodedRole('api.given')],
  },
  'renamed-roles': {
    protocolMappers: [
      ...roleMappers,
      rename('staff', 'people'),
      rename('reader', 'books.reader'),
      rename('api.read', 'api.see'),
      rename('api.write', 'scribe'),
      rename('missing', 'never'),
      rename('dotted.client.use', 'dotted.client.used'),
      rename('dotted.role', 'never'),
      hardcodedRole('other.given'),
    ],
  },
  audience: {
    protocolMappers: [
      mapper('both', 'audience', { 'included.client.audience': 'api', 'included.custom.audience': 'ignored' }),
      mapper('custom', 'audience', { 'included.custom.audience': 'custom' }),
      mapper('nowhere', 'audience', { 'included.client.audience': 'nowhere' }),
      mapper('off', 'audience', { 'included.client.audience': 'off' }),
      mapper('nothing', 'audience'),
      mapper('again', 'audience', { 'included.client.audience': 'api' }),
    ],
  },
  light: {
    attributes: { 'client.use.lightweight.access.token.enabled': 'true' },
    defaultClientScopes: ['basic', 'roles', 'profile', 'acr', 'web-origins'],
    webOrigins: ['https://other.example.org'],
    protocolMappers: [
      attribute('word', 'word', 'String', { 'lightweight.claim': 'true' }),
      attribute('unsaid', 'word', 'String'),
      attribute('only', 'word', 'String', { 'lightweight.claim': 'true', 'access.token.claim': 'false' }),
    ],
  },
  misc: {
    protocolMappers: [
      mapper('full name', 'full-name'),
      mapper('address', 'address', { 'user.attribute.region': 'word' }),
      mapper('paths', 'group-membership', { 'claim.name': 'paths', 'full.path': 'true' }),
      mapper('names', 'group-membership', { 'claim.name': 'names', 'full.path': 'false' }),
      mapper('groups', 'group-membership', { 'claim.name': 'groups', multivalued: 'false' }),
      mapper('note', 'usersessionmodel-note', { 'user.session.note': 'AUTH_TIME', 'claim.name': 'note' }),
      ...['session-state', 'acr', 'amr', 'nonce-backwards-compatible', 'claims-param-token'].map((type) =>
        mapper(type, type),
      ),
      mapper('wished', 'claims-param-value-idtoken', { 'claim.name': 'wished' }),
      hardcoded('answer', 'x', 'String', { 'access.tokenResponse.claim': 'true' }),
      hardcoded('deep.answer', '5', 'int', { 'access.tokenResponse.claim': 'true', 'access.token.claim': 'false' }),
      hardcoded('scope', 'x', 'String', { 'access.tokenResponse.claim': 'true' }),
      hardcoded('hard.json', '{"a":1}', 'JSON'),
      hardcoded('hard.none', ''),
    ],
  },
  pairwise: {
    protocolMappers: [mapper('pairwise', 'sha256-pairwise-sub', { pairwiseSubAlgorithmSalt: 'salt' }, {})],
  },
  organization: { defaultClientScopes: ['basic', 'organization'] },
  organizations: {
    optionalClientScopes: ['organization'],
    protocolMappers: [
      organization('detailed', {
        ...{ multivalued: 'true', 'jsonType.label': 'JSON' },
        ...{ addOrganizationId: 'true', addOrganizationAttributes: 'true' },
      }),
      organization('with_id', { ...many, addOrganizationId: 'true' }),
      organization('json', { multivalued: 'true', 'jsonType.label': 'JSON' }),
      organization('single_id', { multivalued: 'false', 'jsonType.label': 'JSON', addOrganizationId: 'true' }),
      organization('domain', { multivalued: 'true', 'jsonType.label': 'JSON', addOrganizationDomain: 'true' }),
      organization('unset', {}),
    ],
  },
  'organization-groups': {
    defaultClientScopes: ['basic', 'organization'],
    protocolMappers: [mapper('groups', 'organization-group-membership')],
  },
  unset: {
    ...{ defaultClientScopes: [], webOrigins: ['https://w.example.org'] },
    protocolMappers: FLAGGED.map((type) => mapper(type, type, {}, {})),
  },
  half: {
    ...{ defaultClientScopes: [], webOrigins: ['https://w.example.org'] },
    protocolMappers: FLAGGED.map((type) =>
      mapper(type, type, {}, { 'id.token.claim': 'true', 'access.token.claim': 'false' }),
    ),
  },
  service: {
    serviceAccountsEnabled: true,
    defaultClientScopes: ['basic', 'roles', 'service_account', 'profile'],
  },
  levels: { defaultClientScopes: ['acr'], attributes: { 'acr.loa.map': '{"gold":"1","copper":"0","lead":"3"}' } },
}

/** The cases: client, user (`self`: the client itself), and scope. */
export const tokenCases: readonly string[] = [
  'plain ann openid',
  'plain bob openid',
  'plain ann openid phone address',
  'narrow ann openid',
  'narrow ann openid forWriters email',
  'narrow ann email forWriters offline_access',
  'narrow bob openid forWriters',
  'narrow bob openid offline_access',
  'narrow ann openid microprofile-jwt phone address',
  'narrow ann openid nowhere',
  'bare ann openid',
  'attributes ann openid',
  'attributes bob openid',
  'properties ann openid',
  'claims ann openid',
  'claim-numbers ann openid',
  'claim-sub ann openid',
  'claim-aud ann openid',
  'claim-aud-list ann openid',
  'claim-azp ann openid',
  'claim-sid ann openid',
  'roles ann openid',
  'roles bob openid',
  'given-roles ann openid',
  'renamed-roles ann openid',
  'audience ann openid',
  'light ann openid',
  'misc ann openid',
  'misc bob openid',
  'misc ann+browser openid',
  'organizations ann+browser openid organization:acme',
  'pairwise ann openid',
  'organization ann openid',
  'organization bob openid',
  'organization ann openid organization:acme',
  'organizations bob openid organization',
  'organizations ann openid organization:*',
  'organizations ann openid organization:acme organization:bolt',
  'organizations bob openid organization:acme organization:bolt',
  'organizations bob openid organization:acme',
  'organizations ann openid organization organization:acme',
  'organizations ann openid organization:acme organization:*',
  'organizations ann openid organization:closed',
  'organizations ann openid organization:nowhere',
  'bare ann organization:acme',
  'organization-groups ann openid',
  'organization-groups ann openid organization:*',
  'organization-groups bob openid',
  'unset ann openid',
  'half ann openid',
  'service self',
  'service self openid',
  'levels ann openid',
]

const users = [
  {
    username: 'ann',
    emailVerified: true,
    firstName: 'Ann',
    lastName: 'Example',
    attributes: {
      ...{ age: ['42'], admin: ['true'], tags: ['b', 'a'], word: ['hello'], decimal: ['1.5'], broken: ['{not json'] },
      ...{ json: ['{"a":[1,2],"b":null}'], list: ['[1,"2"]'], large: ['12345678901234'], motto: ['own'] },
      ...{ street: ['Main Street 1'], locality: ['Bern'], country: ['CH'], locale: ['de'] },
      ...{ phoneNumber: ['+41'], phoneNumberVerified: ['true'], birthdate: ['2000-01-01'] },
    },
    clientRoles: { 'dotted.client': ['use'] },
    groups: ['/company/team', '/club'],
  },
  { username: 'bob', firstName: 'Bob', lastName: 'Bare' },
]

function content(realm: string): object {
  return {
    realm,
    enabled: true,
    organizationsEnabled: true,
    attributes: { 'acr.loa.map': '{"bronze":"1","silver":"2"}' },
    roles: {
      realm: [
        { name: 'staff', composite: true, composites: { realm: ['reader'], client: { api: ['read'] } } },
        ...['reader', 'manager', 'auditor', 'dotted.role'].map((name) => ({ name })),
      ],
      client: {
        api: [
          ...['read', 'write'].map((name) => ({ name })),
          { name: 'admin', composite: true, composites: { client: { api: ['read', 'write'] } } },
        ],
        'dotted.client': [{ name: 'use' }],
      },
    },
    groups: [
      {
        name: 'company',
        attributes: { floor: ['1'], motto: ['work', 'rest'], city: ['Bern'] },
        realmRoles: ['auditor'],
        subGroups: [{ name: 'team', attributes: { motto: ['play'], level: ['7'] }, clientRoles: { api: ['admin'] } }],
      },
      { name: 'club', attributes: { motto: ['play', 'sing'], city: ['Basel'] } },
    ],
    users: users.map((user, at) => ({
      ...user,
      id: id(at + 1),
      enabled: true,
      email: `${user.username}@example.org`,
      credentials: [{ type: 'password', value: 'pw' }],
      realmRoles: user.username === 'ann' ? [`default-roles-${realm}`, 'staff', 'dotted.role'] : [],
    })),
    organizations: [
      { alias: 'acme', attributes: { size: ['big'], id: ['mine'] }, members: ['ann'] },
      { alias: 'bolt', members: ['ann', 'bob'] },
      { alias: 'closed', enabled: false, members: ['ann'] },
    ].map(({ members, ...organization }, at) => ({
      enabled: true,
      ...organization,
      id: id(at + 50),
      name: organization.alias,
      domains: [{ name: organization.alias === 'acme' ? 'example.org' : `${organization.alias}.example.org` }],
      members: members.map((username) => ({ username, membershipType: 'UNMANAGED' })),
    })),
    clients: Object.entries(clients).map(([clientId, { alone, ...client }], at) => ({
      id: id(at + 100),
      clientId,
      enabled: true,
      secret: 'secret',
      directAccessGrantsEnabled: true,
      redirectUris: ['https://app.example.org/*'],
      fullScopeAllowed: true,
      defaultClientScopes: ['basic'],
      optionalClientScopes: [],
      ...client,
      // A client may introspect tokens for itself as audience only.
      protocolMappers: [...(client.protocolMappers ?? []), ...(alone ? [] : [ownAudience(clientId)])],
    })),
  }
}

const scopes: readonly [name: string, included: string | undefined, role?: string][] = [
  ['silent', 'false'],
  ['unsaid', undefined],
  ['forManagers', 'true', 'manager'],
  ['forReaders', 'true', 'reader'],
  ['forWriters', 'true', 'api/write'],
]

/** Creates the realm. */
export async function createTokenRealm({ admin }: TokenServer, realm: string): Promise<void> {
  const path = `/admin/realms/${realm}`
  const narrow = `${path}/clients/${id(100 + Object.keys(clients).indexOf('narrow'))}`
  await admin('POST', '/admin/realms', content(realm))
  const role = async (name: string) => {
    const [client, clientRole] = name.split('/')
    const holder = clientRole ? `clients/${id(100)}` : ''
    return (await admin('GET', `${path}/${holder}/roles/${clientRole ?? client}`.replace('//', '/'))).body as object
  }
  for (const [name, included, requiredRole] of scopes) {
    const { location } = await admin('POST', `${path}/client-scopes`, {
      name,
      protocol: 'openid-connect',
      attributes: included === undefined ? {} : { 'include.in.token.scope': included },
      protocolMappers: [hardcoded(name)],
    })
    const clientScope = `${path}/client-scopes/${location}`
    const of = requiredRole?.includes('/') ? `clients/${id(100)}` : 'realm'
    if (requiredRole) await admin('POST', `${clientScope}/scope-mappings/${of}`, [await role(requiredRole)])
    const assignment = name === 'forWriters' ? 'optional' : 'default'
    await admin('PUT', `${narrow}/${assignment}-client-scopes/${location}`)
  }
  await admin('POST', `${narrow}/scope-mappings/realm`, [await role('staff')])
  await admin('DELETE', `${path}/users/${id(2)}/role-mappings/realm`, [await role(`default-roles-${realm}`)])
}

/** Additional parameters of authorization requests. */
const wishes = {
  nonce: 'once',
  acr_values: 'silver bronze',
  claims: JSON.stringify({
    id_token: {
      given_name: { essential: true },
      email: { essential: false },
      wished: { essential: true, value: 'granted' },
    },
    userinfo: { family_name: { essential: true }, email: null },
  }),
}

/** Requests tokens in a case. Returns their claims, user info, introspection, and the rest of the token response. */
export async function requestTokens(server: TokenServer, realm: string, name: string): Promise<TokenResponses> {
  const { form, userInfo } = server
  const path = `/realms/${realm}/protocol/openid-connect`
  const [client, user, ...scope] = name.split(' ')
  const credentials = { client_id: client!, client_secret: 'secret' }
  const scoped = scope.length ? { scope: scope.join(' ') } : undefined
  const tokens = await form(`${path}/token`, {
    ...credentials,
    ...(await grantFor(server, path, client!, user!, scoped)),
  })
  const { access_token: token, id_token: identity, refresh_token: refresh, ...response } = tokens
  if (typeof token !== 'string') return toComparable({ response }, realm) as TokenResponses
  const responses = {
    response,
    accessToken: decodeToken(token),
    ...(typeof identity === 'string' && { idToken: decodeToken(identity) }),
    ...(typeof refresh === 'string' && {
      refreshToken: { sub: decodeToken(refresh).sub, scope: decodeToken(refresh).scope },
    }),
    ...(scope.includes('openid') && { userInfo: await userInfo(`${path}/userinfo`, token) }),
    introspection: await form(`${path}/token/introspect`, { ...credentials, token }),
  }
  return toComparable(responses, realm) as TokenResponses
}

/** Returns the form of the token request. `USER+browser` logs in by a browser. */
async function grantFor(
  { logIn }: TokenServer,
  path: string,
  client: string,
  user: string,
  scoped: { readonly scope: string } | undefined,
): Promise<Record<string, string>> {
  const [username, browser] = user.split('+')
  if (username === 'self') return { grant_type: 'client_credentials', ...scoped }
  if (!browser) return { grant_type: 'password', username: username!, password: 'pw', ...scoped }
  const to = { client_id: client, redirect_uri: 'https://app.example.org/', response_type: 'code' }
  const address = `${path}/auth?${new URLSearchParams({ ...to, ...scoped, ...wishes })}`
  const code = (await logIn(address, { username: username!, password: 'pw' })).get('code') ?? ''
  return { grant_type: 'authorization_code', code, redirect_uri: to.redirect_uri }
}

const decodeToken = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

const FLEETING: Readonly<Record<string, RegExp>> = {
  exp: /^\d{8,}$/,
  iat: /^\d{8,}$/,
  jti: /.{20}/,
  at_hash: /^[\w-]{22}$/,
  sid: /.{20}/,
  session_state: /.{20}/,
  auth_time: /^\d{8,}$/,
  note: /^\d{8,}$/,
  expires_in: /^\d{2,}$/,
  refresh_expires_in: /^\d{2,}$/,
  iss: /^http/,
}

/** Replaces values that differ between runs and servers. Lists and scopes are compared as sets. */
function toComparable(value: unknown, realm: string): unknown {
  if (typeof value === 'string') {
    const text = value.replaceAll(realm, '{realm}')
    return /^[0-9a-f]{8}-[0-9a-f]{4}-4/.test(text) && !text.startsWith('10000000') ? '{uuid}' : text
  }
  if (Array.isArray(value)) return value.map((element) => toComparable(element, realm)).sort(bySpelling)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    if (FLEETING[name]?.test(String(member))) return [name, '…']
    if (name === 'scope') return [name, String(member).split(' ').sort().join(' ')]
    return [name.replaceAll(realm, '{realm}'), toComparable(member, realm)]
  })
  return Object.fromEntries(members.sort(bySpelling))
}

const bySpelling = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
