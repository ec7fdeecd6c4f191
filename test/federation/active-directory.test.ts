// Users of a directory with the attributes, limits and responses of Active Directory.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActiveDirectory, FAKE_ADMIN, type FakeEntry, startActiveDirectory } from '../support/active-directory.ts'
import { createMapper, createStore, requestTokens } from '../support/directory.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const USERS = 'ou=users,dc=example,dc=org'
const dnOf = (name: string) => `cn=${name},${USERS}`
const COUNT = 2_100

const toUser = (name: string, at: number, more: FakeEntry = {}): FakeEntry => ({
  objectclass: ['top', 'user'],
  objectguid: [Buffer.from([at & 255, at >> 8, 0xfe, 0x80, 1, 0, 2, 0, 3, 3, 4, 4, 4, 4, 4, 4])],
  cn: [name],
  samaccountname: [name],
  givenname: ['Given'],
  sn: ['Name'],
  mail: [`${name}@example.org`],
  useraccountcontrol: ['512'],
  pwdlastset: ['133000000000000000'],
  password: [`${name}-secret`],
  ...more,
})

function createEntries(): Record<string, FakeEntry> {
  const names = Array.from({ length: COUNT }, (_, at) => `user-${at}`)
  const special = {
    'user-0': { useraccountcontrol: ['514'] },
    'user-1': { pwdlastset: ['0'] },
    'user-2': { useraccountcontrol: [String(512 | 0x800000)] },
  }
  const users = names.map((name, at) => [dnOf(name), toUser(name, at, special[name as keyof typeof special])] as const)
  const toGroup = (name: string, member: string[]): FakeEntry => ({ objectclass: ['group'], cn: [name], member })
  return {
    ...Object.fromEntries(users),
    'cn=everyone,ou=groups,dc=example,dc=org': toGroup('everyone', names.map(dnOf)),
    'cn=outer,ou=groups,dc=example,dc=org': toGroup('outer', ['cn=inner,ou=groups,dc=example,dc=org']),
    'cn=inner,ou=groups,dc=example,dc=org': toGroup('inner', [dnOf('user-5')]),
  }
}

let directory: ActiveDirectory

async function openRealm(settings: Readonly<Record<string, string>> = {}, url = directory.url) {
  const path = await createRealm({ editUsernameAllowed: true })
  const store = createStore(url, {
    vendor: 'ad',
    bindDn: FAKE_ADMIN.dn,
    bindCredential: FAKE_ADMIN.password,
    usernameLDAPAttribute: 'sAMAccountName',
    rdnLDAPAttribute: 'cn',
    uuidLDAPAttribute: 'objectGUID',
    userObjectClasses: 'top, user',
    usersDn: USERS,
    editMode: 'WRITABLE',
    ...settings,
  })
  const id = getLastSegment(await create(`${path}/components`, store))
  const addMapper = async (providerId: string, mapper: Readonly<Record<string, string>>, name = providerId) =>
    getLastSegment(await create(`${path}/components`, { ...createMapper(id, providerId, mapper), name }))
  const find = async (name: string) => (await call('GET', `${path}/users?username=${name}&exact=true`)).body[0]
  const logIn = async (username: string, password: string) => {
    const response = await requestTokens(path, username, password)
    return response.json().error_description ?? response.statusCode
  }
  const sync = async () => (await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)).body
  const put = async (name: string, changes: object) => {
    const user = await find(name)
    return (await call('PUT', `${path}/users/${user.id}`, { body: { ...user, ...changes } })).status
  }
  return { path, id, addMapper, find, put, logIn, sync }
}

