// Components over REST: key providers, user stores and their mappers.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const KEY = 'org.keycloak.keys.KeyProvider'
const STORAGE = 'org.keycloak.storage.UserStorageProvider'
const MAPPER = 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper'
const POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'
const getId = (address: string) => address.split('/').at(-1)!
const toKeyProvider = (name: string, config: object = {}) => ({
  name,
  providerId: 'hmac-generated',
  providerType: KEY,
  config,
})
const toUserStore = (name: string, config: object = {}) => ({
  name,
  providerId: 'ldap',
  providerType: STORAGE,
  config: { editMode: ['READ_ONLY'], bindCredential: ['hush'], ...config },
})

test('components with the same name are updated, deleted and given subcomponents by their ids', async () => {
  const components = `${await createRealm()}/components`
  const [first, second] = [
    await create(components, toUserStore('directory')),
    await create(components, toUserStore('directory')),
  ]
  const mapper = {
    name: 'phone',
    providerId: 'user-attribute-ldap-mapper',
    providerType: MAPPER,
    parentId: getId(second),
    config: { 'ldap.attribute': ['tel'], 'user.model.attribute': ['phone'] },
  }
  const mapperPath = await create(components, mapper)
  const countSubcomponents = async (id: string) => (await call('GET', `${components}?parent=${id}`)).body.length
  expect([await countSubcomponents(getId(first)), await countSubcomponents(getId(second))]).toEqual([7, 8])
  await call('PUT', mapperPath, { body: { name: 'phone' } })
  expect((await call('GET', mapperPath)).body.parentId).toBe(getId(second))
  await call('PUT', second, { body: { name: 'renamed' } })
  expect((await call('GET', first)).body.name).toBe('directory')
  expect((await call('GET', mapperPath)).body).toMatchObject(mapper)
  expect((await call('DELETE', second)).status).toBe(204)
  expect((await call('GET', mapperPath)).status).toBe(404)
  expect(await countSubcomponents(getId(first))).toBe(7)
})

test.each([
  ['if users log in with the common name', 'cn', 'READ_ONLY', ['first name ← givenName', 'username ← cn']],
  ['if the store is writable', 'uid', 'WRITABLE', ['first name ← givenName', 'username ← uid', 'username-cn ← cn']],
  ['if the store is read-only', 'uid', 'READ_ONLY', ['full name ← cn', 'username ← uid']],
])(
  'an LDAP user store with the common name as RDN gets the expected name mappers %s',
  async (_, usernameAttribute, mode, expected) => {
    const components = `${await createRealm()}/components`
    const settings = { rdnLDAPAttribute: ['cn'], usernameLDAPAttribute: [usernameAttribute], editMode: [mode] }
    const { body } = await call(
      'GET',
      `${components}?parent=${getId(await create(components, toUserStore('directory', settings)))}`,
    )
    const getLdapAttribute = (config: Record<string, string[]>) =>
      config['ldap.attribute'] ?? config['ldap.full.name.attribute']
    const mappers = body.map(({ name, config }: { name: string; config: Record<string, string[]> }) => [
      name,
      getLdapAttribute(config),
    ])
    const nameMappers = mappers.filter(([name]: [string]) => /^(first|full) name$|^username/.test(name))
    expect(nameMappers.map((mapper: string[]) => mapper.join(' ← ')).sort()).toEqual(expected)
  },
)

test('secrets are masked and unknown settings are omitted; a mask retains the secret, and a vault reference is not masked', async () => {
  const components = `${await createRealm()}/components`
  const store = await create(components, toUserStore('directory', { nonsense: ['x'] }))
  const readConfig = async () => (await call('GET', store)).body.config
  expect(await readConfig()).toMatchObject({ bindCredential: ['**********'] })
  expect(await readConfig()).not.toHaveProperty('nonsense')
  await call('PUT', store, {
    body: { config: { bindCredential: ['**********'], editMode: ['WRITABLE'], priority: [''] } },
  })
  expect(await readConfig()).toMatchObject({ bindCredential: ['**********'], editMode: ['WRITABLE'] })
  await call('PUT', store, { body: { config: { bindCredential: ['${vault.directory}'] } } })
  expect((await readConfig()).bindCredential).toEqual(['${vault.directory}'])
})

test.each([
  [toKeyProvider('k', { priority: ['1', '2'] }), "'Priority' should be a single entry"],
  [toKeyProvider('k', { secretSize: ['7'] }), "'Secret size' should be 16, 24, 32, 64, 128, 256 or 512"],
  [{ ...toKeyProvider('k'), providerId: 'rsa' }, "'Private RSA Key' is required"],
  [{ ...toKeyProvider('k', { privateKey: ['x'] }), providerId: 'rsa' }, 'Failed to decode private key'],
  [
    {
      name: 'p',
      providerId: 'trusted-hosts',
      providerType: POLICY,
      config: { 'client-uris-must-match': ['false'], 'host-sending-registration-request-must-match': ['false'] },
    },
    'At least one of hosts verification or client URIs validation must be enabled',
  ],
  [toUserStore('x', { editMode: [] }), 'Edit Mode is mandatory'],
  [
    toUserStore('x', { startTls: ['true'], connectionPooling: ['true'] }),
    'Can not enable both StartTLS and connection pooling.',
  ],
  [
    toUserStore('x', { customUserSearchFilter: ['uid=x'] }),
    'Custom configured LDAP filter does not start with "(" or does not end with ")".',
  ],
])('invalid settings of a component return 400: %j, %s', async (body, errorMessage) => {
  expect(await call('POST', `${await createRealm()}/components`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage },
  })
})

