// What an export leaves out: everything that the creation of a realm gives anyway.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { splitIntoFiles } from '../../src/realm-file/export/split-into-files.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { newName, newRealm, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const exported = (realm: string, options = {}) =>
  service.read(SYSTEM, realm, (context) => exportRealm(context, options))

/** What is exported of a new realm to which the document was applied: it changes nothing there, and makes the same realm elsewhere. */
async function roundTrip(document: object, options = {}) {
  const realm = newName()
  await applySource(service, createSource([{ realm, ...document }], realm))
  const least = await exported(realm, options)
  expect(await planText(service, createSource([least], `${realm} again`))).toContain('Nothing to do.')
  const other = newName()
  const moved = (value: object) => JSON.parse(JSON.stringify(value).replaceAll(realm, other))
  await applySource(service, createSource([moved(least)], other))
  expect(await exported(other, options)).toEqual(moved(least))
  if ('secrets' in options)
    expect(await exported(other, { ...options, full: true })).toEqual(
      moved(await exported(realm, { ...options, full: true })),
    )
  const { realm: _, ...rest } = least
  return rest
}

test('of a new realm nothing is left but its name and that it is enabled', async () => {
  const realm = await newRealm(service)
  expect(await exported(realm)).toEqual({ realm, enabled: true })
})

test('of a built-in object only what differs is shown, and null where something is gone', async () => {
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

test('of a client what follows from the rest is left out: defaults, origins, client scopes, secrets that are made up', async () => {
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
    ].map((one) => expect.objectContaining(one)),
  })
})

test('whatever a client states, what is exported of it makes the same client', async () => {
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
        clients: clients.map((one, at) => ({ clientId: `client-${at}`, rootUrl: 'https://c.example', ...one })),
      }
      await roundTrip(JSON.parse(JSON.stringify(document)), { secrets: true })
    }),
    { numRuns: 8 },
  )
})

test('where a realm gives new clients others, the client scopes of every client are shown', async () => {
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

test('of people and service accounts the role that everybody has is left out, and accounts that come with their client', async () => {
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

test('steps of a flow show a priority only where it is an unusual one', async () => {
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

test('secrets are shown where that is asked for, and made up ones are left out where it is not', async () => {
  const document = { enabled: true, clients: [{ clientId: 'web', name: 'Web' }] }
  expect(await roundTrip(document)).toEqual(document)
  expect(await roundTrip(document, { secrets: true })).toMatchObject({
    clients: [
      { secret: expect.stringMatching(/^\w{32}$/), attributes: { 'client.secret.creation.time': expect.anything() } },
    ],
  })
})

test('what other realms bring into master comes with them', async () => {
  const realm = await newRealm(service)
  // Other tests may have made something of their own in master.
  const { clients = [], roles = {} } = await exported('master')
  expect(JSON.stringify([clients, roles])).not.toContain(realm)
})

test('with ids, every object is shown', async () => {
  const realm = await newRealm(service)
  const { clients } = (await exported(realm, { ids: true })) as { clients: object[] }
  expect(clients).toContainEqual({ id: expect.any(String), clientId: 'account' })
})

test('as a folder, a realm has a file for each object, and all of them say what the one document says', async () => {
  const realm = newName()
  const document = {
    realm,
    enabled: true,
    clients: ['web', 'Web', 'https://web.example/', '.hidden'].map((clientId) => ({ clientId, publicClient: true })),
    roles: { realm: [{ name: 'staff' }, { name: 'guest' }], client: { web: [{ name: 'buyer' }] } },
    groups: [{ name: 'all of us', subGroups: [{ name: 'some' }] }],
    identityProviders: [{ alias: 'corp', providerId: 'oidc' }],
    identityProviderMappers: [{ name: 'email', identityProviderAlias: 'corp' }],
  }
  await applySource(service, createSource([document], realm))
  const files = splitIntoFiles(await exported(realm))
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
  const other = await sourceIn(
    files.map((one) => one.document),
    realm,
  )
  expect(await exported(other)).toEqual({ ...(await exported(realm)), realm: other })
})

/** Applies documents to another realm; gives its name. */
async function sourceIn(documents: readonly object[], realm: string): Promise<string> {
  const other = newName()
  await applySource(
    service,
    createSource(
      documents.map((one) => JSON.stringify(one).replaceAll(realm, other)),
      other,
    ),
  )
  return other
}
