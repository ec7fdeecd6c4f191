// Minimal exports: without objects and values that creating a realm gives anyway.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { splitIntoFiles } from '../../src/realm-file/export/split-into-files.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { newName, newRealm, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const exportNamed = (realm: string, options = {}) =>
  service.read(SYSTEM, realm, (context) => exportRealm(context, options))

/** Applies a document to a new realm, and returns its export. Fails unless the export changes nothing there, and recreates the realm under another name. */
async function roundTrip(document: object, options = {}) {
  const realm = newName()
  await applySource(service, createSource([{ realm, ...document }], realm))
  const minimal = await exportNamed(realm, options)
  expect(await planText(service, createSource([minimal], `${realm} again`))).toContain('Nothing to do.')
  const other = newName()
  const rename = (value: object) => JSON.parse(JSON.stringify(value).replaceAll(realm, other))
  await applySource(service, createSource([rename(minimal)], other))
  expect(await exportNamed(other, options)).toEqual(rename(minimal))
  if ('secrets' in options)
    expect(await exportNamed(other, { ...options, full: true })).toEqual(
      rename(await exportNamed(realm, { ...options, full: true })),
    )
  const { realm: _, ...rest } = minimal
  return rest
}

test('the export of a new realm contains only its name and `enabled`', async () => {
  const realm = await newRealm(service)
  expect(await exportNamed(realm)).toEqual({ realm, enabled: true })
})

test('a built-in object is exported with its changed fields, and null for removed values', async () => {
  const document = {
    enabled: true,
    browserSecurityHeaders: { xFrameOptions: 'DENY' },
    clientScopes: [
      { name: 'ours', protocol: 'openid-connect' },
      { name: 'email', description: null, attributes: { 'consent.screen.text': null, colour: 'red' } },
      {
        name: 'profile',
        protocolMappers: [{ name: 'shoe size', protocolMapper: 'oidc-usermodel-attribute-mapper', config: { a: 'b' } }],
      },
    ],
    defaultDefaultClientScopes: ['ours'],
    roles: { client: { account: [{ name: 'view-shoes' }] } },
  }
  const { clientScopes, ...rest } = await roundTrip(document)
  expect(rest).toEqual({ ...document, clientScopes: undefined })
  expect(new Set(clientScopes as object[])).toEqual(new Set(document.clientScopes))
})

test('a client is exported without defaults, derived origins, default client scopes and generated secrets', async () => {
  const clients = [
    {
      clientId: 'confidential',
      redirectUris: ['https://a.example/*', 'https://b.example/*'],
      serviceAccountsEnabled: true,
    },
    { clientId: 'saml', protocol: 'saml', fullScopeAllowed: false, consentRequired: true },
    { clientId: 'some-scopes', publicClient: true, webOrigins: ['+'], optionalClientScopes: ['phone'] },
    { clientId: 'without', publicClient: true, defaultClientScopes: [], optionalClientScopes: [] },
  ]
  expect(await roundTrip({ enabled: true, clients })).toEqual({
    enabled: true,
    clients: [
      clients[0],
      { clientId: 'saml', consentRequired: true, protocol: 'saml' },
      clients[2],
      { clientId: 'without', publicClient: true, optionalClientScopes: [] },
    ].map((client) => expect.objectContaining(client)),
  })
})

test('the export of any client recreates it', async () => {
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const flags = ['publicClient', 'bearerOnly', 'consentRequired', 'fullScopeAllowed', 'standardFlowEnabled']
  const client = fc.record({
    ...Object.fromEntries(flags.map((name) => [name, optional(fc.boolean())])),
    protocol: optional(fc.constantFrom('openid-connect', 'saml')),
    serviceAccountsEnabled: optional(fc.boolean()),
    redirectUris: optional(fc.option(fc.subarray(['https://a.example/*', '/cb', 'https://b.example/x']))),
    webOrigins: optional(fc.option(fc.subarray(['+', 'https://a.example']))),
    defaultClientScopes: optional(fc.subarray(['email', 'profile', 'role_list'])),
    optionalClientScopes: optional(fc.subarray(['phone', 'address'])),
    attributes: optional(fc.dictionary(fc.constantFrom('x', 'realm_client'), fc.option(fc.constant('true')))),
    notBefore: optional(fc.option(fc.constantFrom(0, 7))),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(client, { minLength: 3, maxLength: 6 }), async (clients) => {
      const document = {
        clients: clients.map((client, at) => ({ clientId: `client-${at}`, rootUrl: 'https://c.example', ...client })),
      }
      await roundTrip(JSON.parse(JSON.stringify(document)), { secrets: true })
    }),
    { numRuns: 8 },
  )
})

