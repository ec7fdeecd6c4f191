// The events, conditions and concurrency settings of workflows: when they start, restart and end. Compared with Keycloak 26.7.3.
import { afterAll, expect, test } from 'vitest'
import { openWorkflowServer, WAIT } from '../support/workflow-realm.ts'

const server = await openWorkflowServer()
afterAll(() => server.close())

/** The events as workflows: each has the expression as its name. */
const USER_EVENTS = [
  'user_created',
  'USER-CREATED(any)',
  'user_authenticated',
  'user_authenticated(web)',
  'user_authenticated(other)',
  'user_federated_identity_added',
  'user_federated_identity_added(idp)',
  'user_federated_identity_removed(idp)',
  'user_group_membership_added',
  'user_group_membership_added(staff/it)',
  'user_group_membership_added(/default)',
  'user_group_membership_removed(/staff/it)',
  'user_role_granted',
  'user_role_granted(clerk)',
  'user_role_granted(writer)',
  'user_role_granted(app/writer)',
  'user_role_revoked(clerk)',
]

/** Creates a realm with a workflow for each event, and functions that return the events of a change. */
async function createListeningRealm(expressions: readonly string[] = USER_EVENTS) {
  const realm = await server.createRealm()
  await realm.post('roles', { name: 'clerk' })
  const app = await realm.create('clients', { clientId: 'app' })
  await realm.post(`clients/${app}/roles`, { name: 'writer' })
  const staff = await realm.create('groups', { name: 'staff' })
  const subgroup = await realm.create(`groups/${staff}/children`, { name: 'it' })
  const byDefault = await realm.create('groups', { name: 'default' })
  await realm.put(`default-groups/${byDefault}`)
  const config = {
    clientId: 'c',
    clientSecret: 's',
    authorizationUrl: 'https://a.example',
    tokenUrl: 'https://b.example',
  }
  await realm.post('identity-provider/instances', { alias: 'idp', providerId: 'oidc', config })
  const ids = new Map<string, string>()
  for (const on of expressions) ids.set(on, await realm.createWorkflow({ name: on, on }))
  const user = (await realm.get('users?username=ann'))[0].id
  return {
    ...realm,
    app,
    subgroup,
    user,
    clerk: await realm.get('roles/clerk'),
    writer: await realm.get(`clients/${app}/roles/writer`),
    /** Returns the events that have occurred to a user since the last call. */
    async listEvents(id: string = user): Promise<string[]> {
      const names = await realm.listInProgress(id)
      for (const name of names) await realm.post(`workflows/${ids.get(name)}/deactivate/USERS/${id}`)
      return names
    },
  }
}

test('the creation of a user starts the workflows of the user, its roles, groups and linked accounts', async () => {
  const realm = await createListeningRealm()
  const federatedIdentities = [{ identityProvider: 'idp', userId: '1', userName: 'b' }]
  const user = await realm.createUser({ groups: ['/staff/it'], federatedIdentities })
  expect(await realm.listEvents(user)).toEqual([
    'USER-CREATED(any)',
    'user_created',
    'user_federated_identity_added',
    'user_federated_identity_added(idp)',
    'user_group_membership_added',
    'user_group_membership_added(/default)',
    'user_group_membership_added(staff/it)',
    'user_role_granted',
  ])
})

test('each change of roles, groups and linked accounts starts the workflows of its event', async () => {
  const { listEvents, clerk, writer, app, subgroup, user, post, put, delete: remove } = await createListeningRealm()
  await post(`users/${user}/role-mappings/realm`, [clerk])
  expect(await listEvents()).toEqual(['user_role_granted', 'user_role_granted(clerk)'])
  await post(`users/${user}/role-mappings/realm`, [clerk])
  expect(await listEvents()).toEqual([])
  await remove(`users/${user}/role-mappings/realm`, [clerk])
  expect(await listEvents()).toEqual(['user_role_revoked(clerk)'])
  await post(`users/${user}/role-mappings/clients/${app}`, [writer])
  expect(await listEvents()).toEqual(['user_role_granted', 'user_role_granted(writer)'])
  await put(`users/${user}/groups/${subgroup}`)
  expect(await listEvents()).toEqual(['user_group_membership_added', 'user_group_membership_added(staff/it)'])
  await remove(`users/${user}/groups/${subgroup}`)
  expect(await listEvents()).toEqual(['user_group_membership_removed(/staff/it)'])
  await post(`users/${user}/federated-identity/idp`, { userId: '2', userName: 'ann' })
  expect(await listEvents()).toEqual(['user_federated_identity_added', 'user_federated_identity_added(idp)'])
  await remove(`users/${user}/federated-identity/idp`)
  expect(await listEvents()).toEqual(['user_federated_identity_removed(idp)'])
})

