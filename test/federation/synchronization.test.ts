// Synchronization of users, groups and roles with an OpenLDAP server.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeDirectory, createMapper, createStore, FOLDERS, renderGroup, renderUser } from '../support/directory.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { DIRECTORY_ADMIN, hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'

const { call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const dnOf = (name: string) => `uid=${name},ou=users,dc=example,dc=org`
/** An entry without a username. */
const BROKEN = [
  'dn: cn=broken,ou=users,dc=example,dc=org',
  'objectClass: inetOrgPerson',
  'cn: broken',
  'sn: B',
  '',
].join('\n')

let directory: TestDirectory

async function createRealmWithStore(settings: Readonly<Record<string, string>> = {}, url = directory.url) {
  const path = await createRealm({ eventsEnabled: true })
  const id = getLastSegment(await create(`${path}/components`, createStore(url, settings)))
  const sync = async (action = 'triggerFullSync') =>
    (await call('POST', `${path}/user-storage/${id}/sync?action=${action}`)).body
  const find = async (name: string) => (await call('GET', `${path}/users?username=${name}&exact=true`)).body[0]
  return { path, id, sync, find }
}

describe.skipIf(!hasSlapd)('with a directory', () => {
  beforeAll(async () => {
    directory = await startSlapd({
      entries: [
        FOLDERS,
        ...['ann', 'bob', 'carla'].map((name) => renderUser(name)),
        BROKEN,
        renderGroup('crew', 'groups', [dnOf('ann'), 'cn=subcrew,ou=groups,dc=example,dc=org']),
        renderGroup('subcrew', 'groups', [dnOf('bob')]),
        renderGroup('editor', 'roles', [dnOf('ann')]),
      ].join('\n'),
    })
  })
  afterAll(() => directory?.remove())

  test('a full synchronization imports users, and counts an entry without username as failed', async () => {
    const { id, sync, find } = await createRealmWithStore()
    expect(await sync()).toMatchObject({ ignored: false, added: 3, updated: 0, failed: 1 })
    expect(await find('ann')).toMatchObject({
      username: 'ann',
      firstName: 'Ann',
      lastName: 'ANN',
      email: 'ann@example.org',
      enabled: true,
      federationLink: id,
      origin: id,
      attributes: {
        LDAP_ENTRY_DN: [dnOf('ann')],
        LDAP_ID: [expect.any(String)],
        createTimestamp: [expect.any(String)],
      },
    })
    expect(await sync()).toEqual({
      ignored: false,
      added: 0,
      updated: 3,
      removed: 0,
      failed: 1,
      status: '0 imported users, 3 updated users, 1 users failed sync! See server log for more details',
    })
  })

  test('a synchronization of changed users imports those that have changed since the last one of any kind', async () => {
    const { sync, find } = await createRealmWithStore()
    await changeDirectory(directory.url, (connection) =>
      connection.replaceAttributes(dnOf('carla'), { sn: ['Before'] }),
    )
    // Times in directories have whole seconds.
    await delay(1100)
    await sync()
    await delay(1100)
    expect(await sync('triggerChangedUsersSync')).toMatchObject({ added: 0, updated: 0 })
    await changeDirectory(directory.url, (connection) => connection.replaceAttributes(dnOf('carla'), { sn: ['After'] }))
    expect(await sync('triggerChangedUsersSync')).toMatchObject({ added: 0, updated: 1 })
    expect(await find('carla')).toMatchObject({ lastName: 'After' })
  })

  test('a synchronization takes the same number of statements for one user and for three', async () => {
    const { statements } = await testService()
    const countStatements = async (customUserSearchFilter: string) => {
      const { sync } = await createRealmWithStore({ customUserSearchFilter })
      const first = await statements(() => sync())
      return [first.length, (await statements(() => sync())).length]
    }
    expect(await countStatements('(uid=ann)')).toEqual(await countStatements('(uid=*)'))
  })

  test('a synchronization with importEnabled false is an error', async () => {
    const { path, id } = await createRealmWithStore({ importEnabled: 'false' })
    const response = await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)
    expect(response).toMatchObject({
      status: 400,
      body: { errorMessage: expect.stringContaining('has importEnabled false') },
    })
  })

  test('batches smaller than the number of users import all of them', async () => {
    const { sync } = await createRealmWithStore({ batchSizeForSync: '2' })
    expect(await sync()).toMatchObject({ added: 3, failed: 1 })
  })

  test('a user whose username is taken is not imported', async () => {
    const { path, id, sync, find } = await createRealmWithStore({ enabled: 'false' })
    await create(`${path}/users`, { username: 'ann', enabled: true })
    await create(`${path}/users`, { username: 'other', email: 'bob@example.org', enabled: true })
    await call('PUT', `${path}/components/${id}`, { body: { config: { enabled: ['true'] } } })
    expect(await sync()).toMatchObject({ added: 1, failed: 3 })
    expect(await find('ann')).not.toHaveProperty('federationLink')
  })

  test('groups and roles of the directory become groups and roles of its users', async () => {
    const { path, id, sync, find } = await createRealmWithStore()
    const groups = createMapper(id, 'group-ldap-mapper', {
      'groups.dn': 'ou=groups,dc=example,dc=org',
      'group.object.classes': 'groupOfNames',
      mode: 'READ_ONLY',
    })
    const roles = createMapper(id, 'role-ldap-mapper', {
      'roles.dn': 'ou=roles,dc=example,dc=org',
      'role.object.classes': 'groupOfNames',
      mode: 'READ_ONLY',
      'use.realm.roles.mapping': 'true',
    })
    const syncMapper = async (mapper: object) => {
      const mapperId = getLastSegment(await create(`${path}/components`, mapper))
      return (await call('POST', `${path}/user-storage/${id}/mappers/${mapperId}/sync?direction=fedToKeycloak`)).body
    }
    expect((await syncMapper(groups)).status).toBe('2 imported groups, 0 updated groups, 0 removed groups')
    expect((await syncMapper(roles)).status).toBe('1 imported roles, 0 roles already exists in Keycloak')
    await sync()
    const groupsOf = async (name: string) =>
      (await call('GET', `${path}/users/${(await find(name)).id}/groups`)).body.map(
        ({ path }: { path: string }) => path,
      )
    expect(await groupsOf('ann')).toEqual(['/crew'])
    expect(await groupsOf('bob')).toEqual(['/crew/subcrew'])
    const { realmMappings } = (await call('GET', `${path}/users/${(await find('ann')).id}/role-mappings`)).body
    expect(realmMappings.map(({ name }: { name: string }) => name)).toContain('editor')
  })

  test('imported users can be unlinked and removed', async () => {
    const { path, id, sync, find } = await createRealmWithStore()
    await sync()
    expect((await call('POST', `${path}/user-storage/${id}/remove-imported-users`)).status).toBe(204)
    await sync()
    expect((await call('POST', `${path}/user-storage/${id}/unlink-users`)).status).toBe(204)
    expect(await find('ann')).not.toHaveProperty('federationLink')
    expect(await sync()).toMatchObject({ added: 0, updated: 0, failed: 4 })
  })

  test('a directory that does not respond is an error, and the users remain', async () => {
    const { path, id, sync, find } = await createRealmWithStore({ readTimeout: '300', connectionTimeout: '300' })
    await sync()
    await directory.pause()
    const response = await call('POST', `${path}/user-storage/${id}/sync?action=triggerFullSync`)
    directory.resume()
    expect(response.status).toBe(400)
    expect(response.body.errorMessage).toContain('The user federation provider "directory" failed')
    expect(await find('ann')).toMatchObject({ federationLink: id })
  })

  test.each([
    [{ action: 'testConnection' }, 204, undefined],
    [{ action: 'testAuthentication' }, 204, undefined],
    [{ action: 'testAuthentication', bindCredential: 'no' }, 400, 'AuthenticationFailure'],
    [{ action: 'testConnection', connectionUrl: 'ldap://127.0.0.1:1' }, 400, 'SocketReset'],
    [{ action: 'testConnection', connectionUrl: 'http://127.0.0.1' }, 400, 'MalformedURL'],
    [{ action: 'testConnection', connectionUrl: 'ldap://169.254.169.254' }, 400, 'NamingError'],
    [{ action: 'testAuthentication', bindDn: '' }, 400, 'AuthenticationFailure'],
    [{ action: 'other' }, 400, 'NamingError'],
  ])('the test of the settings %o returns %i', async (settings, status, errorMessage) => {
    const path = await createRealm()
    const { dn: bindDn, password: bindCredential } = DIRECTORY_ADMIN
    const body = { connectionUrl: directory.url, bindDn, bindCredential, ...settings }
    const response = await call('POST', `${path}/testLDAPConnection`, { body })
    expect([response.status, response.body?.errorMessage]).toEqual([status, errorMessage])
    const form = new URLSearchParams(body).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await call('POST', `${path}/testLDAPConnection`, { body: form, headers })).status).toBe(status)
  })

  test('a stored password is sent to the stored address only', async () => {
    const { path, id } = await createRealmWithStore()
    const send = (connectionUrl: string) =>
      call('POST', `${path}/testLDAPConnection`, {
        body: {
          action: 'testAuthentication',
          connectionUrl,
          bindDn: DIRECTORY_ADMIN.dn,
          bindCredential: '**********',
          componentId: id,
        },
      })
    expect((await send(directory.url)).status).toBe(204)
    expect((await send(directory.url.replace('127.0.0.1', 'localhost'))).status).toBe(400)
  })

  test('the capabilities of a directory are listed', async () => {
    const path = await createRealm()
    const { dn: bindDn, password: bindCredential } = DIRECTORY_ADMIN
    const body = { action: 'queryServerCapabilities', connectionUrl: directory.url, bindDn, bindCredential }
    const { body: listed } = await call('POST', `${path}/ldap-server-capabilities`, { body })
    expect(listed).toContainEqual({ oid: '1.2.840.113556.1.4.319', type: 'CONTROL' })
  })
})
