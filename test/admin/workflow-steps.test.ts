// The steps of workflows: each with its settings, its delay, and its failures. Compared with Keycloak 26.7.3.
import { afterAll, expect, test } from 'vitest'
import { openWorkflowServer, WAIT } from '../support/workflow-realm.ts'

const DAY = 24 * 3600
const server = await openWorkflowServer()
afterAll(() => server.close())

type Realm = Awaited<ReturnType<typeof prepareRealm>>

async function prepareRealm() {
  const realm = await server.createRealm()
  await realm.post('roles', { name: 'clerk' })
  const app = await realm.create('clients', { clientId: 'app' })
  await realm.post(`clients/${app}/roles`, { name: 'writer' })
  const staff = await realm.create('groups', { name: 'staff' })
  await realm.create(`groups/${staff}/children`, { name: 'it' })
  const config = {
    clientId: 'c',
    clientSecret: 's',
    authorizationUrl: 'https://a.example',
    tokenUrl: 'https://b.example',
  }
  for (const alias of ['idp', 'second'])
    await realm.post('identity-provider/instances', { alias, providerId: 'oidc', config })
  const user = await realm.createUser({
    groups: ['/staff'],
    attributes: { team: ['red'], color: ['blue'] },
    requiredActions: ['UPDATE_PASSWORD'],
    federatedIdentities: ['idp', 'second'].map((identityProvider) => ({
      identityProvider,
      userId: '1',
      userName: 'b',
    })),
  })
  await realm.post(`users/${user}/role-mappings/realm`, [await realm.get('roles/clerk')])
  await realm.post(`users/${user}/role-mappings/clients/${app}`, [await realm.get(`clients/${app}/roles/writer`)])
  return { ...realm, app, user }
}

/** Returns the user as the steps can change it; undefined if it is deleted. */
async function readUser({ get, user, app }: Realm) {
  const representation = await get(`users/${user}`).catch(() => undefined)
  if (!representation) return undefined
  const names = (objects: readonly Record<string, string>[], name: string) =>
    objects.map((object) => object[name]).sort()
  return {
    enabled: representation.enabled,
    email: representation.email,
    attributes: representation.attributes,
    requiredActions: representation.requiredActions,
    realmRoles: names(await get(`users/${user}/role-mappings/realm`), 'name').filter((name) => name === 'clerk'),
    clientRoles: names(await get(`users/${user}/role-mappings/clients/${app}`), 'name'),
    groups: names(await get(`users/${user}/groups`), 'path'),
    identities: names(await get(`users/${user}/federated-identity`), 'identityProvider'),
  }
}

const before = {
  enabled: true,
  email: undefined,
  attributes: { team: ['red'], color: ['blue'] },
  requiredActions: ['UPDATE_PASSWORD'],
  realmRoles: ['clerk'],
  clientRoles: ['writer'],
  groups: ['/staff'],
  identities: ['idp', 'second'],
}

/** A step with its settings, what it changes, and what is reported. */
const steps: [uses: string, settings: object, changes: object, report?: string][] = [
  ['add-required-action', { action: 'update-profile' }, { requiredActions: ['UPDATE_PASSWORD', 'UPDATE_PROFILE'] }],
  ['add-required-action', { action: 'DANCE' }, {}, 'the required action "DANCE" does not exist'],
  [
    'add-required-action',
    { action: 'TERMS_AND_CONDITIONS' },
    {},
    'the required action TERMS_AND_CONDITIONS is not enabled',
  ],
  ['remove-required-action', { action: 'UPDATE_PASSWORD' }, { requiredActions: [] }],
  ['remove-required-action', { action: 'update-password' }, {}, 'the required action "update-password" does not exist'],
  [
    'set-user-attribute',
    { color: ['green', 'red'], email: 'bob@example.org', after: '1', priority: '2' },
    { attributes: { team: ['red'], color: ['green', 'red'] }, email: 'bob@example.org' },
  ],
  ['remove-user-attribute', { attribute: ['team', 'size'] }, { attributes: { color: ['blue'] } }],
  ['revoke-role', { role: ['clerk', 'app/writer'] }, { realmRoles: [], clientRoles: [] }],
  [
    'revoke-role',
    { role: ['app/writer', 'missing', 'clerk'] },
    { clientRoles: [] },
    'the role "missing" does not exist',
  ],
  ['grant-role', { role: 'app/missing' }, {}, 'the role "app/missing" does not exist'],
  ['join-group', { group: 'staff/it' }, { groups: ['/staff', '/staff/it'] }],
  ['join-group', { group: '/nowhere' }, {}, 'the group "/nowhere" does not exist'],
  ['leave-group', { group: '/staff' }, { groups: [] }],
  ['unlink-user', { idp: 'idp' }, { identities: ['second'] }],
  ['unlink-user', { idp: '*' }, { identities: [] }],
  ['unlink-user', {}, {}, 'no identity provider is configured (idp)'],
  ['disable-user', {}, { enabled: false }],
]

