import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const KEY = 'org.keycloak.keys.KeyProvider'
const STORAGE = 'org.keycloak.storage.UserStorageProvider'
const MAPPER = 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper'
const POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'
const idOf = (address: string) => address.split('/').at(-1)!
const key = (name: string, config: object = {}) => ({ name, providerId: 'hmac-generated', providerType: KEY, config })
const ldap = (name: string, config: object = {}) => ({
  name,
  providerId: 'ldap',
  providerType: STORAGE,
  config: { editMode: ['READ_ONLY'], bindCredential: ['hush'], ...config },
})

test('of two components with the same name, the one with the id is updated, deleted and given subcomponents', async () => {
  const components = `${await realm()}/components`
  const [first, second] = [await make(components, ldap('directory')), await make(components, ldap('directory'))]
  const phone = {
    name: 'phone',
    providerId: 'user-attribute-ldap-mapper',
    providerType: MAPPER,
    parentId: idOf(second),
    config: { 'ldap.attribute': ['tel'], 'user.model.attribute': ['phone'] },
  }
  const part = await make(components, phone)
  const partsOf = async (id: string) => (await call('GET', `${components}?parent=${id}`)).body.length
  expect([await partsOf(idOf(first)), await partsOf(idOf(second))]).toEqual([7, 8])
  await call('PUT', part, { body: { name: 'phone' } })
  expect((await call('GET', part)).body.parentId).toBe(idOf(second))
  await call('PUT', second, { body: { name: 'folk' } })
  expect((await call('GET', first)).body.name).toBe('directory')
  expect((await call('GET', part)).body).toMatchObject(phone)
  expect((await call('DELETE', second)).status).toBe(204)
  expect((await call('GET', part)).status).toBe(404)
  expect(await partsOf(idOf(first))).toBe(7)
})

test.each([
  ['users log in with it', 'cn', 'READ_ONLY', ['first name ← givenName', 'username ← cn']],
  ['it is written', 'uid', 'WRITABLE', ['first name ← givenName', 'username ← uid', 'username-cn ← cn']],
  ['it is only read', 'uid', 'READ_ONLY', ['full name ← cn', 'username ← uid']],
])('an LDAP user store with the common name as RDN gets name mappers: %s', async (_, name, mode, expected) => {
  const components = `${await realm()}/components`
  const settings = { rdnLDAPAttribute: ['cn'], usernameLDAPAttribute: [name], editMode: [mode] }
  const { body } = await call(
    'GET',
    `${components}?parent=${idOf(await make(components, ldap('directory', settings)))}`,
  )
  const from = (config: Record<string, string[]>) => config['ldap.attribute'] ?? config['ldap.full.name.attribute']
  const mappers = body.map(({ name, config }: { name: string; config: Record<string, string[]> }) => [
    name,
    from(config),
  ])
  const nameMappers = mappers.filter(([name]: [string]) => /^(first|full) name$|^username/.test(name))
  expect(nameMappers.map((mapper: string[]) => mapper.join(' ← ')).sort()).toEqual(expected)
})

test('secrets are masked and internal settings are hidden; a mask retains the secret, and a vault reference is not masked', async () => {
  const components = `${await realm()}/components`
  const store = await make(components, ldap('directory', { nonsense: ['x'] }))
  const config = async () => (await call('GET', store)).body.config
  expect(await config()).toMatchObject({ bindCredential: ['**********'] })
  expect(await config()).not.toHaveProperty('nonsense')
  await call('PUT', store, {
    body: { config: { bindCredential: ['**********'], editMode: ['WRITABLE'], priority: [''] } },
  })
  expect(await config()).toMatchObject({ bindCredential: ['**********'], editMode: ['WRITABLE'] })
  await call('PUT', store, { body: { config: { bindCredential: ['${vault.directory}'] } } })
  expect((await config()).bindCredential).toEqual(['${vault.directory}'])
})

test.each([
  [key('k', { priority: ['1', '2'] }), "'Priority' should be a single entry"],
  [key('k', { secretSize: ['7'] }), "'Secret size' should be 16, 24, 32, 64, 128, 256 or 512"],
  [{ ...key('k'), providerId: 'rsa' }, "'Private RSA Key' is required"],
  [{ ...key('k', { privateKey: ['x'] }), providerId: 'rsa' }, 'Failed to decode private key'],
  [
    {
      name: 'p',
      providerId: 'trusted-hosts',
      providerType: POLICY,
      config: { 'client-uris-must-match': ['false'], 'host-sending-registration-request-must-match': ['false'] },
    },
    'At least one of hosts verification or client URIs validation must be enabled',
  ],
  [ldap('x', { editMode: [] }), 'Edit Mode is mandatory'],
  [
    ldap('x', { startTls: ['true'], connectionPooling: ['true'] }),
    'Can not enable both StartTLS and connection pooling.',
  ],
  [
    ldap('x', { customUserSearchFilter: ['uid=x'] }),
    'Custom configured LDAP filter does not start with "(" or does not end with ")".',
  ],
])('invalid settings of a provider are refused with its message: %#', async (body, errorMessage) => {
  expect(await call('POST', `${await realm()}/components`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage },
  })
})

test('workflow components are refused, and a component cannot be its own parent', async () => {
  const components = `${await realm()}/components`
  const body = { name: 'w', providerId: 'default', providerType: 'org.keycloak.models.workflow.WorkflowProvider' }
  expect((await call('POST', components, { body })).status).toBe(403)
  const store = await make(components, ldap('directory'))
  const inside = { body: { parentId: idOf(store) } }
  expect(await call('PUT', store, inside)).toMatchObject({
    status: 400,
    body: { errorMessage: expect.stringContaining('cannot be moved below itself') },
  })
  expect((await call('POST', components, { body: { ...key('k'), parentId: 'nowhere' } })).status).toBe(400)
})

test('a realm is created with subcomponents, texts, a user profile and client policies in the form of documents', async () => {
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
    clientProfiles: { profiles: [{ name: 'own', executors: [] }] },
  }
  expect((await call('POST', '/admin/realms', { body })).status).toBe(201)
  const read = async (path: string) => (await call('GET', `/admin/realms/${name}/${path}`)).body
  const [{ id }] = await read('components?name=directory')
  expect(await read(`components?parent=${id}`)).toMatchObject([{ name: 'none', config: {} }])
  expect(await read('localization/de')).toEqual({ hello: 'Hallo' })
  expect(await read('users/profile')).toMatchObject({ unmanagedAttributePolicy: 'ENABLED' })
  expect(await read('client-policies/profiles')).toMatchObject({ profiles: [{ name: 'own' }] })
  expect((await call('GET', `/admin/realms/${name}`)).body.clientProfiles.profiles).toHaveLength(1)
})
