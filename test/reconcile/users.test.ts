// Groups, users and scope mappings in documents.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getCredentialsByUser } from '../../src/service/users/credentials.ts'
import { verifyPassword } from '../../src/service/users/password-hashing.ts'
import { createObject, deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { isFullRun } from '../support/property-options.ts'
import { getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN, applySource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const tree = {
  roles: { realm: [{ name: 'picker' }], client: { shop: [{ name: 'buyer' }] } },
  clients: [{ clientId: 'shop' }],
  groups: [
    {
      name: 'fruit',
      attributes: { colour: ['red'] },
      realmRoles: ['picker'],
      subGroups: [{ name: 'apple', clientRoles: { shop: ['buyer'] }, subGroups: [{ name: 'a/b' }] }],
    },
    { name: 'nuts' },
  ],
  defaultGroups: ['/nuts'],
}

test('a group tree is created with roles, and its keys are paths', async () => {
  await applySource(service, toRealmSource(tree))
  const groups = await listLiveObjects(service, SYSTEM, realm, 'group')
  expect([...groups.keys()]).toEqual(['/fruit', '/fruit/apple', '/fruit/apple/a~/b', '/nuts'])
  expect(groups.get('/fruit')!.representation).toMatchObject({
    realmRoles: ['picker'],
    attributes: { colour: ['red'] },
  })
  expect(groups.get('/fruit/apple')!.representation).toMatchObject({ clientRoles: { shop: ['buyer'] } })
  expect(await planText(service, toRealmSource(tree))).toContain('Nothing to do.')
})

test('a group that was renamed by REST gets its declared name again, and so do its subgroups', async () => {
  await applySource(service, toRealmSource(tree))
  const before = await getLive('group', '/fruit/apple/a~/b')
  await updateObject(service, ANN, realm, 'group', ['/fruit'], { path: '/veg' })
  expect((await getLive('group', '/veg/apple/a~/b')).id).toBe(before.id)
  expect((await listDrift(service, SYSTEM, realm)).map(({ path, live }) => [path, live])).toEqual([
    ['path', '/veg'],
    ['path', '/veg/apple'],
    ['path', '/veg/apple/a~/b'],
  ])
  await applySource(service, toRealmSource(tree))
  expect((await getLive('group', '/fruit/apple/a~/b')).id).toBe(before.id)
  expect(await planText(service, toRealmSource(tree))).toContain('Nothing to do.')
})

test('a group cannot be moved below itself', async () => {
  await applySource(service, toRealmSource(tree))
  await expect(updateObject(service, ANN, realm, 'group', ['/fruit'], { path: '/fruit/apple/fruit' })).rejects.toThrow(
    'Group /fruit cannot be moved below itself',
  )
})

test('a group that is removed from the source is deleted with its subgroups', async () => {
  await applySource(service, toRealmSource(tree))
  await createObject(service, ANN, realm, 'group', { path: '/fruit/theirs' })
  await applySource(service, toRealmSource({ ...tree, groups: [{ name: 'nuts' }] }))
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'group')).keys()]).toEqual(['/nuts'])
})

const ann = {
  username: 'Ann',
  email: 'Ann@Example.org',
  enabled: true,
  attributes: { locale: ['de'] },
  credentials: [{ type: 'password', value: 'first' }],
  realmRoles: ['picker'],
  clientRoles: { shop: ['buyer'] },
  groups: ['fruit/apple'],
  clientConsents: [{ clientId: 'shop', grantedClientScopes: ['profile', 'email'] }],
}

const findPassword = async (username: string) => {
  const user = await getLive('user', username)
  const all = await service.read(SYSTEM, realm, (context) => getCredentialsByUser(context, [user]))
  return (all.get(user.id) ?? []).find(({ type }) => type === 'password')
}
const hasPassword = async (username: string, text: string) => {
  const { secretData, credentialData } = (await findPassword(username))!
  return verifyPassword(text, String(secretData), String(credentialData))
}