test('clients are exported with their client scopes if the realm has other default client scopes than a new realm', async () => {
  const { clients } = await roundTrip({
    clientScopes: [{ name: 'ours', protocol: 'openid-connect' }],
    defaultDefaultClientScopes: ['ours'],
    clients: [
      { clientId: 'usual', publicClient: true },
      { clientId: 'none', defaultClientScopes: [], publicClient: true },
    ],
  })
  expect(clients).toEqual([
    { clientId: 'none', publicClient: true, defaultClientScopes: [], optionalClientScopes: [] },
    expect.objectContaining({ clientId: 'usual', defaultClientScopes: expect.arrayContaining(['basic', 'email']) }),
  ])
})

test('users are exported without the default role, and unchanged service accounts are omitted', async () => {
  const document = {
    clients: [
      { clientId: 'plain', serviceAccountsEnabled: true },
      { clientId: 'special', serviceAccountsEnabled: true },
    ],
    roles: { realm: [{ name: 'buyer' }] },
    users: [
      { username: 'ann', enabled: true, realmRoles: ['buyer'] },
      { username: 'bob' },
      { username: 'cleo', realmRoles: [] },
      { username: 'service-account-special', serviceAccountClientId: 'special', enabled: true, realmRoles: ['buyer'] },
    ],
  }
  expect(await roundTrip(document)).toMatchObject({ users: document.users })
})

test('steps of a flow are exported with a priority only if it differs from the default', async () => {
  const step = (authenticator: string, more = {}) => ({ authenticator, requirement: 'REQUIRED', ...more })
  const authenticationFlows = [
    {
      alias: 'numbered',
      authenticationExecutions: [
        step('a', { priority: 5, userSetupAllowed: false }),
        step('b', { priority: 7, userSetupAllowed: false }),
      ],
    },
    { alias: 'usual', authenticationExecutions: [step('a'), step('b')] },
  ]
  expect(await roundTrip({ authenticationFlows })).toMatchObject({ authenticationFlows })
})

test('secrets are exported on request, and generated ones are omitted otherwise', async () => {
  const document = { enabled: true, clients: [{ clientId: 'web', name: 'Web' }] }
  expect(await roundTrip(document)).toEqual(document)
  expect(await roundTrip(document, { secrets: true })).toMatchObject({
    clients: [
      { secret: expect.stringMatching(/^\w{32}$/), attributes: { 'client.secret.creation.time': expect.anything() } },
    ],
  })
})

test('an export of master omits clients and roles of other realms', async () => {
  const realm = await newRealm(service)
  // Other tests may have created objects in master.
  const { clients = [], roles = {} } = await exportNamed('master')
  expect(JSON.stringify([clients, roles])).not.toContain(realm)
})

test('an export with ids contains every object', async () => {
  const realm = await newRealm(service)
  const { clients } = (await exportNamed(realm, { ids: true })) as { clients: object[] }
  expect(clients).toContainEqual({ id: expect.any(String), clientId: 'account' })
})

test('a folder export has a file for each object, and declares the same as the single document', async () => {
  const realm = newName()
  const document = {
    realm,
    enabled: true,
    clients: ['web', 'Web', 'https://web.example/', '.hidden'].map((clientId) => ({ clientId, publicClient: true })),
    roles: { realm: [{ name: 'staff' }, { name: 'visitor' }], client: { web: [{ name: 'buyer' }] } },
    groups: [{ name: 'all of us', subGroups: [{ name: 'some' }] }],
    identityProviders: [{ alias: 'corp', providerId: 'oidc' }],
    identityProviderMappers: [{ name: 'email', identityProviderAlias: 'corp' }],
  }
  await applySource(service, createSource([document], realm))
  const files = splitIntoFiles(await exportNamed(realm))
  expect(files.map(({ path }) => path).sort()).toEqual(
    [
      'clients/_hidden',
      'clients/https___web.example_',
      'clients/Web',
      'clients/web-2',
      'groups/all-of-us',
      'identityProviderMappers/corp/email',
      'identityProviders/corp',
      'realm',
      'roles/client/web',
      'roles/realm',
    ].sort(),
  )
  const other = await applyToOtherRealm(
    files.map(({ document }) => document),
    realm,
  )
  expect(await exportNamed(other)).toEqual({ ...(await exportNamed(realm)), realm: other })
})

/** Applies documents to another realm, and returns its name. */
async function applyToOtherRealm(documents: readonly object[], realm: string): Promise<string> {
  const other = newName()
  await applySource(
    service,
    createSource(
      documents.map((document) => JSON.stringify(document).replaceAll(realm, other)),
      other,
    ),
  )
  return other
}
