// A realm of an earlier version of Keycloak gets what Keycloak's import of it changes.
import { expect, test } from 'vitest'
import { type Representation, readObjects } from '../../src/kinds/json.ts'
import { migrateRealm } from '../../src/realm-file/export/migrate-realm.ts'
import { isLowerVersion } from '../../src/realm-file/versions/keycloak-version.ts'
import { migrateRepresentation } from '../../src/realm-file/versions/version-steps.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, listProblems } from '../support/sources.ts'

const { service } = await testService()
const { call } = await testServer()

/** The ways to load a realm, each with the name of the realm. */
const ways: Record<string, (realm: Representation) => Promise<void>> = {
  'an apply': async (realm) => {
    const source = createSource([realm], String(realm.realm))
    await applySource(service, source)
    expect((await planSources(service, SYSTEM, [source])).realms.flatMap(({ plan }) => plan.actions)).toEqual([])
  },
  'POST /admin/realms': async (realm) =>
    expect(await call('POST', '/admin/realms', { body: realm })).toMatchObject({ status: 201 }),
}

/** Returns the claims of the access token that a user of the realm gets with a password. */
async function getClaims(realm: string, clientId: string): Promise<Representation> {
  const { body } = await logInWithPassword(realm, { clientId, username: 'ann', password: 'secret' })
  return JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString())
}

/** An export of version 24 with a client scope, a client and a user. */
const protocol = 'openid-connect'
const export24 = {
  enabled: true,
  keycloakVersion: '24.0.5',
  clientScopes: [{ name: 'profile', protocol }],
  defaultDefaultClientScopes: ['profile'],
  clients: [
    {
      clientId: 'app',
      protocol,
      publicClient: true,
      directAccessGrantsEnabled: true,
      defaultClientScopes: ['profile'],
      optionalClientScopes: [],
    },
    { clientId: 'new', protocol, publicClient: true },
    { clientId: 'service', protocol, bearerOnly: true, defaultClientScopes: ['profile'] },
    { clientId: 'admin-cli', protocol, publicClient: true, directAccessGrantsEnabled: true, fullScopeAllowed: false },
  ],
  users: [
    {
      username: 'ann',
      email: 'ann@example.org',
      firstName: 'Ann',
      lastName: 'Ash',
      enabled: true,
      credentials: [{ type: 'password', value: 'secret' }],
      clientRoles: { 'realm-management': ['view-users'] },
    },
  ],
}

test.each(Object.keys(ways))('after %s of version 24, tokens have sub, and admin-cli has the roles', async (way) => {
  const realm = newName()
  await ways[way]!({ realm, ...export24 })
  expect(await getClaims(realm, 'app')).toHaveProperty('sub')
  const scopesOf = async (client: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'client', client)).representation.defaultClientScopes
  expect([await scopesOf('new'), await scopesOf('service')]).toEqual([expect.arrayContaining(['basic']), ['profile']])
  const { body } = await logInWithPassword(realm, { username: 'ann', password: 'secret' })
  expect(await call('GET', `/admin/realms/${realm}/users`, { token: body.access_token })).toMatchObject({ status: 200 })
})

test('an import from a server of version 24 writes the migrated realm, without its version', () => {
  const { document, warnings } = migrateRealm('https://old.example.org', { realm: 'shop', ...export24 })
  expect(document).not.toHaveProperty('keycloakVersion')
  expect(document).toMatchObject({
    clients: expect.arrayContaining([
      expect.objectContaining({ clientId: 'app', defaultClientScopes: ['basic', 'profile'] }),
      expect.not.objectContaining({ clientId: 'admin-cli', fullScopeAllowed: false }),
    ]),
  })
  expect(warnings).toEqual([
    expect.stringContaining('migration from Keycloak 24.0.5 to 25.0.0'),
    expect.stringContaining('migration from Keycloak 24.0.5 to 26.0.0'),
    expect.stringContaining('migration from Keycloak 24.0.5 to 26.7.0'),
  ])
})

