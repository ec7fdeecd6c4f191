// Components in documents: lists by provider type, with subcomponents inside their parents.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listLiveObjects, updateObject } from '../support/live-objects.ts'
import { apply, exportDocument, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN } from '../support/sources.ts'

useNewRealmPerTest()

const STORAGE = 'org.keycloak.storage.UserStorageProvider'
const MAPPER = 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper'
const POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'
const PROFILE = 'org.keycloak.userprofile.UserProfileProvider'

const phone = {
  name: 'phone',
  providerId: 'user-attribute-ldap-mapper',
  config: { 'ldap.attribute': ['tel'], 'user.model.attribute': ['phone'] },
}
const store = (more: object = {}, config: object = {}) => ({
  name: 'staff/all',
  providerId: 'ldap',
  config: {
    editMode: ['READ_ONLY'],
    bindCredential: ['hush'],
    userObjectClasses: ['organizationalPerson', 'inetOrgPerson'],
    ...config,
  },
  subComponents: { [MAPPER]: [phone] },
  ...more,
})
const stores = (...all: object[]) => ({ components: { [STORAGE]: all } })

test('after an apply, the plans of the document and of an export are empty; the export nests subcomponents and masks secrets', async () => {
  expect(await plan(stores(store()))).toContain('component UserStorageProvider/staff%2Fall/LDAPStorageMapper/phone')
  await apply(stores(store()))
  expect(await plan(stores(store()))).toContain('Nothing to do.')
  expect(await plan(stores(store({}, { userObjectClasses: ['inetOrgPerson', 'organizationalPerson'] })))).toContain(
    'Nothing to do.',
  )
  const exportedDocument = await exportDocument()
  expect(exportedDocument.components).toMatchObject({
    [STORAGE]: [
      { name: 'staff/all', config: { bindCredential: ['**********'] }, subComponents: { [MAPPER]: [phone] } },
    ],
  })
  expect(await plan(exportedDocument)).toContain('Nothing to do.')
  expect(JSON.stringify(await exportDocument({ secrets: true }))).toContain('"bindCredential":["hush"]')
})

test('a changed secret is planned as an update, without its value', async () => {
  await apply(stores(store()))
  const text = await plan(stores(store({}, { bindCredential: ['another secret'] })))
  expect(text).toContain('config.bindCredential: (secret changes)')
  expect(text).not.toContain('another secret')
})

test('a component that was renamed by REST gets its declared name again, with its subcomponents', async () => {
  await apply(stores(store()))
  await updateObject(service, ANN, realm, 'component', [`${STORAGE}/staff%2Fall`], { path: `${STORAGE}/employees` })
  const renamed = await listLiveObjects(service, SYSTEM, realm, 'component')
  expect([...renamed.keys()]).toContain(`${STORAGE}/employees/${MAPPER}/phone`)
  await apply(stores(store()))
  expect(await plan(stores(store()))).toContain('Nothing to do.')
  const live = await listLiveObjects(service, SYSTEM, realm, 'component')
  expect([...live.keys()]).toContain(`${STORAGE}/staff%2Fall/${MAPPER}/phone`)
  expect(live.size).toBe(renamed.size)
})

test('built-in policies of one name are identified by their subtype; one that is removed from the source gets its defaults again', async () => {
  const policies = (subType: string) => ({
    components: {
      [POLICY]: [
        {
          name: 'Allowed Client Scopes',
          providerId: 'allowed-client-templates',
          subType,
          config: { 'allow-default-scopes': ['false'] },
        },
      ],
    },
  })
  expect(await plan(policies('anonymous'))).toContain(
    '~ component ClientRegistrationPolicy(anonymous)/Allowed Client Scopes',
  )
  await apply(policies('anonymous'))
  await apply({})
  const live = await listLiveObjects(service, SYSTEM, realm, 'component')
  const { config } = live.get(`${POLICY}(anonymous)/Allowed Client Scopes`)!.representation
  expect(config).toEqual({ 'allow-default-scopes': ['true'] })
})

