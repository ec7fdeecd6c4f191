// Groups, people and roles in scope, as documents state them.
import { expect, test } from 'vitest'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { credentialsOf } from '../../src/service/users/credentials.ts'
import { verifyPassword } from '../../src/service/users/passwords.ts'
import { everything } from '../support/campaign.ts'
import { change, liveObjects, make, remove } from '../support/changes.ts'
import { live, realm, realmOfEachTest, service, state } from '../support/documents.ts'
import { ANN, applyAs, planText } from '../support/reconcile.ts'

realmOfEachTest()

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

test('a tree of groups is made with roles, and is known by paths', async () => {
  await applyAs(service, state(tree))
  const groups = await liveObjects(service, SYSTEM, realm, 'group')
  expect([...groups.keys()]).toEqual(['/fruit', '/fruit/apple', '/fruit/apple/a~/b', '/nuts'])
  expect(groups.get('/fruit')!.representation).toMatchObject({
    realmRoles: ['picker'],
    attributes: { colour: ['red'] },
  })
  expect(groups.get('/fruit/apple')!.representation).toMatchObject({ clientRoles: { shop: ['buyer'] } })
  expect(await planText(service, state(tree))).toContain('Nothing to do.')
})

test('a group that somebody renamed is called as before, and those below it with it', async () => {
  await applyAs(service, state(tree))
  const before = await live('group', '/fruit/apple/a~/b')
  await change(service, ANN, realm, 'group', ['/fruit'], { path: '/veg' })
  expect((await live('group', '/veg/apple/a~/b')).id).toBe(before.id)
  expect((await findDrift(service, SYSTEM, realm)).map(({ path, live }) => [path, live])).toEqual([
    ['path', '/veg'],
    ['path', '/veg/apple'],
    ['path', '/veg/apple/a~/b'],
  ])
  await applyAs(service, state(tree))
  expect((await live('group', '/fruit/apple/a~/b')).id).toBe(before.id)
  expect(await planText(service, state(tree))).toContain('Nothing to do.')
})

test('a group cannot be moved below itself', async () => {
  await applyAs(service, state(tree))
  await expect(change(service, ANN, realm, 'group', ['/fruit'], { path: '/fruit/apple/fruit' })).rejects.toThrow(
    'Group /fruit cannot be moved below itself',
  )
})