test('workflow components are refused, and a component cannot be its own parent', async () => {
  const components = `${await createRealm()}/components`
  const body = { name: 'w', providerId: 'default', providerType: 'org.keycloak.models.workflow.WorkflowProvider' }
  expect((await call('POST', components, { body })).status).toBe(403)
  const store = await create(components, toUserStore('directory'))
  expect(await call('PUT', store, { body: { parentId: getId(store) } })).toMatchObject({
    status: 400,
    body: { errorMessage: expect.stringContaining('cannot be moved below itself') },
  })
  expect((await call('POST', components, { body: { ...toKeyProvider('k'), parentId: 'nowhere' } })).status).toBe(400)
})

test('a realm is created with subcomponents, localization texts, a user profile, client profiles and policies of a realm export', async () => {
  const name = `content-${Date.now()}`
  const body = {
    realm: name,
    components: {
      [STORAGE]: [
        {
          name: 'directory',
          providerId: 'ldap',
          config: { editMode: ['READ_ONLY'] },
          subComponents: {
            [MAPPER]: [
              { name: 'none', providerId: 'kerberos-principal-attribute-mapper', subComponents: {}, config: {} },
            ],
          },
        },
      ],
    },
    localizationTexts: { de: { hello: 'Hallo' } },
    userProfile: { attributes: [{ name: 'username' }, { name: 'email' }], unmanagedAttributePolicy: 'ENABLED' },
    clientProfiles: { profiles: [{ name: 'custom', description: 'Own profile', executors: [] }] },
    clientPolicies: { policies: [{ name: 'own', description: 'Own policy', profiles: ['custom'] }] },
  }
  expect((await call('POST', '/admin/realms', { body })).status).toBe(201)
  const read = async (path: string) => (await call('GET', `/admin/realms/${name}/${path}`)).body
  const [{ id }] = await read('components?name=directory')
  expect(await read(`components?parent=${id}`)).toMatchObject([{ name: 'none', config: {} }])
  expect(await read('localization/de')).toEqual({ hello: 'Hallo' })
  expect(await read('users/profile')).toMatchObject({ unmanagedAttributePolicy: 'ENABLED' })
  const profiles = [{ name: 'custom', description: 'Own profile' }]
  expect(await read('client-policies/profiles')).toMatchObject({ profiles })
  const policies = [{ name: 'own', description: 'Own policy', profiles: ['custom'] }]
  expect(await read('client-policies/policies')).toMatchObject({ policies })
  expect((await call('GET', `/admin/realms/${name}`)).body.clientProfiles.profiles).toHaveLength(1)
})

test('an empty name, type or parent in the query lists all components', async () => {
  const components = `${await createRealm()}/components`
  const { body: all } = await call('GET', components)
  for (const query of ['name=', 'type=', 'parent=', 'name=&type=&parent='])
    expect((await call('GET', `${components}?${query}`)).body, query).toEqual(all)
})

test('the name of the realm is accepted in place of its id as a parent', async () => {
  const path = await createRealm()
  const realm = getId(path)
  const key = await create(`${path}/components`, { ...toKeyProvider('first'), parentId: realm })
  const { body } = await call('GET', key)
  expect(body.parentId).toBe((await call('GET', path)).body.id)
  expect((await call('PUT', key, { body: { ...body, parentId: realm } })).status).toBe(204)
  const byName = (await call('GET', `${path}/components?parent=${realm}&type=${KEY}`)).body
  expect(byName).toEqual((await call('GET', `${path}/components?parent=${body.parentId}&type=${KEY}`)).body)
  expect(byName).toContainEqual(body)
})

test('the types of subcomponents are listed with and without the type, for components with and without subcomponents', async () => {
  const components = `${await createRealm()}/components`
  const store = await create(components, toUserStore('directory'))
  const keys = await create(components, toKeyProvider('keys'))
  const list = async (component: string, query = '') => call('GET', `${component}/sub-component-types${query}`)
  const mappers = await list(store, `?type=${MAPPER}`)
  expect(mappers.body).toContainEqual(expect.objectContaining({ id: 'user-attribute-ldap-mapper' }))
  expect(await list(store)).toMatchObject({ status: 200, body: mappers.body })
  expect(await list(store, '?type=')).toMatchObject({ status: 200, body: mappers.body })
  expect(await list(keys)).toMatchObject({ status: 200, body: [] })
  expect((await list(store, '?type=unknown')).status).toBe(400)
  expect((await list(`${components}/unknown`)).status).toBe(404)
})