test('a deleted or renamed role or group starts no workflow of its holders', async () => {
  const { listEvents, clerk, subgroup, user, post, put, delete: remove } = await createListeningRealm()
  await post(`users/${user}/role-mappings/realm`, [clerk])
  await put(`users/${user}/groups/${subgroup}`)
  await listEvents()
  await put('roles/clerk', { name: 'scribe' })
  await put(`groups/${subgroup}`, { name: 'hr' })
  expect(await listEvents()).toEqual([])
  await remove('roles/scribe')
  await remove(`groups/${subgroup}`)
  expect(await listEvents()).toEqual([])
})

test('a login starts the workflows of the user, a failed one does not', async () => {
  const realm = await createListeningRealm()
  expect(await realm.logIn({ password: 'wrong' })).toHaveProperty('error')
  expect(await realm.listEvents()).toEqual([])
  expect(await realm.logIn()).toHaveProperty('access_token')
  expect(await realm.listEvents()).toEqual(['user_authenticated', 'user_authenticated(web)'])
  await realm.logInOnPage()
  expect(await realm.listEvents()).toEqual(['user_authenticated', 'user_authenticated(web)'])
})

test('the creation and the login of a client start its workflows; a service account has no creation event', async () => {
  const realm = await server.createRealm()
  for (const on of ['client_created', 'client_created(x)', 'client_authenticated'])
    await realm.createWorkflow({ name: on, on, steps: [{ uses: 'disable-client', after: '30d' }] })
  await realm.createWorkflow({ name: 'users', on: 'user_created' })
  const body = { clientId: 'job', secret: 's', publicClient: false, serviceAccountsEnabled: true }
  const client = await realm.create('clients', body)
  expect(await realm.listInProgress(client)).toEqual(['client_created', 'client_created(x)'])
  const account = await realm.get(`clients/${client}/service-account-user`)
  expect(await realm.listInProgress(account.id)).toEqual([])
  await realm.requestTokens({ grant_type: 'client_credentials', client_id: 'job', client_secret: 's' })
  expect(await realm.listInProgress(client)).toEqual(['client_authenticated', 'client_created', 'client_created(x)'])
})

test('an import starts the workflows of roles and groups, but not those of new users', async () => {
  const { post, get, listEvents } = await createListeningRealm()
  await post('partialImport', { users: [{ username: 'eve', groups: ['/staff/it'], realmRoles: ['clerk'] }] })
  const [eve] = await get('users?username=eve')
  expect(await listEvents(eve.id)).toEqual([
    'user_group_membership_added',
    'user_group_membership_added(/default)',
    'user_group_membership_added(staff/it)',
    'user_role_granted',
    'user_role_granted(clerk)',
  ])
})

test.each([
  ['user_created and user_role_granted', false],
  ['user_created or user_authenticated', true],
  ['not user_authenticated and not user_role_granted', true],
  ['not (user_created or user_role_granted)', false],
  ['(user_role_granted(clerk) or user_created) and not user_authenticated', true],
  ['user_authenticated', false],
])('the event %j of a new user matches: %j', async (on, starts) => {
  const realm = await server.createRealm()
  await realm.createWorkflow({ on })
  expect(await realm.listInProgress(await realm.createUser())).toEqual(starts ? ['w'] : [])
})

test('a disabled workflow does not start, and a workflow without an event only by an administrator', async () => {
  const realm = await server.createRealm()
  const disabled = await realm.createWorkflow({ name: 'disabled', on: 'user_created', enabled: false })
  const manual = await realm.createWorkflow({ name: 'manual' })
  const user = await realm.createUser()
  for (const id of [disabled, manual]) await realm.post(`workflows/${id}/activate/USERS/${user}`)
  expect(await realm.listInProgress(user)).toEqual(['manual'])
})

test.each([
  ['has-role(clerk)', true],
  ['has-role(part)', true],
  ['has-role(of-group)', false],
  ['has-role(app/writer)', true],
  ['has-role(writer)', false],
  ['not has-role(writer)', false],
  ['has-role()', false],
  ['is-member-of(/staff)', true],
  ['is-member-of(staff/it)', true],
  ['is-member-of(/other)', false],
  ['is-member-of(/missing)', false],
  ['has-identity-provider-link(idp)', true],
  ['has-identity-provider-link(second)', false],
  ['not has-identity-provider-link(second)', true],
  ['has-user-attribute(team)', true],
  ['has-user-attribute(team:red,blue)', true],
  ['has-user-attribute(team=blue,red)', true],
  ['has-user-attribute(team:red)', false],
  ['has-user-attribute(team:red,blue,green)', false],
  ['has-user-attribute(email:bob@example.org)', true],
  ['has-user-attribute(color)', false],
  ['has-role(clerk) and not is-member-of(/other)', true],
  ['has-role(missing) or has-role(clerk)', true],
  ['has-role(other) or (has-role(clerk) and has-user-attribute(color))', false],
])('the condition %j of a user is met: %j', async (condition, isMet) => {
  const { createWorkflow, bob: user, listInProgress, post } = await getConditionRealm()
  const workflow = await createWorkflow({ name: condition, if: condition })
  await post(`workflows/${workflow}/activate/USERS/${user}`)
  expect(await listInProgress(user)).toEqual(isMet ? [condition] : [])
  await post(`workflows/${workflow}/deactivate/USERS/${user}`)
})