test('a plan has a note with a position for each step of a migration', async () => {
  const { realms } = await planSources(service, SYSTEM, [createSource([{ realm: newName(), ...export24 }], 'export')])
  const notes = realms.flatMap(({ plan }) => plan.notes).filter(({ message }) => message.startsWith('migration'))
  expect(notes).toEqual([
    {
      message:
        'migration from Keycloak 24.0.5 to 25.0.0: clients get the default client scope basic, which adds sub and auth_time to tokens',
      position: { file: 'export-1.yaml', line: 4, column: 1 },
    },
    {
      message:
        'migration from Keycloak 24.0.5 to 26.0.0: client admin-cli: fullScopeAllowed becomes true: remove keycloakVersion to declare another value',
      position: { file: 'export-1.yaml', line: 29, column: 5 },
    },
    {
      message:
        'migration from Keycloak 24.0.5 to 26.7.0: SAML clients get the default client scope AuthnContextClassRef',
      position: { file: 'export-1.yaml', line: 4, column: 1 },
    },
  ])
})

test('an export of master of version 24 does not remove the roles of its administrators', async () => {
  const clients = [{ clientId: 'admin-cli', fullScopeAllowed: false }]
  const planned = await planSources(service, SYSTEM, [
    createSource([{ realm: 'master', keycloakVersion: '24.0.5', clients }], 'master'),
  ])
  expect(planned.realms.flatMap(({ plan }) => plan.actions).filter(({ kind }) => kind === 'client')).toEqual([])
})

test.each([
  ['declares the full scope of admin-cli', { clients: [{ clientId: 'admin-cli', fullScopeAllowed: true }] }],
  ['is migrated to it', { keycloakVersion: '25.0.6', clients: [{ clientId: 'admin-cli', fullScopeAllowed: false }] }],
])('a source without all admin roles is refused if its document %s', async (_, content) => {
  const realm = newName()
  await call('POST', '/admin/realms', { body: { realm } })
  const { id } = await getLiveObject(service, SYSTEM, realm, 'client', 'admin-cli')
  await call('PUT', `/admin/realms/${realm}/clients/${id}`, {
    body: { clientId: 'admin-cli', fullScopeAllowed: false },
  })
  const sourcePermissions = { roles: ['view-users' as const] }
  const source = { ...createSource([{ realm, ...content }], realm), sourcePermissions }
  await expect(applySource(service, source)).rejects.toThrow('requires all admin roles')
})

test.each([['26.7.3'], ['999.0.0-SNAPSHOT'], [undefined]])(
  'a realm of version %s is not migrated',
  async (keycloakVersion) => {
    const { keycloakVersion: _, ...content } = export24
    const realm = newName()
    const source = createSource([{ realm, ...content, ...(keycloakVersion && { keycloakVersion }) }], realm)
    const { realms } = await applySource(service, source)
    expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message)).join()).not.toContain('migration')
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'client', 'admin-cli')
    expect(representation.fullScopeAllowed).toBe(false)
  },
)

test('a partial import and an update are not migrated', async () => {
  const realm = newName()
  await call('POST', '/admin/realms', { body: { realm } })
  const { keycloakVersion, clientScopes, clients } = export24
  const body = { ifResourceExists: 'SKIP', keycloakVersion, clientScopes, clients: [clients[0]] }
  expect(await call('POST', `/admin/realms/${realm}/partialImport`, { body })).toMatchObject({ status: 200 })
  const { representation } = await getLiveObject(service, SYSTEM, realm, 'client', 'app')
  expect(representation.defaultClientScopes).toEqual(['profile'])
  const update = { keycloakVersion, defaultDefaultClientScopes: ['profile'] }
  expect(await call('PUT', `/admin/realms/${realm}`, { body: update })).toMatchObject({ status: 204 })
})

const step = (authenticator: string, requirement: string, priority: number) => ({
  authenticator,
  requirement,
  priority,
})
const subflow = (flowAlias: string, requirement: string, priority: number) => ({ flowAlias, requirement, priority })
const action = (alias: string, priority: number) => ({ alias, name: alias, priority })
const PROFILE = 'org.keycloak.userprofile.UserProfileProvider'
const profile = (text: string) => ({ [PROFILE]: [{ config: { 'kc.user.profile.config': [text] } }] })
const client = (...defaultClientScopes: string[]) => ({ clientId: 'app', defaultClientScopes })

