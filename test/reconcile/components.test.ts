// Components in documents: by the type of their provider, each with those that belong to it.
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
  name: 'people/all',
  providerId: 'ldap',
  config: {
    editMode: ['READ_ONLY'],
    bindCredential: ['hush'],
    userObjectClasses: ['person', 'inetOrgPerson'],
    ...config,
  },
  subComponents: { [MAPPER]: [phone] },
  ...more,
})
const stores = (...all: object[]) => ({ components: { [STORAGE]: all } })

test('apply, then plan, is empty; an export has parts in what they belong to and secrets masked, and plans to nothing', async () => {
  expect(await plan(stores(store()))).toContain('component UserStorageProvider/people%2Fall/LDAPStorageMapper/phone')
  await apply(stores(store()))
  expect(await plan(stores(store()))).toContain('Nothing to do.')
  expect(await plan(stores(store({}, { userObjectClasses: ['inetOrgPerson', 'person'] })))).toContain('Nothing to do.')
  const shown = await exportDocument()
  expect(shown.components).toMatchObject({
    [STORAGE]: [
      { name: 'people/all', config: { bindCredential: ['**********'] }, subComponents: { [MAPPER]: [phone] } },
    ],
  })
  expect(await plan(shown)).toContain('Nothing to do.')
  expect(JSON.stringify(await exportDocument({ secrets: true }))).toContain('"bindCredential":["hush"]')
})

test('a secret that changes is a change, and no plan shows it', async () => {
  await apply(stores(store()))
  const text = await plan(stores(store({}, { bindCredential: ['secret no more'] })))
  expect(text).toContain('config.bindCredential: (secret changes)')
  expect(text).not.toContain('no more')
})

test('who is renamed takes its parts along, and is named back', async () => {
  await apply(stores(store()))
  await updateObject(service, ANN, realm, 'component', [`${STORAGE}/people%2Fall`], { path: `${STORAGE}/folk` })
  const renamed = await listLiveObjects(service, SYSTEM, realm, 'component')
  expect([...renamed.keys()]).toContain(`${STORAGE}/folk/${MAPPER}/phone`)
  await apply(stores(store()))
  expect(await plan(stores(store()))).toContain('Nothing to do.')
  const live = await listLiveObjects(service, SYSTEM, realm, 'component')
  expect([...live.keys()]).toContain(`${STORAGE}/people%2Fall/${MAPPER}/phone`)
  expect(live.size).toBe(renamed.size)
})

test('two built-in policies that differ in their sub-type only are told apart; a stated one goes back to what it was', async () => {
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

test('a provider that Regent does not have is kept, and the plan says so; a known one is checked', async () => {
  const own = { components: { 'org.acme.Meter': [{ name: 'm', providerId: 'acme-meter', config: { every: ['5'] } }] } }
  expect(await plan(own)).toContain('Regent does not have the component acme-meter; it is stored only')
  await apply(own)
  expect(await plan(own)).toContain('Nothing to do.')
  await expect(apply(stores(store({}, { connectionTimeout: ['soon'] })))).rejects.toThrow(
    'Connection Timeout must be a number',
  )
})

test('stores as earlier versions list them are components; a mapper names its store', async () => {
  const old = {
    userFederationProviders: [
      {
        id: 'old-store',
        displayName: 'people',
        providerName: 'ldap',
        priority: 1,
        config: { editMode: 'READ_ONLY', empty: '' },
      },
    ],
    userFederationMappers: [
      {
        name: 'phone',
        federationProviderDisplayName: 'people',
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
        name: 'people',
        providerId: 'ldap',
        config: { editMode: ['READ_ONLY'], fullSyncPeriod: ['0'], priority: ['1'] },
        subComponents: { [MAPPER]: [phone] },
      },
    ],
  })
  const lost = { userFederationMappers: [{ ...old.userFederationMappers[0], federationProviderDisplayName: 'nobody' }] }
  await expect(plan(lost)).rejects.toThrow('mapper phone: user federation provider "nobody" is not in this document')
})

test('spaces and the order of keys in the user profile say nothing', async () => {
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

test('a user profile that is stated by itself is the component; what is wrong with one is said', async () => {
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

test('what cannot be a component is said with its place', async () => {
  await expect(plan({ components: [1] })).rejects.toThrow('components')
  await expect(plan({ components: { [STORAGE]: { name: 'x' } } })).rejects.toThrow(
    `components.${STORAGE} must be a list, not an object`,
  )
  await expect(plan(stores(store({ subComponents: [] })))).rejects.toThrow('must be an object, not a list')
  await expect(plan(stores(store(), store()))).rejects.toThrow('is declared twice')
})