test.each(steps)('the step %s with %j changes %j of a user', async (uses, settings, changes, report) => {
  const realm = await prepareRealm()
  expect(await readUser(realm)).toEqual(before)
  const workflow = await realm.createWorkflow({ steps: [{ uses, with: settings }] })
  await realm.post(`workflows/${workflow}/activate/USERS/${realm.user}`)
  const reports = await server.run()
  expect(await readUser(realm)).toEqual({ ...before, ...changes })
  expect(reports).toEqual(
    report === undefined ? [] : [`Step 1 of the workflow w in the realm ${realm.name}: ${report}`],
  )
  expect(await realm.listInProgress(realm.user)).toEqual([])
})

test('the step grant-role grants realm and client roles', async () => {
  const realm = await prepareRealm()
  const workflow = await realm.createWorkflow({
    steps: [
      { uses: 'revoke-role', with: { role: ['clerk', 'app/writer'] } },
      { uses: 'grant-role', with: { role: ['clerk', 'app/writer'] } },
    ],
  })
  await realm.post(`workflows/${workflow}/activate/USERS/${realm.user}`)
  await server.run()
  expect(await readUser(realm)).toEqual(before)
  expect((await realm.listAuthors(realm.user)).slice(-2)).toEqual(['w', 'w'])
})

test('the step delete-user deletes the user and the executions of other workflows', async () => {
  const realm = await prepareRealm()
  await realm.createWorkflow({ name: 'other', on: 'user_role_granted' })
  const workflow = await realm.createWorkflow({ steps: [{ uses: 'delete-user' }, { uses: 'notify-user' }] })
  await realm.post(`workflows/${workflow}/activate/USERS/${realm.user}`)
  expect(await server.run()).toEqual([])
  expect(await readUser(realm)).toBeUndefined()
  expect(await realm.listInProgress(realm.user)).toEqual([])
})

test('the steps disable-client and delete-client change clients', async () => {
  const realm = await prepareRealm()
  const steps = [{ uses: 'disable-client' }, { uses: 'delete-client', after: '1d' }]
  const workflow = await realm.createWorkflow({ steps })
  await realm.post(`workflows/${workflow}/activate/CLIENTS/${realm.app}`)
  await server.run()
  expect((await realm.get(`clients/${realm.app}`)).enabled).toBe(false)
  server.later(DAY)
  await server.run()
  await expect(realm.get(`clients/${realm.app}`)).rejects.toThrow('404')
})

test.each([
  ['10', 10],
  ['1500ms', 2],
  ['5m', 300],
  ['2H', 7200],
  ['3d', 3 * DAY],
  ['P1DT2H', DAY + 7200],
  ['PT1.5S', 2],
])('a step after %j is executed %i seconds later, and not before', async (after, seconds) => {
  const realm = await server.createRealm()
  await realm.createWorkflow({ on: 'user_created', steps: [{ uses: 'disable-user', after }] })
  const user = await realm.createUser()
  server.later(seconds - 1)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(true)
  server.later(1)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(false)
})

test('steps without a delay follow at once; a restart begins again at its position', async () => {
  const realm = await server.createRealm()
  const steps = [
    { uses: 'set-user-attribute', with: { first: '1' } },
    { uses: 'set-user-attribute', with: { second: '2' }, after: '1d' },
    { uses: 'restart', with: { position: '1' } },
  ]
  await realm.createWorkflow({ on: 'user_created', steps })
  const user = await realm.createUser()
  await server.run()
  const readAttributes = async () => (await realm.get(`users/${user}`)).attributes
  expect(await readAttributes()).toEqual({ first: ['1'] })
  for (let day = 0; day < 3; day++) {
    await realm.put(`users/${user}`, { username: 'bob', enabled: true, attributes: {} })
    server.later(DAY)
    await server.run()
    expect(await readAttributes()).toEqual({ second: ['2'] })
  }
  const [{ steps: scheduled }] = await realm.get(`workflows/scheduled/${user}`)
  expect(scheduled.map(({ status }: { status: string }) => status)).toEqual(['COMPLETED', 'PENDING', 'PENDING'])
})