/** The changes of each step: the last lower version, the declared fields, and the same fields after the migration. */
const changes: [change: string, version: string, declared: Representation, migrated: Representation][] = [
  [
    'the former number of hash iterations',
    '3.1.0',
    { passwordPolicy: 'hashIterations(20000) and length(8)' },
    { passwordPolicy: 'length(8)' },
  ],
  [
    'the former content security policy',
    '3.4.0',
    { browserSecurityHeaders: { contentSecurityPolicy: "frame-src 'self'", xFrameOptions: 'DENY' } },
    {
      browserSecurityHeaders: {
        contentSecurityPolicy: "frame-src 'self'; frame-ancestors 'self'; object-src 'none';",
        xFrameOptions: 'DENY',
      },
    },
  ],
  [
    'the role offline_access in the scope of a client',
    '4.0.0.Final',
    {
      clients: [
        { ...client('roles', 'web-origins'), optionalClientScopes: ['microprofile-jwt'], fullScopeAllowed: false },
      ],
      scopeMappings: [{ client: 'app', roles: ['offline_access', 'other'] }],
    },
    {
      clients: [
        {
          ...client('roles', 'web-origins'),
          optionalClientScopes: ['microprofile-jwt', 'offline_access'],
          fullScopeAllowed: false,
        },
      ],
      scopeMappings: [{ client: 'app', roles: ['other'] }],
    },
  ],
  [
    'a client with consent and without client scopes',
    '4.0.0.Final',
    { clients: [{ ...client(), name: 'App', consentRequired: true }] },
    {
      clients: [
        {
          ...client('roles', 'web-origins'),
          optionalClientScopes: ['microprofile-jwt'],
          name: 'App',
          consentRequired: true,
          attributes: { 'display.on.consent.screen': 'true', 'consent.screen.text': 'App' },
        },
      ],
    },
  ],
  [
    'required actions without an order',
    '4.1.0',
    { requiredActions: [action('VERIFY_EMAIL', 1), action('UPDATE_PASSWORD', 2), action('CONFIGURE_TOTP', 3)] },
    { requiredActions: [action('VERIFY_EMAIL', 40), action('UPDATE_PASSWORD', 42), action('CONFIGURE_TOTP', 41)] },
  ],
  [
    'clients without the scopes of roles and origins',
    '4.5.0',
    { clients: [client('email'), { clientId: 'new' }, { ...client('a'), protocol: 'saml' }] },
    {
      clients: [
        { ...client('email', 'roles', 'web-origins'), optionalClientScopes: ['microprofile-jwt'] },
        { clientId: 'new' },
        { ...client('a'), protocol: 'saml' },
      ],
    },
  ],
  [
    'clients and a realm without the scope microprofile-jwt',
    '5.0.0',
    {
      clientScopes: ['acr', 'basic', 'AuthnContextClassRef'].map((name) => ({ name })),
      defaultOptionalClientScopes: ['phone'],
      clients: [client('email')],
    },
    {
      clientScopes: ['acr', 'basic', 'AuthnContextClassRef'].map((name) => ({ name })),
      defaultOptionalClientScopes: ['phone', 'microprofile-jwt'],
      clients: [{ ...client('email'), optionalClientScopes: ['microprofile-jwt'] }],
    },
  ],
  [
    'URLs of the consoles',
    '7.0.1',
    {
      realm: 'shop',
      clients: [
        { clientId: 'account', baseUrl: '/auth/realms/shop/account', redirectUris: ['/auth/realms/shop/account/*'] },
        { clientId: 'security-admin-console', baseUrl: '/auth/admin/shop/console/index.html', webOrigins: [] },
        { clientId: 'app', baseUrl: '/auth/app' },
      ],
    },
    {
      realm: 'shop',
      clients: [
        { clientId: 'account', baseUrl: '/realms/shop/account/', redirectUris: ['/realms/shop/account/*'] },
        { clientId: 'security-admin-console', baseUrl: '/admin/shop/console/', webOrigins: ['+'] },
        { clientId: 'app', baseUrl: '/auth/app' },
      ],
    },
  ],
  [
    'alternatives beside required steps',
    '8.0.1',
    {
      authenticationFlows: [
        {
          alias: 'mine',
          builtIn: true,
          authenticationExecutions: [
            step('password', 'REQUIRED', 30),
            step('cookie', 'ALTERNATIVE', 10),
            step('spnego', 'ALTERNATIVE', 20),
            step('late', 'ALTERNATIVE', 40),
            step('off', 'DISABLED', 50),
            step('last', 'ALTERNATIVE', 60),
          ],
        },
        { alias: 'alternatives', authenticationExecutions: [step('cookie', 'ALTERNATIVE', 10)] },
      ],
    },
    {
      authenticationFlows: [
        {
          alias: 'mine',
          builtIn: true,
          authenticationExecutions: [
            subflow('mine - Alternatives - 0', 'REQUIRED', 10),
            step('password', 'REQUIRED', 30),
            subflow('mine - Alternatives - 1', 'REQUIRED', 40),
            step('off', 'DISABLED', 50),
          ],
        },
        { alias: 'alternatives', authenticationExecutions: [step('cookie', 'ALTERNATIVE', 10)] },
        {
          alias: 'mine - Alternatives - 0',
          description: 'Alternatives of mine',
          providerId: 'basic-flow',
          topLevel: false,
          builtIn: true,
          authenticationExecutions: [step('cookie', 'ALTERNATIVE', 10), step('spnego', 'ALTERNATIVE', 20)],
        },
        {
          alias: 'mine - Alternatives - 1',
          description: 'Alternatives of mine',
          providerId: 'basic-flow',
          topLevel: false,
          builtIn: true,
          authenticationExecutions: [step('late', 'ALTERNATIVE', 10), step('last', 'ALTERNATIVE', 20)],
        },
      ],
    },
  ],
  [
    'clients without the scope acr',
    '17.0.1',
    { clientScopes: [{ name: 'basic' }, { name: 'AuthnContextClassRef' }], clients: [client()] },
    { clientScopes: [{ name: 'basic' }, { name: 'AuthnContextClassRef' }], clients: [client('acr')] },
  ],
  [
    'the unused flow http challenge',
    '21.1.2',
    {
      authenticationFlows: [
        {
          alias: 'http challenge',
          authenticationExecutions: [subflow('Options', 'REQUIRED', 10), subflow('shared', 'REQUIRED', 20)],
        },
        { alias: 'Options', authenticationExecutions: [step('basic-auth', 'REQUIRED', 10)] },
        { alias: 'shared', authenticationExecutions: [] },
        { alias: 'other', authenticationExecutions: [subflow('shared', 'REQUIRED', 10)] },
      ],
    },
    {
      authenticationFlows: [
        null,
        null,
        { alias: 'shared', authenticationExecutions: [] },
        { alias: 'other', authenticationExecutions: [subflow('shared', 'REQUIRED', 10)] },
      ],
    },
  ],
  [
    'the profile of the registration form',
    '22.0.5',
    {
      authenticationFlows: [
        {
          alias: 'form',
          providerId: 'form-flow',
          authenticationExecutions: [
            step('registration-user-creation', 'REQUIRED', 20),
            step('registration-profile-action', 'REQUIRED', 40),
            step('registration-password-action', 'REQUIRED', 50),
          ],
        },
      ],
    },
    {
      authenticationFlows: [
        {
          alias: 'form',
          providerId: 'form-flow',
          authenticationExecutions: [
            step('registration-user-creation', 'REQUIRED', 20),
            step('registration-password-action', 'REQUIRED', 50),
          ],
        },
      ],
    },
  ],
  [
    'parts of the user profile',
    '22.0.5',
    {
      attributes: { userProfileEnabled: 'true' },
      components: {
        [PROFILE]: [
          { config: { 'config-pieces-count': ['2'], 'config-piece-0': ['{"attri'], 'config-piece-1': ['butes":[]}'] } },
        ],
      },
    },
    { attributes: {}, components: profile('{"attributes":[]}') },
  ],
  [
    'the declared user profile of a realm that did not use it',
    '23.0.7',
    { attributes: { userProfileEnabled: 'false', a: 'b' }, components: profile('{"attributes":[]}') },
    { attributes: { a: 'b' }, components: profile('{"attributes":[],"unmanagedAttributePolicy":"ENABLED"}') },
  ],
  [
    'a declared value of lightweight access tokens',
    '25.0.6',
    {
      clients: [
        {
          clientId: 'security-admin-console',
          attributes: { 'client.use.lightweight.access.token.enabled': 'false', a: 'b' },
        },
      ],
    },
    {
      clients: [
        {
          clientId: 'security-admin-console',
          attributes: { 'client.use.lightweight.access.token.enabled': 'true', a: 'b' },
        },
      ],
    },
  ],
  [
    'a flow browser without organizations',
    '26.6.0',
    { authenticationFlows: [{ alias: 'browser', authenticationExecutions: [step('cookie', 'ALTERNATIVE', 10)] }] },
    {
      authenticationFlows: [
        {
          alias: 'browser',
          authenticationExecutions: [step('cookie', 'ALTERNATIVE', 10), subflow('Organization', 'ALTERNATIVE', 26)],
        },
      ],
    },
  ],
  [
    'the former order of required actions',
    '26.6.4',
    { requiredActions: [action('CONFIGURE_TOTP', 10), action('UPDATE_PASSWORD', 30), action('VERIFY_EMAIL', 50)] },
    { requiredActions: [action('CONFIGURE_TOTP', 54), action('UPDATE_PASSWORD', 57), action('VERIFY_EMAIL', 50)] },
  ],
  [
    'another order of required actions',
    '26.6.4',
    { requiredActions: [action('CONFIGURE_TOTP', 5), action('UPDATE_PROFILE', 51), action('VERIFY_EMAIL', 50)] },
    { requiredActions: [action('CONFIGURE_TOTP', 52), action('UPDATE_PROFILE', 51), action('VERIFY_EMAIL', 50)] },
  ],
  [
    'SAML clients without the scope AuthnContextClassRef',
    '26.6.4',
    { clientScopes: [], clients: [{ ...client(), protocol: 'saml' }] },
    { clientScopes: [], clients: [{ ...client('AuthnContextClassRef'), protocol: 'saml' }] },
  ],
]