let conditionRealm: ReturnType<typeof prepareConditionRealm> | undefined

/** Returns the realm with the user whom the conditions are about. */
function getConditionRealm(): ReturnType<typeof prepareConditionRealm> {
  conditionRealm ??= prepareConditionRealm()
  return conditionRealm
}

async function prepareConditionRealm() {
  const realm = await createListeningRealm([])
  for (const name of ['part', 'of-group', 'other']) await realm.post('roles', { name })
  const config = {
    clientId: 'c',
    clientSecret: 's',
    authorizationUrl: 'https://a.example',
    tokenUrl: 'https://b.example',
  }
  await realm.post('identity-provider/instances', { alias: 'second', providerId: 'oidc', config })
  await realm.create('groups', { name: 'other' })
  await realm.post('roles/clerk/composites', [await realm.get('roles/part'), realm.writer])
  await realm.post(`groups/${realm.subgroup}/role-mappings/realm`, [await realm.get('roles/of-group')])
  const bob = await realm.createUser({
    email: 'bob@example.org',
    groups: ['/staff/it'],
    attributes: { team: ['red', 'blue'] },
    federatedIdentities: [{ identityProvider: 'idp', userId: '1', userName: 'b' }],
  })
  await realm.post(`users/${bob}/role-mappings/realm`, [realm.clerk])
  return { ...realm, bob }
}

/** The settings of concurrency, and the result of a login of a user while the workflow, which logins start, is in progress. */
const concurrency: [object, 'unchanged' | 'restarted' | 'cancelled'][] = [
  [{}, 'unchanged'],
  [{ 'restart-in-progress': 'true' }, 'restarted'],
  [{ 'restart-in-progress': 'user_authenticated(web)' }, 'restarted'],
  [{ 'restart-in-progress': 'user_role_granted' }, 'unchanged'],
  [{ 'cancel-in-progress': 'TRUE' }, 'cancelled'],
  [{ 'cancel-in-progress': 'user_authenticated and not user_created' }, 'cancelled'],
  [{ 'cancel-in-progress': 'user_authenticated(other)' }, 'unchanged'],
  [{ 'cancel-in-progress': 'true', 'restart-in-progress': 'true' }, 'restarted'],
]
test.each(concurrency)('with the concurrency %j, an event leaves an execution %s', async (settings, result) => {
  const realm = await server.createRealm()
  const second = { ...WAIT, after: '20d' }
  await realm.createWorkflow({ on: 'user_authenticated', steps: [WAIT, second], concurrency: settings })
  await realm.logIn()
  const [ann] = await realm.get('users?username=ann')
  const listStatuses = async () => {
    const [workflow] = await realm.get(`workflows/scheduled/${ann.id}`)
    return workflow?.steps.map(({ status }: { status: string }) => status)
  }
  server.later(30 * 24 * 3600)
  await server.run()
  expect(await listStatuses()).toEqual(['COMPLETED', 'PENDING'])
  await realm.logIn()
  const expected = { unchanged: ['COMPLETED', 'PENDING'], restarted: ['PENDING', 'PENDING'], cancelled: undefined }
  expect(await listStatuses()).toEqual(expected[result])
})

test('`true` needs the condition of the workflow, and no event restarts a manual workflow by it', async () => {
  const realm = await server.createRealm()
  const settings = { concurrency: { 'cancel-in-progress': 'true' } }
  const conditional = { name: 'conditional', on: 'user_authenticated', if: 'has-user-attribute(color)', ...settings }
  await realm.createWorkflow(conditional)
  const manual = await realm.createWorkflow({ name: 'manual', ...settings })
  const [ann] = await realm.get('users?username=ann')
  await realm.put(`users/${ann.id}`, { ...ann, attributes: { color: ['red'] } })
  await realm.logIn()
  await realm.post(`workflows/${manual}/activate/USERS/${ann.id}`)
  await realm.put(`users/${ann.id}`, { ...ann, attributes: {} })
  await realm.logIn()
  await realm.post(`workflows/${manual}/activate/USERS/${ann.id}`)
  expect(await realm.listInProgress(ann.id)).toEqual(['conditional', 'manual'])
})
