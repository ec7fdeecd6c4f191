// The mappers of user stores, on an OpenLDAP server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeDirectory, createMapper, createStore, FOLDERS, readDirectory, renderUser } from '../support/directory.ts'
import { testServer } from '../support/server.ts'
import { hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'

const { call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const dnOf = (name: string) => `uid=${name},ou=users,dc=example,dc=org`
const CERTIFICATE = Buffer.from('3082000affee', 'hex')

let directory: TestDirectory

async function openRealm(settings: Readonly<Record<string, string>> = {}) {
  const path = await createRealm({ editUsernameAllowed: true })
  const store = createStore(directory.url, { editMode: 'WRITABLE', syncRegistrations: 'true', ...settings })
  const id = getLastSegment(await create(`${path}/components`, store))
  const { body: profile } = await call('GET', `${path}/users/profile`)
  await call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy: 'ENABLED' } })
  const addMapper = (providerId: string, mapper: Readonly<Record<string, string>>, name = providerId) =>
    create(`${path}/components`, { ...createMapper(id, providerId, mapper), name })
  const removeMapper = async (name: string) => {
    const { body } = await call('GET', `${path}/components?parent=${id}&name=${encodeURIComponent(name)}`)
    await call('DELETE', `${path}/components/${body[0].id}`)
  }
  const find = async (name: string) => (await call('GET', `${path}/users?username=${name}&exact=true`)).body[0]
  const put = async (name: string, changes: object) => {
    const user = await find(name)
    return (await call('PUT', `${path}/users/${user.id}`, { body: { ...user, ...changes } })).status
  }
  return { path, id, addMapper, removeMapper, find, put }
}

describe.skipIf(!hasSlapd)('with a directory', () => {
  beforeAll(async () => {
    const certificate = `audio:: ${CERTIFICATE.toString('base64')}`
    directory = await startSlapd({
      entries: [FOLDERS, renderUser('ann', [certificate, 'title: Dr.', 'title: Prof.']), renderUser('bob')].join('\n'),
    })
  })
  afterAll(() => directory?.remove())
  const read = (dn: string) => readDirectory(directory.url, dn)

  test('a full name is split into first name and last name, and written from them', async () => {
    const { addMapper, removeMapper, find, put } = await openRealm()
    await removeMapper('first name')
    await changeDirectory(directory.url, (connection) =>
      connection.replaceAttributes(dnOf('bob'), { cn: ['Bob van Dyk'], sn: ['Dyk'] }),
    )
    await addMapper('full-name-ldap-mapper', { 'ldap.full.name.attribute': 'cn', 'read.only': 'false' })
    expect(await find('bob')).toMatchObject({ firstName: 'Bob van', lastName: 'Dyk' })
    expect(await put('bob', { firstName: 'Robert', lastName: 'Dyke' })).toBe(204)
    expect(await read(dnOf('bob'))).toMatchObject({ cn: ['Robert Dyke'], sn: ['Dyke'] })
  })

  test('a full name that is the name of the entry renames it', async () => {
    const { path, addMapper, removeMapper, put } = await openRealm({ rdnLDAPAttribute: 'cn' })
    await removeMapper('username-cn')
    await addMapper('full-name-ldap-mapper', { 'ldap.full.name.attribute': 'cn', 'read.only': 'false' })
    await create(`${path}/users`, { username: 'cleo', firstName: 'Cleo', lastName: 'Clark+Jr' })
    expect(await read(String.raw`cn=Cleo Clark\+Jr,ou=users,dc=example,dc=org`)).toMatchObject({ uid: ['cleo'] })
    expect(await put('cleo', { lastName: 'Clark' })).toBe(204)
    expect(await read('cn=Cleo Clark,ou=users,dc=example,dc=org')).toMatchObject({ uid: ['cleo'], sn: ['Clark'] })
  })

  test('several values of an attribute are read, and a read-only one is not written', async () => {
    const { addMapper, find, put } = await openRealm()
    await addMapper('user-attribute-ldap-mapper', {
      'user.model.attribute': 'titles',
      'ldap.attribute': 'title',
      'read.only': 'true',
    })
    const ann = await find('ann')
    expect(ann.attributes.titles).toEqual(['Dr.', 'Prof.'])
    expect(await put('ann', { attributes: { ...ann.attributes, titles: ['Dr.'] } })).toBe(400)
    expect((await read(dnOf('ann')))?.title?.sort()).toEqual(['Dr.', 'Prof.'])
  })

  test('a certificate is read as base64, and written as bytes', async () => {
    const { addMapper, find, put } = await openRealm()
    await addMapper('certificate-ldap-mapper', {
      'user.model.attribute': 'certificate',
      'ldap.attribute': 'audio',
      'is.der.formatted': 'true',
      'read.only': 'false',
    })
    const ann = await find('ann')
    expect(ann.attributes.certificate).toEqual([CERTIFICATE.toString('base64')])
    const certificate = [Buffer.from('3082000aaabb', 'hex').toString('base64')]
    expect(await put('ann', { attributes: { ...ann.attributes, certificate } })).toBe(204)
    expect((await find('ann')).attributes.certificate).toEqual(certificate)
  })

  test('hardcoded attributes, roles and groups belong to every user of the directory', async () => {
    const { path, addMapper, find } = await openRealm()
    await create(`${path}/roles`, { name: 'staff' })
    await create(`${path}/groups`, { name: 'everyone' })
    await addMapper('hardcoded-attribute-mapper', { 'user.model.attribute': 'origin', 'attribute.value': 'directory' })
    await addMapper('hardcoded-ldap-role-mapper', { role: 'staff' })
    await addMapper('hardcoded-ldap-group-mapper', { group: '/everyone' })
    const { id, attributes } = await find('ann')
    expect(attributes.origin).toEqual(['directory'])
    const { body: groups } = await call('GET', `${path}/users/${id}/groups`)
    expect(groups.map(({ name }: { name: string }) => name)).toEqual(['everyone'])
    const { body: roles } = await call('GET', `${path}/users/${id}/role-mappings/realm`)
    expect(roles.map(({ name }: { name: string }) => name)).toContain('staff')
  })

  test('new entries have hardcoded attributes and the default of a mandatory attribute', async () => {
    const { path, addMapper } = await openRealm()
    await addMapper('hardcoded-ldap-attribute-mapper', {
      'ldap.attribute.name': 'description',
      'ldap.attribute.value': 'created by Regent',
    })
    await addMapper('user-attribute-ldap-mapper', {
      'user.model.attribute': 'number',
      'ldap.attribute': 'employeeNumber',
      'is.mandatory.in.ldap': 'true',
      'attribute.default.value': '77',
      'read.only': 'false',
    })
    await create(`${path}/users`, { username: 'nora', email: 'nora@example.org' })
    expect(await read(dnOf('nora'))).toMatchObject({ description: ['created by Regent'], employeenumber: ['77'] })
  })
})