test.each(changes)(
  'a migration changes %s of a realm of version %s, and not of the current version',
  (...[, version, declared, migrated]) => {
    const read = (keycloakVersion: string) => {
      const { requiredActions, ...content } = migrateRepresentation({ ...declared, keycloakVersion })
      const actions = readObjects(requiredActions).filter(({ alias }) => alias !== 'VERIFY_PROFILE')
      const all: Representation = { ...content, requiredActions: actions }
      return Object.fromEntries(Object.keys(declared).map((field) => [field, all[field]]))
    }
    expect(read(version)).toEqual(migrated)
    expect(read('26.7.3')).toEqual(declared)
  },
)

test.each<[string, Representation]>([
  ['by the realm', { browserFlow: 'http challenge' }],
  ['by a client', { clients: [{ clientId: 'a', authenticationFlowBindingOverrides: { browser: 'flow-id' } }] }],
  ['by an identity provider', { identityProviders: [{ alias: 'a', postBrokerLoginFlowAlias: 'http challenge' }] }],
])('the flow http challenge stays if it is used %s', (_, fields) => {
  const authenticationFlows = [{ id: 'flow-id', alias: 'http challenge', authenticationExecutions: [] }]
  const migrated = migrateRepresentation({ keycloakVersion: '21.0.0', authenticationFlows, ...fields })
  expect(migrated.authenticationFlows).toEqual(authenticationFlows)
})

