// A directory decides who its users are, so nobody lets it give users more admin permissions than they have themselves.
import { expect, test } from 'vitest'
import type { AdminRole } from '../../src/kinds/admin-roles.ts'
import { LDAP_MAPPER } from '../../src/kinds/component-types.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { createMapper, createStore } from '../support/directory.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const store = createStore('ldap://127.0.0.1:1')
const membership = { 'membership.ldap.attribute': 'member', 'membership.attribute.type': 'DN', mode: 'READ_ONLY' }
const strategies = (name: string) => ({
  ...membership,
  'user.roles.retrieve.strategy': `LOAD_${name}_BY_MEMBER_ATTRIBUTE`,
  'membership.user.ldap.attribute': 'uid',
})
const roleMapper = {
  ...strategies('ROLES'),
  'roles.dn': 'ou=roles,dc=example,dc=org',
  'role.name.ldap.attribute': 'cn',
  'role.object.classes': 'groupOfNames',
  'use.realm.roles.mapping': 'true',
}
const groupMapper = {
  ...strategies('GROUPS'),
  'groups.dn': 'ou=groups,dc=example,dc=org',
  'group.name.ldap.attribute': 'cn',
  'group.object.classes': 'groupOfNames',
  'groups.path': '/',
}
const getLastSegment = (location: string) => location.split('/').at(-1)!

/** Creates a realm with a user store of its admin, and a caller who may manage the realm and all its users. */
async function createRealmWithStore() {
  const realm = await createAdminRealm({ manager: 'manage-realm manage-users' })
  const { headers, status } = await realm.as('admin', 'POST', 'components', store)
  expect(status).toBe(201)
  const storeId = getLastSegment(String(headers.location))
  return { ...realm, storeId }
}

test('only a caller with the admin permissions of all users may create a user store, or change its directory', async () => {
  const { as, expectForbidden, storeId } = await createRealmWithStore()
  await expectForbidden('manager', 'POST', 'components', store)
  for (const setting of ['connectionUrl', 'bindDn', 'usersDn', 'uuidLDAPAttribute', 'usernameLDAPAttribute'])
    await expectForbidden('manager', 'PUT', `components/${storeId}`, { config: { [setting]: ['other'] } })
  expect((await as('manager', 'PUT', `components/${storeId}`, { config: { priority: ['3'] } })).status).toBe(204)
})

test('only a caller who may grant all roles of the realm may create or change a mapper of groups or roles', async () => {
  const { as, expectForbidden, storeId } = await createRealmWithStore()
  for (const mapper of [
    createMapper(storeId, 'role-ldap-mapper', roleMapper),
    createMapper(storeId, 'role-ldap-mapper', {
      ...roleMapper,
      'client.id': 'realm-management',
      'use.realm.roles.mapping': 'false',
    }),
    createMapper(storeId, 'group-ldap-mapper', groupMapper),
  ]) {
    await expectForbidden('manager', 'POST', 'components', mapper)
    const { headers } = await as('admin', 'POST', 'components', mapper)
    const address = `components/${getLastSegment(String(headers.location))}`
    await expectForbidden('manager', 'PUT', address, { config: { mode: ['IMPORT'] } })
  }
})

test.each([
  ['hardcoded-ldap-role-mapper', 'role', 'administrator', 403],
  ['hardcoded-ldap-role-mapper', 'role', ' administrator ', 403],
  ['hardcoded-ldap-role-mapper', 'role', 'realm-management.realm-admin', 403],
  ['hardcoded-ldap-role-mapper', 'role', 'offline_access', 201],
  ['hardcoded-ldap-group-mapper', 'group', '/realm-admins', 403],
  ['hardcoded-ldap-group-mapper', 'group', 'realm-admins', 403],
  ['hardcoded-ldap-group-mapper', 'group', ' realm-admins', 403],
])('the mapper %s with the %s "%s" returns %i to a caller without admin permissions of realm-admin', async (...row) => {
  const [providerId, setting, value, status] = row
  const { as, storeId } = await createRealmWithStore()
  expect((await as('admin', 'POST', 'groups', { name: 'nothing' })).status).toBe(201)
  const harmless = createMapper(storeId, providerId, { [setting]: 'nothing' })
  const created = await as('manager', 'POST', 'components', harmless)
  expect(created.status).toBe(201)
  const mapper = createMapper(storeId, providerId, { [setting]: value })
  expect((await as('manager', 'POST', 'components', mapper)).status).toBe(status)
  const address = `components/${getLastSegment(String(created.headers.location))}`
  const { status: statusOfUpdate } = await as('manager', 'PUT', address, { config: mapper.config })
  expect(statusOfUpdate).toBe(status === 201 ? 204 : status)
})

test.each(['LDAP_ID', 'LDAP_ENTRY_DN'])(
  'a source with fewer admin permissions cannot make a user of a directory another entry by the attribute %s',
  async (attribute) => {
    const { service } = await testService()
    const { name } = await createRealmWithStore()
    const declare = (user: object) => ({
      ...createSource([{ realm: name, users: [{ username: 'admin', ...user }] }], `users-of-${name}`),
      sourcePermissions: { roles: ['manage-users'] as const },
    })
    const problem = { message: expect.stringContaining(`you lack realm-admin of ${name}`) }
    for (const user of [{ attributes: { [attribute]: ['other'] } }, { federationLink: 'other' }])
      await expect(applySource(service, declare(user))).rejects.toMatchObject({ problems: [problem] })
  },
)

test('a source may declare a mapper of groups only with the permissions of realm-admin', async () => {
  const { service } = await testService()
  const { name } = await createRealmWithStore()
  const { providerType, ...component } = store
  const { name: mapperName, providerId, config } = createMapper('', 'group-ldap-mapper', groupMapper)
  const subComponents = { [LDAP_MAPPER]: [{ name: mapperName, providerId, config }] }
  const declare = (roles: readonly AdminRole[]) => ({
    ...createSource([{ realm: name, components: { [providerType]: [{ ...component, subComponents }] } }], name),
    sourcePermissions: { roles },
  })
  const problem = { message: expect.stringContaining(`you lack realm-admin of ${name}`) }
  await expect(applySource(service, declare(['manage-realm']))).rejects.toMatchObject({ problems: [problem] })
  await applySource(service, declare(['realm-admin']))
})