test('users are created with their roles, groups, consents and passwords, and with default roles and groups', async () => {
  await applySource(service, toRealmSource({ ...tree, users: [ann] }))
  const { representation } = await getLive('user', 'ann')
  expect(representation).toMatchObject({
    email: 'ann@example.org',
    realmRoles: ['picker'],
    clientRoles: { shop: ['buyer'] },
    groups: ['/fruit/apple'],
    clientConsents: [{ clientId: 'shop', grantedClientScopes: ['email', 'profile'] }],
  })
  expect(await hasPassword('ann', 'first')).toBe(true)
  expect(await planText(service, toRealmSource({ ...tree, users: [ann] }))).toContain('Nothing to do.')
  await applySource(service, toRealmSource({ ...tree, users: [{ username: 'ben' }] }))
  const ben = (await getLive('user', 'ben')).representation
  expect([ben.realmRoles, ben.groups]).toEqual([[`default-roles-${realm}`], ['/nuts']])
})

test('a password is set when its declaration changes, and is never compared with the live one', async () => {
  await applySource(service, toRealmSource({ ...tree, users: [ann] }))
  await applySource(service, toRealmSource({ ...tree, users: [{ ...ann, firstName: 'A' }] }))
  expect(await hasPassword('ann', 'first')).toBe(true)
  const other = { ...ann, credentials: [{ type: 'password', value: 'second', temporary: true }] }
  expect(await planText(service, toRealmSource({ ...tree, users: [other] }))).not.toContain('second')
  await applySource(service, toRealmSource({ ...tree, users: [other] }))
  expect(await hasPassword('ann', 'second')).toBe(true)
  expect((await getLive('user', 'ann')).representation.requiredActions).toEqual(['UPDATE_PASSWORD'])
  await updateObject(service, ANN, realm, 'user', ['ann'], { requiredActions: [] })
  expect(await planText(service, toRealmSource({ ...tree, users: [other] }))).toContain('Nothing to do.')
})

test('an existing user keeps their credentials, and the plan notes that', async () => {
  await createObject(service, ANN, realm, 'user', { username: 'ann', enabled: true })
  const text = await planText(service, toRealmSource({ ...tree, users: [ann] }))
  expect(text).toContain('user ann: credentials are retained, since the user existed before')
  await applySource(service, toRealmSource({ ...tree, users: [ann] }))
  expect(await findPassword('ann')).toBeUndefined()
})

test('password hashes of other servers are imported unchanged', async () => {
  const pbkdf2 = {
    type: 'password',
    // RFC 8018: two iterations over "password" with the salt "salt".
    secretData: JSON.stringify({ value: 'rk0Mla9rRtMtCt/5KPBt0CowP47zwlHf1uLYWpVHTEM=', salt: 'c2FsdA==' }),
    credentialData: JSON.stringify({ hashIterations: 2, algorithm: 'pbkdf2-sha256' }),
  }
  const old = {
    type: 'password',
    hashedSaltedValue: 'rk0Mla9rRtMtCt/5KPBt0CowP47zwlHf1uLYWpVHTEM=',
    salt: 'c2FsdA==',
    hashIterations: 2,
    algorithm: 'pbkdf2-sha256',
  }
  await applySource(
    service,
    toRealmSource({
      users: [
        { username: 'ann', credentials: [pbkdf2] },
        { username: 'ben', credentials: [old] },
      ],
    }),
  )
  expect(await hasPassword('ann', 'password')).toBe(true)
  expect(await hasPassword('ben', 'password')).toBe(true)
  expect(await hasPassword('ben', 'passwort')).toBe(false)
})