test('users of a realm of version 23 keep attributes that no user profile declares', async () => {
  const realm = newName()
  const users = [{ username: 'ann', attributes: { department: ['sales'] } }]
  const source = createSource([{ realm, keycloakVersion: '23.0.7', users }], realm)
  await applySource(service, source)
  const { body } = await call('GET', `/admin/realms/${realm}/users?username=ann`)
  expect(body[0].attributes).toEqual({ department: ['sales'] })
  expect((await planSources(service, SYSTEM, [source])).realms.flatMap(({ plan }) => plan.actions)).toEqual([])
})

test('flows of a realm of version 8.0.1 are applied as they are migrated, and their next plan is empty', async () => {
  const realm = newName()
  const form = [
    step('registration-user-creation', 'REQUIRED', 20),
    step('registration-profile-action', 'REQUIRED', 40),
    step('registration-password-action', 'REQUIRED', 50),
  ]
  const authenticationFlows = [
    { alias: 'http challenge', topLevel: true, authenticationExecutions: [step('basic-auth', 'REQUIRED', 10)] },
    {
      alias: 'mine',
      topLevel: true,
      authenticationExecutions: [
        step('auth-cookie', 'ALTERNATIVE', 10),
        step('auth-spnego', 'ALTERNATIVE', 20),
        step('auth-username-password-form', 'REQUIRED', 30),
        step('auth-otp-form', 'OPTIONAL', 40),
      ],
    },
    { alias: 'form', providerId: 'form-flow', topLevel: true, authenticationExecutions: form },
  ]
  const source = createSource([{ realm, keycloakVersion: '8.0.1', authenticationFlows }], realm)
  await applySource(service, source)
  const readSteps = async (flow: string) =>
    (await call('GET', `/admin/realms/${realm}/authentication/flows/${flow}/executions`)).body.map(
      ({ level, providerId, displayName, requirement }: Record<string, unknown>) =>
        `${level} ${providerId ?? displayName} ${requirement}`,
    )
  expect(await readSteps('mine')).toEqual([
    '0 mine - Alternatives - 0 REQUIRED',
    '1 auth-cookie ALTERNATIVE',
    '1 auth-spnego ALTERNATIVE',
    '0 auth-username-password-form REQUIRED',
    '0 mine - auth-otp-form - Conditional CONDITIONAL',
    '1 conditional-user-configured REQUIRED',
    '1 auth-otp-form REQUIRED',
  ])
  expect(await readSteps('form')).toEqual([
    '0 registration-user-creation REQUIRED',
    '0 registration-password-action REQUIRED',
  ])
  const { body: flows } = await call('GET', `/admin/realms/${realm}/authentication/flows`)
  expect(flows.map(({ alias }: Representation) => alias)).not.toContain('http challenge')
  expect((await planSources(service, SYSTEM, [source])).realms.flatMap(({ plan }) => plan.actions)).toEqual([])
})

