// Logins of users whose passwords are in an OpenLDAP server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutbound } from '../../src/lib/http/outbound.ts'
import { openLdapConnection } from '../../src/lib/ldap/ldap-connection.ts'
import { createStore, FOLDERS, renderUser, requestTokens } from '../support/directory.ts'
import { testServer } from '../support/server.ts'
import { DIRECTORY_ADMIN, hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'

const { call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const dnOf = (name: string) => `uid=${name},ou=users,dc=example,dc=org`

let directory: TestDirectory

async function openRealm(settings: Readonly<Record<string, string>> = {}) {
  const path = await createRealm()
  const id = getLastSegment(await create(`${path}/components`, createStore(directory.url, settings)))
  const logIn = async (username: string, password: string) => {
    const response = await requestTokens(path, username, password)
    return response.statusCode
  }
  const find = async (name: string) =>
    (await call('GET', `${path}/users?username=${name}&exact=true`)).body.find(
      ({ username }: { username: string }) => username === name,
    )
  return { path, id, logIn, find }
}

async function changeDirectory(work: (connection: Awaited<ReturnType<typeof openLdapConnection>>) => Promise<void>) {
  const server = { urls: [directory.url], startTls: false, connectTimeout: 5000, readTimeout: 5000 }
  const connection = await openLdapConnection(createOutbound({ development: true }), server)
  await connection.bind(DIRECTORY_ADMIN)
  await work(connection)
  await connection.close()
}

describe.skipIf(!hasSlapd)('with a directory', () => {
  beforeAll(async () => {
    const users = ['ann', 'bob', 'carla', 'dora', 'eve', 'frank']
    directory = await startSlapd({ entries: [FOLDERS, ...users.map((name) => renderUser(name))].join('\n') })
  })
  afterAll(() => directory?.remove())

  test('a user who is not imported logs in with the password of the directory', async () => {
    const { id, logIn, find } = await openRealm()
    expect(await logIn('ann', 'wrong')).toBe(400)
    expect(await logIn('ann', '')).toBe(400)
    expect(await logIn('ANN', 'ann-secret')).toBe(200)
    expect(await find('ann')).toMatchObject({ federationLink: id })
    expect(await logIn('bob@example.org', 'bob-secret')).toBe(200)
    expect(await logIn('nobody', 'nobody-secret')).toBe(400)
    expect(await logIn('*', 'ann-secret')).toBe(400)
  })

  test('a user who was deleted in the directory is deleted at the next login', async () => {
    const { logIn, find } = await openRealm()
    expect(await logIn('dora', 'dora-secret')).toBe(200)
    await changeDirectory((connection) => connection.delete(dnOf('dora')))
    expect(await logIn('dora', 'dora-secret')).toBe(400)
    expect(await find('dora')).toBeUndefined()
  })

  test.each([
    [{ customUserSearchFilter: '(uid=bob)' }, 200],
    [{ customUserSearchFilter: '(uid=ann)' }, 400],
    [{ userObjectClasses: 'inetOrgPerson, posixAccount' }, 400],
    [{ usersDn: 'dc=example,dc=org', searchScope: '1' }, 400],
    [{ usersDn: 'dc=example,dc=org', searchScope: '2' }, 200],
    [{ usernameLDAPAttribute: 'mail' }, 400],
    [{ bindDn: 'cn=nobody', authType: 'none' }, 200],
    [{ bindDn: 'cn=nobody', authType: 'simple' }, 400],
    [{ bindCredential: 'wrong' }, 400],
    [{ importEnabled: 'false' }, 200],
  ])('with the settings %o, the login of bob returns %i', async (settings, status) => {
    const { logIn } = await openRealm({ ...settings })
    expect(await logIn('bob', 'bob-secret')).toBe(status)
  })

  test.each([
    ['true', true],
    ['false', false],
  ])('with trustEmail %s, the email address of an imported user is verified: %s', async (trustEmail, isVerified) => {
    const { logIn, find } = await openRealm({ trustEmail })
    await logIn('bob', 'bob-secret')
    expect(await find('bob')).toMatchObject({ emailVerified: isVerified })
  })

  test('of two user stores, a user comes from the one with the lower priority', async () => {
    const { path, logIn, find } = await openRealm({ priority: '2' })
    const preferred = { ...createStore(directory.url, { priority: '1' }), name: 'preferred' }
    const id = getLastSegment(await create(`${path}/components`, preferred))
    expect(await logIn('bob', 'bob-secret')).toBe(200)
    expect(await find('bob')).toMatchObject({ federationLink: id })
  })

  test('a user who is declared without an entry cannot log in', async () => {
    const { path, id, logIn } = await openRealm()
    await create(`${path}/users`, { username: 'ghost', enabled: true, federationLink: id })
    expect(await logIn('ghost', 'any')).toBe(400)
  })

  test('with removeInvalidUsersEnabled false, a user whose entry was deleted remains, and cannot log in', async () => {
    const { logIn, find } = await openRealm({ removeInvalidUsersEnabled: 'false' })
    expect(await logIn('frank', 'frank-secret')).toBe(200)
    await changeDirectory((connection) => connection.delete(dnOf('frank')))
    expect(await logIn('frank', 'frank-secret')).toBe(400)
    expect(await find('frank')).toMatchObject({ username: 'frank' })
  })

  test('a changed email address is taken over at the next login', async () => {
    const { logIn, find } = await openRealm()
    await logIn('carla', 'carla-secret')
    await changeDirectory((connection) => connection.replaceAttributes(dnOf('carla'), { mail: ['new@example.org'] }))
    expect(await logIn('carla', 'carla-secret')).toBe(200)
    expect(await find('carla')).toMatchObject({ email: 'new@example.org' })
  })

  test('while the directory does not respond, its users cannot log in, and others can', async () => {
    const { path, logIn } = await openRealm({ readTimeout: '300', connectionTimeout: '300' })
    const credentials = [{ type: 'password', value: 'local-secret' }]
    const names = { firstName: 'L', lastName: 'L', email: 'local@example.com' }
    await create(`${path}/users`, { username: 'local', enabled: true, credentials, ...names })
    expect(await logIn('bob', 'bob-secret')).toBe(200)
    await directory.pause()
    try {
      expect(await logIn('bob', 'bob-secret')).toBe(400)
      const startedAt = performance.now()
      expect(await logIn('local', 'local-secret')).toBe(200)
      expect(performance.now() - startedAt).toBeLessThan(5000)
    } finally {
      directory.resume()
    }
    expect(await logIn('bob', 'bob-secret')).toBe(200)
  })

  test('a search of administrators imports the users of the directory that match', async () => {
    const { path, id } = await openRealm()
    const search = async (query: string) =>
      (await call('GET', `${path}/users?${query}`)).body.map(({ username }: { username: string }) => username)
    expect(await search('search=bo')).toEqual(['bob'])
    expect(await search('email=eve@')).toEqual(['eve'])
    expect(await search('username=nn')).toEqual(['ann'])
    expect(await search('username=*')).toEqual([])
    expect(await search('lastName=BOB&exact=true')).toEqual(['bob'])
    expect((await search('')).length).toBeGreaterThan(3)
    await call('DELETE', `${path}/components/${id}`)
    expect(await search('')).toEqual([])
  })

  test('with a disabled user store, its users cannot log in', async () => {
    const { path, id, logIn } = await openRealm()
    expect(await logIn('bob', 'bob-secret')).toBe(200)
    await call('PUT', `${path}/components/${id}`, { body: { config: { enabled: ['false'] } } })
    expect(await logIn('bob', 'bob-secret')).toBe(400)
  })

  test('in the edit mode READ_ONLY, mapped fields and passwords cannot be changed', async () => {
    const { path, logIn, find } = await openRealm()
    await logIn('bob', 'bob-secret')
    const bob = await find('bob')
    const user = `${path}/users/${bob.id}`
    const put = (body: object) => call('PUT', user, { body: { ...bob, ...body } })
    expect((await put({})).status).toBe(204)
    expect(await put({ firstName: 'New' })).toMatchObject({
      status: 400,
      body: { field: 'firstName', errorMessage: 'error-user-attribute-read-only', params: ['firstName'] },
    })
    expect((await put({ enabled: false })).status).toBe(204)
    const password = { type: 'password', value: 'other', temporary: false }
    expect(await call('PUT', `${user}/reset-password`, { body: password })).toMatchObject({
      status: 400,
      body: { error: "Can't reset password as account is read only" },
    })
    expect((await call('GET', `${user}/credentials`)).body).toEqual([
      { type: 'password', createdDate: -1, federationLink: bob.federationLink },
    ])
  })

  test('in the edit mode UNSYNCED, a password of the realm counts instead of that of the directory', async () => {
    const { path, logIn, find } = await openRealm({ editMode: 'UNSYNCED' })
    expect(await logIn('eve', 'eve-secret')).toBe(200)
    const password = { type: 'password', value: 'other', temporary: false }
    const { id } = await find('eve')
    expect((await call('PUT', `${path}/users/${id}/reset-password`, { body: password })).status).toBe(204)
    expect(await logIn('eve', 'other')).toBe(200)
    expect(await logIn('eve', 'eve-secret')).toBe(400)
  })
})