test('an email address is unique, unless the realm allows duplicates', async () => {
  const two = [
    { username: 'ann', email: 'a@example.org' },
    { username: 'ben', email: 'A@example.org' },
  ]
  await expect(applySource(service, toRealmSource({ users: two }))).rejects.toThrow('User exists with same email')
  await applySource(service, toRealmSource({ duplicateEmailsAllowed: true, users: two }))
})

test('a service account is declared with its client', async () => {
  const clients = [{ clientId: 'job', serviceAccountsEnabled: true }]
  const account = { username: 'service-account-job', serviceAccountClientId: 'job', enabled: true }
  const users = [{ ...account, clientRoles: { 'realm-management': ['view-users'] } }]
  await applySource(service, toRealmSource({ clients, users }))
  expect((await getLive('user', 'service-account-job')).representation).toMatchObject({
    clientRoles: { 'realm-management': ['view-users'] },
  })
  expect(await planText(service, toRealmSource({ clients, users }))).toContain('Nothing to do.')
})

test('scope mappings are declared beside clients, and belong to the client or client scope that they name', async () => {
  const declared = {
    ...tree,
    scopeMappings: [{ client: 'shop', roles: ['picker'] }],
    clientScopeMappings: { shop: [{ clientScope: 'email', roles: ['buyer'] }] },
  }
  await applySource(service, toRealmSource(declared))
  expect((await getLive('client', 'shop')).representation.scopeMappings).toEqual({ realm: ['picker'] })
  expect((await getLive('clientScope', 'email')).representation.scopeMappings).toEqual({ client: { shop: ['buyer'] } })
  await applySource(service, toRealmSource(tree))
  expect((await getLive('client', 'shop')).representation.scopeMappings).toBeUndefined()
  expect((await getLive('clientScope', 'email')).representation.scopeMappings).toBeUndefined()
})

test('scope mappings of a client that does not exist do not create it', async () => {
  const declared = { ...tree, scopeMappings: [{ client: 'shopp', roles: ['picker'] }] }
  await expect(applySource(service, toRealmSource(declared))).rejects.toThrow(
    'client shopp does not exist, but is referred to here. Did you mean shop?',
  )
  await createObject(service, ANN, realm, 'client', { clientId: 'theirs' })
  await applySource(service, toRealmSource({ ...tree, scopeMappings: [{ client: 'theirs', roles: ['picker'] }] }))
  await applySource(service, toRealmSource(tree))
  await getLive('client', 'theirs')
  await deleteObject(service, ANN, realm, 'client', 'theirs')
})

test.runIf(isFullRun)(
  'more users than one statement takes are created, recorded, and updated one by one',
  { timeout: 120_000 },
  async () => {
    const declareUsers = (lastName: string) => ({
      roles: { realm: [{ name: 'picker' }] },
      groups: [{ name: 'staff' }],
      users: Array.from({ length: 5_001 }, (_, at) => ({
        username: `user-${at}`,
        email: `user-${at}@example.com`,
        lastName: at === 5_000 ? lastName : 'One',
        credentials: [{ type: 'password', secretData: '{"value":"aGFzaA==","salt":"c2FsdA=="}', credentialData: '{}' }],
        realmRoles: ['picker'],
        groups: ['/staff'],
      })),
    })
    await applySource(service, toRealmSource(declareUsers('Last')))
    const all = [...(await listLiveObjects(service, SYSTEM, realm, 'user')).values()]
    const rolesAndGroups = all.map(({ representation: { realmRoles, groups } }) => `${realmRoles} ${groups}`)
    expect(rolesAndGroups).toHaveLength(5_001)
    expect(new Set(rolesAndGroups)).toEqual(new Set(['picker /staff']))
    expect(await planText(service, toRealmSource(declareUsers('Last')))).toContain('Nothing to do.')
    const { realms } = await applySource(service, toRealmSource(declareUsers('Changed')))
    expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', kind: 'user', key: ['user-5000'] }])
    expect((await getLive('user', 'user-5000'))!.representation).toMatchObject({ lastName: 'Changed' })
  },
)