test('an error in a step that was moved has the position of the step', async () => {
  const authenticationExecutions = [
    step('auth-username-password-form', 'REQUIRED', 30),
    step('auth-cookie', 'ALTERNATIVE', 10),
    { ...step('auth-spnego', 'ALTERNATIVE', 20), authenticatorConfig: 'nowhere' },
  ]
  const realm = newName()
  const authenticationFlows = [{ alias: 'mine', topLevel: true, authenticationExecutions }]
  const source = createSource([{ realm, keycloakVersion: '8.0.1', authenticationFlows }], 'moved')
  const error = await planSources(service, SYSTEM, [source]).catch((thrown: unknown) => thrown)
  expect(listProblems(error)).toEqual([expect.objectContaining({ position: expect.objectContaining({ line: 16 }) })])
})

test.each<[string, string, boolean]>([
  ['24.0.5', '25.0.0', true],
  ['25.0.0', '25.0.0', false],
  ['25.0.0.Final', '25.0.0', true],
  ['25.0.0.redhat-00001', '25.0.0', false],
  ['25.0.0-SNAPSHOT', '25.0.0', false],
  ['9', '9.0.0', false],
  ['9.0.3', '25.0.0', true],
  ['26.7.10', '26.7.3', false],
  ['7.4.2.GA', '9.0.3', false],
  ['7.4.2.GA', '9.0.4', true],
  ['7.4.2', '8.0.0', true],
  ['latest', '1.2.0', true],
])('whether version %s is lower than %s is %s, as in Keycloak', (version, other, isLower) => {
  expect(isLowerVersion(version, other)).toBe(isLower)
})