describe('with Active Directory', () => {
  beforeAll(async () => {
    directory = await startActiveDirectory(createEntries())
  })
  afterAll(() => directory?.close())

  test('users beyond its limit of 1,000 entries are imported with paging, with text ids from objectGUID', async () => {
    const { sync, find } = await openRealm()
    expect(await sync()).toMatchObject({ added: COUNT, failed: 0 })
    expect(await sync()).toMatchObject({ added: 0, updated: COUNT, failed: 0 })
    expect(await find('user-258')).toMatchObject({
      enabled: true,
      attributes: { LDAP_ID: ['80fe0102-0001-0002-0303-040404040404'], LDAP_ENTRY_DN: [dnOf('user-258')] },
    })
    expect(await find('user-0')).toMatchObject({ enabled: false })
  })

  test('without paging, its limit is an error that names the provider', async () => {
    const { path, id } = await openRealm({ pagination: 'false' })
    const { status, body } = await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)
    expect(status).toBe(400)
    expect(body.errorMessage).toContain('The user federation provider "directory" failed')
  })

  test('the members of a group beyond its limit of 1,500 values are read in ranges', async () => {
    const { path, id, addMapper, sync, find } = await openRealm()
    const mapper = await addMapper('group-ldap-mapper', {
      'groups.dn': 'ou=groups,dc=example,dc=org',
      'group.object.classes': 'group',
      'user.roles.retrieve.strategy': 'LOAD_GROUPS_BY_MEMBER_ATTRIBUTE_RECURSIVELY',
      'preserve.group.inheritance': 'false',
      mode: 'READ_ONLY',
    })
    await call('POST', `${path}/user-storage/${id}/mappers/${mapper}/sync?direction=fedToKeycloak`)
    await sync()
    const groupsOf = async (name: string) =>
      (await call('GET', `${path}/users/${(await find(name)).id}/groups`)).body.map(
        ({ name }: { name: string }) => name,
      )
    expect(await groupsOf(`user-${COUNT - 1}`)).toEqual(['everyone'])
    expect(await groupsOf('user-5')).toEqual(['everyone', 'inner', 'outer'])
    await call('DELETE', `${path}/components/${mapper}`)
  })

  test('a disabled account cannot log in, and an imported user is found by objectGUID', async () => {
    const { logIn, find } = await openRealm()
    expect(await logIn('user-7', 'wrong')).toBe('Invalid user credentials')
    expect(await logIn('user-7', 'user-7-secret')).toBe(200)
    expect(await logIn('user-7', 'user-7-secret')).toBe(200)
    expect(await logIn('user-0', 'user-0-secret')).not.toBe(200)
    expect(await find('user-7')).toMatchObject({ firstName: 'Given', lastName: 'Name' })
  })

  test.each(['user-1', 'user-2'])(
    'an expired password of %s must be replaced in a writable directory',
    async (name) => {
      const { logIn, find } = await openRealm()
      expect(await logIn(name, 'wrong')).toBe('Invalid user credentials')
      expect(await logIn(name, `${name}-secret`)).toBe('Account is not fully set up')
      expect((await find(name)).requiredActions).toEqual(['UPDATE_PASSWORD'])
      const readOnly = await openRealm({ editMode: 'READ_ONLY' })
      expect(await readOnly.logIn(name, `${name}-secret`)).toBe('Invalid user credentials')
      expect((await readOnly.find(name)).requiredActions).toEqual([])
    },
  )

  test('a password without TLS is refused before anything is changed', async () => {
    const { path, find } = await openRealm()
    const { id } = await find('user-9')
    const body = { type: 'password', value: 'new-secret', temporary: false }
    const response = await call('PUT', `${path}/users/${id}/reset-password`, { body })
    expect(response.status).toBe(400)
    expect(JSON.stringify(response.body)).toContain('Active Directory changes passwords over TLS only')
  })

  test('the state of an account is written to userAccountControl', async () => {
    const { path, find } = await openRealm()
    const user = await find('user-10')
    const put = (enabled: boolean) => call('PUT', `${path}/users/${user.id}`, { body: { ...user, enabled } })
    expect((await put(false)).status).toBe(204)
    expect(directory.entries.get(dnOf('user-10'))?.useraccountcontrol).toEqual(['514'])
    expect((await put(true)).status).toBe(204)
    expect(directory.entries.get(dnOf('user-10'))?.useraccountcontrol).toEqual(['512'])
  })

  test('a user is enabled only if both the directory and the realm enable the account', async () => {
    const { path, addMapper, find, sync, logIn } = await openRealm({ editMode: 'READ_ONLY' })
    await addMapper('user-attribute-ldap-mapper', {
      'user.model.attribute': 'firstName',
      'ldap.attribute': 'givenName',
    })
    const setControl = (value: string) => {
      directory.entries.get(dnOf('user-11'))!.useraccountcontrol = [value]
    }
    const user = await find('user-11')
    await call('PUT', `${path}/users/${user.id}`, { body: { ...user, enabled: false } })
    expect(await logIn('user-11', 'user-11-secret')).not.toBe(200)
    await sync()
    expect(await find('user-11')).toMatchObject({ enabled: false })
    await call('PUT', `${path}/users/${user.id}`, { body: { ...user, enabled: true } })
    expect(await logIn('user-11', 'user-11-secret')).toBe(200)
    setControl('514')
    expect(await find('user-11')).toMatchObject({ enabled: false })
    setControl('512')
    expect(await find('user-11')).toMatchObject({ enabled: true })
  })

  test('an imported user of eDirectory is found by the bytes of guid', async () => {
    const guid = Buffer.from('ff80fe000102030405060708090a0b0c', 'hex')
    const name = 'cn=novell,ou=branch,dc=example,dc=org'
    directory.entries.set(name, { ...toUser('novell', 1), guid: [guid] })
    const settings = { vendor: 'edirectory', uuidLDAPAttribute: 'guid', usersDn: 'ou=branch,dc=example,dc=org' }
    const { find, put } = await openRealm({ ...settings, usernameLDAPAttribute: 'cn' })
    expect((await find('novell')).attributes.LDAP_ID).toEqual(['ff80fe00-0102-0304-0506-0708090a0b0c'])
    expect(await put('novell', { lastName: 'New' })).toBe(204)
    expect(directory.entries.get(name)?.sn).toEqual(['New'])
  })
})