test('after a delay, a user who does not meet the condition any more leaves the workflow', async () => {
  const realm = await server.createRealm()
  const steps = [
    { uses: 'remove-user-attribute', with: { attribute: 'color' } },
    { uses: 'set-user-attribute', with: { size: '1' } },
    { uses: 'disable-user', after: '1d' },
  ]
  await realm.createWorkflow({ on: 'user_created', if: 'has-user-attribute(color)', steps })
  const user = await realm.createUser({ attributes: { color: ['red'] } })
  await server.run()
  expect((await realm.get(`users/${user}`)).attributes).toEqual({ size: ['1'] })
  server.later(DAY)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(true)
  expect(await realm.listInProgress(user)).toEqual([])
})

test('a condition with a deleted role postpones the step, and the workflow shows the error', async () => {
  const realm = await server.createRealm()
  await realm.post('roles', { name: 'clerk' })
  const user = await realm.createUser()
  const grant = async () => realm.post(`users/${user}/role-mappings/realm`, [await realm.get('roles/clerk')])
  await grant()
  const workflow = await realm.createWorkflow({ if: 'has-role(clerk)', steps: [{ uses: 'disable-user', after: '1d' }] })
  await realm.post(`workflows/${workflow}/activate/USERS/${user}`)
  await realm.delete('roles/clerk')
  server.later(DAY)
  await server.run()
  expect((await realm.get(`workflows/${workflow}`)).state).toEqual({
    errors: ['The condition names a role, group or identity provider that does not exist'],
  })
  await realm.post('roles', { name: 'clerk' })
  await grant()
  server.later(60)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(false)
  expect((await realm.get(`workflows/${workflow}`)).state).toBeUndefined()
})

test('a step that fails for one of several users is executed for the others, and retried for that one', async () => {
  const realm = await server.createRealm()
  const users: string[] = []
  for (let at = 0; at < 5; at++) users.push(await realm.createUser({ username: `user-${at}` }))
  await realm.createUser({ username: 'taken', email: 'user@example.org' })
  const workflow = await realm.createWorkflow({
    steps: [{ uses: 'set-user-attribute', after: '1d', with: { email: 'user@example.org' } }],
  })
  await realm.post(`workflows/${workflow}/activate/USERS/${users[2]}`)
  const other = await realm.createWorkflow({ name: 'other', steps: [{ uses: 'disable-user', after: '1d' }] })
  for (const user of users) await realm.post(`workflows/${other}/activate/USERS/${user}`)
  server.later(DAY)
  const [report] = await server.run()
  expect(report).toContain(`Step 1 of the workflow w in the realm ${realm.name} failed for ${users[2]}, and is retried`)
  for (const user of users) expect((await realm.get(`users/${user}`)).enabled).toBe(false)
  expect((await realm.get(`workflows/${workflow}`)).state.errors).toHaveLength(1)
  expect(await realm.listInProgress(users[2]!)).toEqual(['w'])
})

test('a disabled workflow pauses, and a deleted one ends', async () => {
  const realm = await server.createRealm()
  const steps = [{ uses: 'disable-user', after: '1d' }]
  const workflow = await realm.createWorkflow({ on: 'user_created', steps })
  const user = await realm.createUser()
  await realm.put(`workflows/${workflow}`, { name: 'w', on: 'user_created', enabled: false, steps })
  server.later(DAY)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(true)
  await expect(realm.put(`workflows/${workflow}`, { name: 'w', on: 'user_created', steps: [WAIT] })).rejects.toThrow(
    'Cannot change the number or order of steps',
  )
  await expect(realm.put(`workflows/${workflow}`, { name: 'w', on: 'user_authenticated', steps })).rejects.toThrow(
    "Cannot update 'on' configuration",
  )
  await realm.delete(`workflows/${workflow}`)
  await server.run()
  expect((await realm.get(`users/${user}`)).enabled).toBe(true)
  expect(await realm.listInProgress(user)).toEqual([])
})
