// Changes of users that are written to an OpenLDAP server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { APPLICATION, loginAddress, testBrowser } from '../support/browser.ts'
import {
  acceptsPassword,
  changeDirectory,
  createMapper,
  createStore,
  FOLDERS,
  readDirectory,
  renderGroup,
  renderUser,
} from '../support/directory.ts'
import { testServer } from '../support/server.ts'
import { hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'

const { app, call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const dnOf = (name: string) => `uid=${name},ou=users,dc=example,dc=org`
const groupDn = (name: string) => `cn=${name},ou=groups,dc=example,dc=org`
const roleDn = (name: string) => `cn=${name},ou=roles,dc=example,dc=org`

let directory: TestDirectory

async function openRealm(settings: Readonly<Record<string, string>> = {}, realm: object = {}) {
  const path = await createRealm({ editUsernameAllowed: true, ...realm })
  const store = createStore(directory.url, { editMode: 'WRITABLE', syncRegistrations: 'true', ...settings })
  const id = getLastSegment(await create(`${path}/components`, store))
  const find = async (name: string) => (await call('GET', `${path}/users?username=${name}&exact=true`)).body[0]
  const put = async (name: string, changes: object) => {
    const user = await find(name)
    return call('PUT', `${path}/users/${user.id}`, { body: { ...user, ...changes } })
  }
  const addMapper = async (providerId: string, mapper: Readonly<Record<string, string>>, name = providerId) =>
    getLastSegment(await create(`${path}/components`, { ...createMapper(id, providerId, mapper), name }))
  const resetPassword = async (name: string, value: string) =>
    call('PUT', `${path}/users/${(await find(name)).id}/reset-password`, { body: { type: 'password', value } })
  const allowAttributes = async () => {
    const { body: profile } = await call('GET', `${path}/users/profile`)
    await call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy: 'ENABLED' } })
  }
  return { path, id, find, put, addMapper, resetPassword, allowAttributes }
}

const groupMapper = {
  'groups.dn': 'ou=groups,dc=example,dc=org',
  'group.object.classes': 'groupOfNames',
  'preserve.group.inheritance': 'false',
}
const roleMapper = {
  'roles.dn': 'ou=roles,dc=example,dc=org',
  'role.object.classes': 'groupOfNames',
  'use.realm.roles.mapping': 'true',
}