test('a component of an unknown provider is stored, and the plan notes it; settings of a known provider are validated', async () => {
  const custom = {
    components: { 'org.acme.Meter': [{ name: 'm', providerId: 'acme-meter', config: { every: ['5'] } }] },
  }
  expect(await plan(custom)).toContain('Regent does not have the component acme-meter; it has no effect')
  await apply(custom)
  expect(await plan(custom)).toContain('Nothing to do.')
  await expect(apply(stores(store({}, { connectionTimeout: ['soon'] })))).rejects.toThrow(
    'Connection Timeout must be a number',
  )
})

test('userFederationProviders and userFederationMappers of old versions become components; a mapper without its provider is refused', async () => {
  const old = {
    userFederationProviders: [
      {
        id: 'old-store',
        displayName: 'staff',
        providerName: 'ldap',
        priority: 1,
        config: { editMode: 'READ_ONLY', empty: '' },
      },
    ],
    userFederationMappers: [
      {
        name: 'phone',
        federationProviderDisplayName: 'staff',
        federationMapperType: phone.providerId,
        config: { 'ldap.attribute': 'tel', 'user.model.attribute': 'phone' },
      },
    ],
  }
  await apply(old)
  expect(await plan(old)).toContain('Nothing to do.')
  expect((await exportDocument()).components).toMatchObject({
    [STORAGE]: [
      {
        name: 'staff',
        providerId: 'ldap',
        config: { editMode: ['READ_ONLY'], fullSyncPeriod: ['0'], priority: ['1'] },
        subComponents: { [MAPPER]: [phone] },
      },
    ],
  })
  const unresolved = {
    userFederationMappers: [{ ...old.userFederationMappers[0], federationProviderDisplayName: 'nobody' }],
  }
  await expect(plan(unresolved)).rejects.toThrow(
    'mapper phone: user federation provider "nobody" is not in this document',
  )
})

test('whitespace and the order of keys in the user profile are not changes', async () => {
  const profile = (text: string) => ({
    components: {
      [PROFILE]: [{ providerId: 'declarative-user-profile', config: { 'kc.user.profile.config': [text] } }],
    },
  })
  await apply(profile('{"attributes":[{"name":"username","multivalued":false},{"name":"email"}]}'))
  expect(
    await plan(profile('{ "attributes": [ {"multivalued": false, "name": "username"}, {"name": "email"} ] }')),
  ).toContain('Nothing to do.')
})

test('userProfile declares the same as its component; an invalid user profile is refused', async () => {
  const profile = {
    attributes: [{ name: 'username' }, { name: 'email' }, { name: 'unit', group: 'work' }],
    groups: [{ name: 'work' }],
  }
  await apply({ userProfile: profile })
  expect(await plan({ userProfile: profile })).toContain('Nothing to do.')
  const text = JSON.stringify({ groups: profile.groups, attributes: profile.attributes })
  const component = { providerId: 'declarative-user-profile', config: { 'kc.user.profile.config': [text] } }
  expect(await plan({ components: { [PROFILE]: [component] } })).toContain('Nothing to do.')
  expect(await plan(await exportDocument())).toContain('Nothing to do.')
  await expect(apply({ userProfile: { ...profile, groups: [] } })).rejects.toThrow(
    "[Attribute 'unit' references unknown group 'work']",
  )
  await expect(plan({ userProfile: [] })).rejects.toThrow('userProfile must be an object, not a list')
})

test('invalid components are refused with their path', async () => {
  await expect(plan({ components: [1] })).rejects.toThrow('components')
  await expect(plan({ components: { [STORAGE]: { name: 'x' } } })).rejects.toThrow(
    `components.${STORAGE} must be a list, not an object`,
  )
  await expect(plan(stores(store({ subComponents: [] })))).rejects.toThrow('must be an object, not a list')
  await expect(plan(stores(store(), store()))).rejects.toThrow('is declared twice')
})

test('a note names the type that was meant for a component under another type', async () => {
  const note = 'org.keycloak.storage.UserStoreProvider has no provider ldap; did you mean'
  expect(await plan({ components: { 'org.keycloak.storage.UserStoreProvider': [store()] } })).toContain(
    `${note} ${STORAGE}?`,
  )
  expect(await plan(stores(store()))).not.toContain('has no provider')
})