test('a group that is stated no more goes with all that is below it', async () => {
  await applyAs(service, state(tree))
  await make(service, ANN, realm, 'group', { path: '/fruit/theirs' })
  await applyAs(service, state({ ...tree, groups: [{ name: 'nuts' }] }))
  expect([...(await liveObjects(service, SYSTEM, realm, 'group')).keys()]).toEqual(['/nuts'])
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

const password = async (username: string) => {
  const user = await live('user', username)
  const all = await service.read(SYSTEM, realm, (context) => credentialsOf(context, [user]))
  return (all.get(user.id) ?? []).find(({ type }) => type === 'password')
}
const has = async (username: string, text: string) => {
  const { secretData, credentialData } = (await password(username))!
  return verifyPassword(text, String(secretData), String(credentialData))
}

test('people are made with their roles, groups, consents and passwords, and with what everybody new gets', async () => {
  await applyAs(service, state({ ...tree, users: [ann] }))
  const { representation } = await live('user', 'ann')
  expect(representation).toMatchObject({
    email: 'ann@example.org',
    realmRoles: ['picker'],
    clientRoles: { shop: ['buyer'] },
    groups: ['/fruit/apple'],
    clientConsents: [{ clientId: 'shop', grantedClientScopes: ['email', 'profile'] }],
  })
  expect(await has('ann', 'first')).toBe(true)
  expect(await planText(service, state({ ...tree, users: [ann] }))).toContain('Nothing to do.')
  await applyAs(service, state({ ...tree, users: [{ username: 'ben' }] }))
  const ben = (await live('user', 'ben')).representation
  expect([ben.realmRoles, ben.groups]).toEqual([[`default-roles-${realm}`], ['/nuts']])
})

test('a password is set when it is stated otherwise, and never compared with the one that people chose', async () => {
  await applyAs(service, state({ ...tree, users: [ann] }))
  await applyAs(service, state({ ...tree, users: [{ ...ann, firstName: 'A' }] }))
  expect(await has('ann', 'first')).toBe(true)
  const other = { ...ann, credentials: [{ type: 'password', value: 'second', temporary: true }] }
  expect(await planText(service, state({ ...tree, users: [other] }))).not.toContain('second')
  await applyAs(service, state({ ...tree, users: [other] }))
  expect(await has('ann', 'second')).toBe(true)
  expect((await live('user', 'ann')).representation.requiredActions).toEqual(['UPDATE_PASSWORD'])
  await change(service, ANN, realm, 'user', ['ann'], { requiredActions: [] })
  expect(await planText(service, state({ ...tree, users: [other] }))).toContain('Nothing to do.')
})

test('who was there before keeps what they log in with, and the plan says so', async () => {
  await make(service, ANN, realm, 'user', { username: 'ann', enabled: true })
  const text = await planText(service, state({ ...tree, users: [ann] }))
  expect(text).toContain('user ann: credentials are retained, since the user existed before')
  await applyAs(service, state({ ...tree, users: [ann] }))
  expect(await password('ann')).toBeUndefined()
})

test('hashes of other servers are taken as they are', async () => {
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
  await applyAs(
    service,
    state({
      users: [
        { username: 'ann', credentials: [pbkdf2] },
        { username: 'ben', credentials: [old] },
      ],
    }),
  )
  expect(await has('ann', 'password')).toBe(true)
  expect(await has('ben', 'password')).toBe(true)
  expect(await has('ben', 'passwort')).toBe(false)
})

test('a mail address belongs to one person, unless the realm lets several have it', async () => {
  const two = [
    { username: 'ann', email: 'a@example.org' },
    { username: 'ben', email: 'A@example.org' },
  ]
  await expect(applyAs(service, state({ users: two }))).rejects.toThrow('User exists with same email')
  await applyAs(service, state({ duplicateEmailsAllowed: true, users: two }))
})

test('the account of a client is stated with the client', async () => {
  const clients = [{ clientId: 'job', serviceAccountsEnabled: true }]
  const account = { username: 'service-account-job', serviceAccountClientId: 'job', enabled: true }
  const users = [{ ...account, clientRoles: { 'realm-management': ['view-users'] } }]
  await applyAs(service, state({ clients, users }))
  expect((await live('user', 'service-account-job')).representation).toMatchObject({
    clientRoles: { 'realm-management': ['view-users'] },
  })
  expect(await planText(service, state({ clients, users }))).toContain('Nothing to do.')
})

test('roles in scope stand beside the clients, and belong to whom they name', async () => {
  const stated = {
    ...tree,
    scopeMappings: [{ client: 'shop', roles: ['picker'] }],
    clientScopeMappings: { shop: [{ clientScope: 'email', roles: ['buyer'] }] },
  }
  await applyAs(service, state(stated))
  expect((await live('client', 'shop')).representation.scopeMappings).toEqual({ realm: ['picker'] })
  expect((await live('clientScope', 'email')).representation.scopeMappings).toEqual({ client: { shop: ['buyer'] } })
  await applyAs(service, state(tree))
  expect((await live('client', 'shop')).representation.scopeMappings).toBeUndefined()
  expect((await live('clientScope', 'email')).representation.scopeMappings).toBeUndefined()
})

test('roles in the scope of a client that does not exist make none', async () => {
  const stated = { ...tree, scopeMappings: [{ client: 'shopp', roles: ['picker'] }] }
  await expect(applyAs(service, state(stated))).rejects.toThrow(
    'client shopp is named here, and is neither stated nor live; did you mean shop?',
  )
  await make(service, ANN, realm, 'client', { clientId: 'theirs' })
  await applyAs(service, state({ ...tree, scopeMappings: [{ client: 'theirs', roles: ['picker'] }] }))
  await applyAs(service, state(tree))
  await live('client', 'theirs')
  await remove(service, ANN, realm, 'client', 'theirs')
})

test.runIf(everything)(
  'more people than a statement takes are made, recorded, and changed one by one',
  { timeout: 120_000 },
  async () => {
    const people = (lastName: string) => ({
      roles: { realm: [{ name: 'picker' }] },
      groups: [{ name: 'staff' }],
      users: Array.from({ length: 5_001 }, (_, at) => ({
        username: `person-${at}`,
        email: `person-${at}@example.com`,
        lastName: at === 5_000 ? lastName : 'One',
        credentials: [{ type: 'password', secretData: '{"value":"aGFzaA==","salt":"c2FsdA=="}', credentialData: '{}' }],
        realmRoles: ['picker'],
        groups: ['/staff'],
      })),
    })
    await applyAs(service, state(people('Last')))
    const all = [...(await liveObjects(service, SYSTEM, realm, 'user')).values()]
    const belonging = all.map(({ representation: { realmRoles, groups } }) => `${realmRoles} ${groups}`)
    expect(belonging).toHaveLength(5_001)
    expect(new Set(belonging)).toEqual(new Set(['picker /staff']))
    expect(await planText(service, state(people('Last')))).toContain('Nothing to do.')
    const { realms } = await applyAs(service, state(people('Changed')))
    expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', kind: 'user', key: ['person-5000'] }])
    expect((await live('user', 'person-5000'))!.representation).toMatchObject({ lastName: 'Changed' })
  },
)