describe.skipIf(!hasSlapd)('with a writable directory', () => {
  beforeAll(async () => {
    const users = ['ann', 'bob', 'carla', 'dora', 'emil', 'frank', 'greta', 'hugo', 'ida', 'jan', 'kim']
    directory = await startSlapd({
      entries: [
        FOLDERS,
        ...users.map((name) => renderUser(name)),
        renderGroup('crew', 'groups', [dnOf('dora'), dnOf('emil')]),
        renderGroup('editor', 'roles', [dnOf('dora')]),
      ].join('\n'),
    })
  })
  afterAll(() => directory?.remove())

  const read = (dn: string) => readDirectory(directory.url, dn)
  const accepts = (name: string, password: string) => acceptsPassword(directory.url, dnOf(name), password)

  test('PUT writes the mapped fields of a user to the directory', async () => {
    const { put, find } = await openRealm()
    expect((await put('ann', { firstName: 'Anna', lastName: '', email: 'Anna@example.org' })).status).toBe(204)
    expect(await read(dnOf('ann'))).toMatchObject({ cn: ['Anna'], sn: [' '], mail: ['anna@example.org'] })
    expect(await find('ann')).toMatchObject({ firstName: 'Anna', email: 'anna@example.org' })
  })

  test('PUT renames the entry of a user, and replaces it in groups', async () => {
    const { path, put, find, addMapper } = await openRealm()
    const mapper = await addMapper('group-ldap-mapper', { ...groupMapper, mode: 'LDAP_ONLY' })
    const { id } = await find('emil')
    await call('POST', `${path}/user-storage/x/mappers/${mapper}/sync?direction=fedToKeycloak`)
    expect((await put('emil', { username: 'emil+jr' })).status).toBe(204)
    expect(await read(dnOf('emil'))).toBeUndefined()
    const dn = dnOf(String.raw`emil\+jr`)
    expect(await read(dn)).toMatchObject({ uid: ['emil+jr'] })
    const renamed = (await call('GET', `${path}/users/${id}`)).body
    expect(renamed).toMatchObject({ username: 'emil+jr', attributes: { LDAP_ENTRY_DN: [dn] } })
    const { member = [] } = (await read(groupDn('crew'))) ?? {}
    expect(member.some((name) => name.includes('jr'))).toBe(true)
    expect(member).not.toContain(dnOf('emil'))
  })

  test.each([
    ['username', { username: 'kim' }],
    ['email', { email: 'kim@example.org' }],
  ])('PUT with the %s of another entry returns 409, and changes nothing', async (field, changes) => {
    const { put, find } = await openRealm()
    expect(await put('bob', { firstName: 'New', ...changes })).toMatchObject({
      status: 409,
      body: { errorMessage: `User exists with same ${field}` },
    })
    expect(await read(dnOf('bob'))).toMatchObject({ cn: ['Bob'] })
    expect(await find('bob')).toMatchObject({ firstName: 'Bob' })
  })

  test('PUT that the directory refuses changes neither the directory nor the realm', async () => {
    const { put, find, addMapper, allowAttributes } = await openRealm()
    await addMapper('user-attribute-ldap-mapper', {
      'user.model.attribute': 'phone',
      'ldap.attribute': 'telephoneNumber',
    })
    await allowAttributes()
    const refused = await put('bob', { username: 'bobby', attributes: { phone: ['ümläut'] } })
    expect(refused.status).toBe(400)
    expect(refused.body.errorMessage).toContain('The user federation provider "directory" failed')
    expect(await read(dnOf('bobby'))).toBeUndefined()
    expect(await read(dnOf('bob'))).not.toHaveProperty('telephonenumber')
    expect(await find('bob')).toMatchObject({ username: 'bob' })
    expect((await put('bob', { attributes: { phone: ['2', '1'] } })).status).toBe(204)
    expect((await read(dnOf('bob')))?.telephonenumber?.sort()).toEqual(['1', '2'])
    expect((await put('bob', { attributes: {} })).status).toBe(204)
    expect(await read(dnOf('bob'))).not.toHaveProperty('telephonenumber')
  })

  test('a directory that does not respond changes nothing, and is an error', async () => {
    const { path, put, find, resetPassword } = await openRealm({ readTimeout: '300', connectionTimeout: '300' })
    const { id } = await find('carla')
    await directory.pause()
    try {
      for (const response of [
        await put('carla', { firstName: 'New' }),
        await resetPassword('carla', 'other'),
        await call('POST', `${path}/users`, { body: { username: 'during' } }),
        await call('DELETE', `${path}/users/${id}`),
      ]) {
        expect(response.status).toBe(400)
        expect(JSON.stringify(response.body)).toContain('The user federation provider \\"directory\\" failed')
      }
      expect((await call('GET', `${path}/users/${id}`)).body.firstName).toBe('Carla')
    } finally {
      directory.resume()
    }
    expect(await read(dnOf('carla'))).toMatchObject({ cn: ['Carla'] })
    expect(await read(dnOf('during'))).toBeUndefined()
    expect(await accepts('carla', 'carla-secret')).toBe(true)
  })

  test.each([['false'], ['true']])(
    'a password is reset in the directory, with usePasswordModifyExtendedOp %s',
    async (usePasswordModifyExtendedOp) => {
      const { path, find, resetPassword } = await openRealm({ usePasswordModifyExtendedOp })
      const password = `password-${usePasswordModifyExtendedOp}`
      expect((await resetPassword('carla', password)).status).toBe(204)
      expect(await accepts('carla', password)).toBe(true)
      const { id } = await find('carla')
      expect((await call('GET', `${path}/users/${id}/credentials`)).body).toHaveLength(1)
    },
  )

  test('the password policy applies to the directory with validatePasswordPolicy only', async () => {
    const policy = { passwordPolicy: 'length(8)' }
    const [unchecked, checked] = [
      await openRealm({}, policy),
      await openRealm({ validatePasswordPolicy: 'true' }, policy),
    ]
    expect((await unchecked.resetPassword('frank', 'short')).status).toBe(204)
    expect(await checked.resetPassword('frank', 'tiny')).toMatchObject({
      status: 400,
      body: { error: 'invalidPasswordMinLengthMessage' },
    })
    expect(await accepts('frank', 'short')).toBe(true)
  })

  test('with syncRegistrations, a new user is created in the directory', async () => {
    const { path, id, find } = await openRealm()
    const credentials = [{ type: 'password', value: 'new-secret' }]
    await create(`${path}/users`, { username: 'Newcomer', email: 'n@example.org', enabled: true, credentials })
    expect(await read(dnOf('newcomer'))).toMatchObject({
      objectclass: ['inetOrgPerson'],
      mail: ['n@example.org'],
      cn: [' '],
      sn: [' '],
    })
    expect(await accepts('newcomer', 'new-secret')).toBe(true)
    const user = await find('newcomer')
    expect(user).toMatchObject({ federationLink: id, attributes: { LDAP_ENTRY_DN: [dnOf('newcomer')] } })
    expect(user.attributes.LDAP_ID).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect((await call('DELETE', `${path}/users/${user.id}`)).status).toBe(204)
    expect(await read(dnOf('newcomer'))).toBeUndefined()
    expect(await find('newcomer')).toBeUndefined()
  })

  test.each([
    ['without syncRegistrations', { syncRegistrations: 'false' }],
    ['in the edit mode READ_ONLY', { editMode: 'READ_ONLY' }],
    ['in the edit mode UNSYNCED', { editMode: 'UNSYNCED' }],
    ['with a disabled user store', { enabled: 'false' }],
  ])('%s, a new user is created in the realm only', async (_, settings) => {
    const { path, find } = await openRealm(settings)
    await create(`${path}/users`, { username: 'local', enabled: true })
    expect(await find('local')).not.toHaveProperty('federationLink')
    expect(await read(dnOf('local'))).toBeUndefined()
  })

  test('a new user with the username of an entry returns 409', async () => {
    const { path } = await openRealm()
    expect(await call('POST', `${path}/users`, { body: { username: 'jan' } })).toMatchObject({
      status: 409,
      body: { errorMessage: 'User exists with same username' },
    })
  })

  test('users that are created at the same time are all created in the directory', async () => {
    const { path, find } = await openRealm()
    const names = Array.from({ length: 6 }, (_, at) => `parallel-${at}`)
    await Promise.all(names.map((username) => create(`${path}/users`, { username })))
    for (const name of names) {
      expect(await read(dnOf(name))).toMatchObject({ uid: [name] })
      expect((await find(name)).attributes.LDAP_ID).toHaveLength(1)
    }
  })

  test('the removal of imported users, and of the user store, leaves the directory unchanged', async () => {
    const { path, id, find } = await openRealm()
    await find('hugo')
    expect((await call('POST', `${path}/user-storage/${id}/remove-imported-users`)).status).toBe(204)
    await find('hugo')
    await call('DELETE', `${path}/components/${id}`)
    expect(await read(dnOf('hugo'))).toMatchObject({ uid: ['hugo'] })
  })

  test('with the mode LDAP_ONLY, groups and roles of a user are written to the directory', async () => {
    const { path, find, addMapper } = await openRealm()
    await addMapper('group-ldap-mapper', { ...groupMapper, mode: 'LDAP_ONLY' })
    await addMapper('role-ldap-mapper', { ...roleMapper, mode: 'LDAP_ONLY' })
    const { id } = await find('greta')
    const group = getLastSegment(await create(`${path}/groups`, { name: 'night shift' }))
    await create(`${path}/roles`, { name: 'auditor' })
    const { body: role } = await call('GET', `${path}/roles/auditor`)
    const membership = `${path}/users/${id}/groups/${group}`
    expect((await call('PUT', membership)).status).toBe(204)
    expect((await read(groupDn('night shift')))?.member).toContain(dnOf('greta'))
    expect((await call('POST', `${path}/users/${id}/role-mappings/realm`, { body: [role] })).status).toBe(204)
    expect((await read(roleDn('auditor')))?.member).toContain(dnOf('greta'))
    expect((await call('DELETE', membership)).status).toBe(204)
    expect((await read(groupDn('night shift')))?.member).toEqual(['cn=empty-membership-placeholder'])
    expect((await call('DELETE', `${path}/users/${id}/role-mappings/realm`, { body: [role] })).status).toBe(204)
    expect((await read(roleDn('auditor')))?.member).not.toContain(dnOf('greta'))
  })

  test('with the mode READ_ONLY, groups and roles of the directory cannot be changed', async () => {
    const { path, id, find, addMapper } = await openRealm()
    const sync = async (mapper: string) =>
      call('POST', `${path}/user-storage/${id}/mappers/${mapper}/sync?direction=fedToKeycloak`)
    await sync(await addMapper('group-ldap-mapper', { ...groupMapper, mode: 'READ_ONLY' }))
    await sync(await addMapper('role-ldap-mapper', { ...roleMapper, mode: 'READ_ONLY' }))
    const dora = await find('dora')
    const [group] = (await call('GET', `${path}/users/${dora.id}/groups`)).body
    expect(group.name).toBe('crew')
    const error = 'Not possible to delete LDAP group mappings as mapper mode is READ_ONLY'
    expect(await call('DELETE', `${path}/users/${dora.id}/groups/${group.id}`)).toMatchObject({
      status: 400,
      body: { error, error_description: error },
    })
    const { body: role } = await call('GET', `${path}/roles/editor`)
    expect((await call('DELETE', `${path}/users/${dora.id}/role-mappings/realm`, { body: [role] })).status).toBe(400)
    const { id: greta } = await find('greta')
    expect((await call('PUT', `${path}/users/${greta}/groups/${group.id}`)).status).toBe(400)
    const local = getLastSegment(await create(`${path}/groups`, { name: 'local' }))
    expect((await call('PUT', `${path}/users/${greta}/groups/${local}`)).status).toBe(204)
  })

  test('with the mode IMPORT, groups are changed in the realm only', async () => {
    const { path, id, find, addMapper } = await openRealm()
    const mapper = await addMapper('group-ldap-mapper', { ...groupMapper, mode: 'IMPORT' })
    await call('POST', `${path}/user-storage/${id}/mappers/${mapper}/sync?direction=fedToKeycloak`)
    const dora = await find('dora')
    const [group] = (await call('GET', `${path}/users/${dora.id}/groups`)).body
    expect((await call('DELETE', `${path}/users/${dora.id}/groups/${group.id}`)).status).toBe(204)
    expect((await read(groupDn('crew')))?.member).toContain(dnOf('dora'))
    await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)
    expect((await call('GET', `${path}/users/${dora.id}/groups`)).body).toEqual([])
  })

  test('a user replaces the password of the directory at login', async () => {
    const { path, put } = await openRealm()
    await create(`${path}/clients`, { clientId: 'web', publicClient: true, redirectUris: [APPLICATION] })
    expect((await put('hugo', { requiredActions: ['UPDATE_PASSWORD'] })).status).toBe(204)
    const browser = testBrowser(app)
    const login = await browser.open(loginAddress(getLastSegment(path)).address)
    const page = await browser.send(login, { username: 'hugo', password: 'hugo-secret' })
    const done = await browser.send(page, { 'password-new': 'chosen', 'password-confirm': 'chosen' })
    expect(done.response?.get('code')).toBeTruthy()
    expect(await accepts('hugo', 'chosen')).toBe(true)
    expect(await accepts('hugo', 'hugo-secret')).toBe(false)
  })

  test('a user who registers is created in the directory with the password', async () => {
    const { path, id, find } = await openRealm({}, { registrationAllowed: true })
    await create(`${path}/clients`, { clientId: 'web', publicClient: true, redirectUris: [APPLICATION] })
    const browser = testBrowser(app)
    const page = await browser.open(loginAddress(getLastSegment(path), { prompt: 'create' }).address)
    const passwords = { password: 'lea-secret', 'password-confirm': 'lea-secret' }
    const form = { username: 'lea', email: 'lea@example.org', firstName: 'Lea', lastName: 'Luft', ...passwords }
    const refused = await browser.send(page, { ...form, username: 'jan' })
    expect(refused.text).toContain('This username is already taken.')
    const done = await browser.send(refused, form)
    expect(done.response?.get('code')).toBeTruthy()
    expect(await accepts('lea', 'lea-secret')).toBe(true)
    expect(await read(dnOf('lea'))).toMatchObject({ cn: ['Lea'], sn: ['Luft'], mail: ['lea@example.org'] })
    expect(await find('lea')).toMatchObject({ federationLink: id })
  })

  test('in the edit mode UNSYNCED, changes of fields are kept in the realm until the next synchronization', async () => {
    const { path, id, put, find } = await openRealm({ editMode: 'UNSYNCED', syncRegistrations: 'false' })
    const before = await read(dnOf('kim'))
    expect((await put('kim', { firstName: 'Local', email: 'local@example.org' })).status).toBe(204)
    expect(await find('kim')).toMatchObject({ firstName: 'Local', email: 'local@example.org' })
    expect(await read(dnOf('kim'))).toEqual(before)
    await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)
    expect(await find('kim')).toMatchObject({ firstName: 'Kim', email: 'kim@example.org' })
  })

  test('groups and roles of the realm are written to the directory by a synchronization', async () => {
    const { path, id, addMapper } = await openRealm()
    const parent = await create(`${path}/groups`, { name: 'exported' })
    const groups = await addMapper('group-ldap-mapper', {
      ...groupMapper,
      'groups.path': '/exported',
      'preserve.group.inheritance': 'true',
      'mapped.group.attributes': 'description',
      mode: 'LDAP_ONLY',
    })
    const roles = await addMapper('role-ldap-mapper', { ...roleMapper, mode: 'LDAP_ONLY' })
    const outer = await create(`${parent}/children`, { name: 'outer', attributes: { description: ['Outer group'] } })
    await create(`${outer}/children`, { name: 'inner' })
    await create(`${path}/roles`, { name: 'exported-role' })
    const sync = async (mapper: string) =>
      (await call('POST', `${path}/user-storage/${id}/mappers/${mapper}/sync?direction=keycloakToFed`)).body
    expect(await sync(groups)).toMatchObject({ added: 2, failed: 0 })
    expect(await read(groupDn('outer'))).toMatchObject({ description: ['Outer group'] })
    expect((await read(groupDn('outer')))?.member).toContain(groupDn('inner'))
    expect(await sync(groups)).toMatchObject({ added: 0, updated: 2 })
    await sync(roles)
    expect(await read(roleDn('exported-role'))).toMatchObject({ member: ['cn=empty-membership-placeholder'] })
  })

  test('with relativeCreateDn, the entries of new users are below that name', async () => {
    const relativeCreateDn = 'ou=interns'
    await changeDirectory(directory.url, (connection) =>
      connection.add('ou=interns,ou=users,dc=example,dc=org', { objectClass: ['organizationalUnit'], ou: ['interns'] }),
    )
    const { path, find } = await openRealm({ relativeCreateDn, searchScope: '2' })
    await create(`${path}/users`, { username: 'mona', firstName: 'Mona', lastName: 'Moss', enabled: true })
    const dn = 'uid=mona,ou=interns,ou=users,dc=example,dc=org'
    expect(await read(dn)).toMatchObject({ sn: ['Moss'] })
    expect((await find('mona')).attributes.LDAP_ENTRY_DN).toEqual([dn])
  })

  test('a user whose entry was deleted cannot be changed, and can be deleted', async () => {
    const { path, put, find } = await openRealm()
    const { id } = await find('ida')
    await changeDirectory(directory.url, (connection) => connection.delete(dnOf('ida')))
    const response = await put('ida', { firstName: 'New' })
    expect(response).toMatchObject({
      status: 400,
      body: { errorMessage: 'The user "ida" does not exist in the directory' },
    })
    expect((await call('DELETE', `${path}/users/${id}`)).status).toBe(204)
  })

  test('a read-only attribute cannot be changed, and remains if it is omitted', async () => {
    const { put, find, allowAttributes } = await openRealm()
    await allowAttributes()
    const before = await find('jan')
    expect(await put('jan', { attributes: { LDAP_ID: ['other'] } })).toMatchObject({
      status: 400,
      body: { field: 'LDAP_ID', errorMessage: 'updateReadOnlyAttributesRejectedMessage' },
    })
    expect((await put('jan', { attributes: { other: ['x'] } })).status).toBe(204)
    expect((await find('jan')).attributes).toEqual({ ...before.attributes, other: ['x'] })
  })
})
