// Every method of Keycloak's admin client for Node for realms and users, against a listening server. REGENT_TOUR_SERVER is the
// URL of another server, with the administrator admin / admin: Keycloak passes these tests too.
import KeycloakAdminClient from '@keycloak/keycloak-admin-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const otherServer = process.env.REGENT_TOUR_SERVER
const baseUrl = otherServer || (await (await testServer()).listen())
const admin = new KeycloakAdminClient({ baseUrl })
const realm = newName('tour')
const mailbox = await openMailbox()
const calledMethods = new Set<string>()

/** Wraps a resource of the client, and records which of its methods are called. */
function recordCalls<T extends object>(name: string, resource: T): T {
  return new Proxy(resource, {
    get(target, property) {
      calledMethods.add(`${name}.${String(property)}`)
      return Reflect.get(target, property)
    },
  })
}

const realms = recordCalls('realms', admin.realms)
const users = recordCalls('users', admin.users)
const groups = recordCalls('groups', admin.groups)
const roles = recordCalls('roles', admin.roles)
const attackDetection = recordCalls('attackDetection', admin.attackDetection)
const { clients } = admin

const names = (objects: readonly { name?: string }[]) => objects.map(({ name }) => name).sort()
const usernames = (objects: readonly { username?: string }[]) => objects.map(({ username }) => username).sort()

/** Logs in to the realm with a password, and returns the response of the token endpoint. */
async function logIn(username: string, password: string, scope = 'openid'): Promise<{ access_token?: string }> {
  const response = await fetch(`${baseUrl}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password, scope }),
  })
  return response.json() as Promise<{ access_token?: string }>
}

/** Creates a user who can log in, and returns the id. */
async function createUser(username: string, more: object = {}): Promise<string> {
  const email = `${username}@example.org`
  const credentials = [{ type: 'password', value: 'pw' }]
  const user = { username, enabled: true, email, firstName: 'Some', lastName: 'Body', credentials, ...more }
  return (await users.create({ realm, ...user })).id
}

let shop: string

beforeAll(async () => {
  await admin.auth({ grantType: 'password', clientId: 'admin-cli', username: 'admin', password: 'admin' })
  expect(await realms.create({ realm, enabled: true })).toEqual({ realmName: realm })
  shop = (await clients.create({ realm, clientId: 'shop' })).id
  for (const name of ['buyer', 'seller']) await clients.createRole({ realm, id: shop, name })
  for (const name of ['reader', 'writer']) expect(await roles.create({ realm, name })).toEqual({ roleName: name })
})
afterAll(() => mailbox.close())

const getRole = async (name: string) => (await roles.findOneByName({ realm, name }))! as { id: string; name: string }
const getShopRole = async (roleName: string) =>
  (await clients.findRole({ realm, id: shop, roleName })) as { id: string; name: string }

test('realms are updated, get a default group, and send a test email', async () => {
  expect((await realms.find({ briefRepresentation: true })).map((representation) => representation.realm)).toContain(
    realm,
  )
  // These logins follow each other fast: only the number of failures counts.
  const bruteForce = { bruteForceProtected: true, failureFactor: 3, quickLoginCheckMilliSeconds: 1 }
  await realms.update({ realm }, { displayName: 'Tour', ...bruteForce })
  expect(await realms.findOne({ realm })).toMatchObject({ displayName: 'Tour', bruteForceProtected: true })

  const { id } = await groups.create({ realm, name: 'new users' })
  await realms.addDefaultGroup({ realm, id })
  expect(names(await realms.getDefaultGroups({ realm }))).toEqual(['new users'])
  expect(await realms.getGroupByPath({ realm, path: 'new users' })).toMatchObject({ id, path: '/new users' })
  await realms.removeDefaultGroup({ realm, id })
  expect(await realms.getDefaultGroups({ realm })).toEqual([])
  await groups.del({ realm, id })

  const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' }
  await realms.update({ realm }, { smtpServer })
  // The test email is sent to the calling administrator.
  const [self] = await users.find({ realm: 'master', username: 'admin' })
  const setAdminEmail = (email: string) => users.update({ realm: 'master', id: self!.id! }, { ...self, email })
  await setAdminEmail('admin@example.org')
  await realms.testSMTPConnection({ realm }, smtpServer)
  await setAdminEmail(self!.email ?? '')
  expect(mailbox.emails.at(-1)).toMatchObject({ to: ['admin@example.org'] })
})

test('user events and admin events are recorded, found and cleared', async () => {
  const eventsConfig = { eventsEnabled: true, adminEventsEnabled: true, adminEventsDetailsEnabled: true }
  await realms.updateConfigEvents({ realm }, eventsConfig)
  expect(await realms.getConfigEvents({ realm })).toMatchObject(eventsConfig)
  const id = await createUser('eve')
  expect(await logIn('eve', 'wrong')).toMatchObject({ error: 'invalid_grant' })
  const [event] = await realms.findEvents({ realm, type: 'LOGIN_ERROR', user: id })
  expect(event).toMatchObject({ type: 'LOGIN_ERROR', clientId: 'admin-cli', error: 'invalid_user_credentials' })
  const adminEvents = await realms.findAdminEvents({ realm, operationTypes: 'CREATE', resourceTypes: 'USER' })
  expect(adminEvents).toMatchObject([{ operationType: 'CREATE', resourcePath: `users/${id}` }])
  await realms.clearEvents({ realm })
  expect(await realms.findEvents({ realm })).toEqual([])
  await realms.clearAdminEvents({ realm })
  expect(await realms.findAdminEvents({ realm })).toEqual([])
  await realms.updateConfigEvents({ realm }, { ...eventsConfig, eventsEnabled: false, adminEventsEnabled: false })
  await users.del({ realm, id })
})

test('users are found, updated, linked to an identity provider, impersonated and deleted', async () => {
  const id = await createUser('ann', { firstName: 'Ann', attributes: { colour: ['blue'] } })
  await createUser('annette')
  expect(usernames(await users.find({ realm, search: 'ann' }))).toEqual(['ann', 'annette'])
  expect(usernames(await users.find({ realm, username: 'ANN', exact: true }))).toEqual(['ann'])
  expect(usernames(await users.find({ realm, search: '*nette*' }))).toEqual(['annette'])
  expect(await users.find({ realm, search: 'ann', first: 1, max: 5 })).toHaveLength(1)
  expect(await users.count({ realm, search: 'ann' })).toBe(2)
  await users.update({ realm, id }, { firstName: 'Anna', lastName: 'Other', email: 'ann@example.org' })
  expect(await users.findOne({ realm, id })).toMatchObject({ username: 'ann', firstName: 'Anna' })

  const profile = await users.getProfile({ realm })
  expect(profile.attributes!.map(({ name }) => name)).toEqual(['username', 'email', 'firstName', 'lastName'])
  const newProfile = { ...profile, unmanagedAttributePolicy: 'ADMIN_EDIT' } as typeof profile
  expect(await users.updateProfile({ realm, ...newProfile })).toMatchObject({ unmanagedAttributePolicy: 'ADMIN_EDIT' })
  expect((await users.getProfileMetadata({ realm })).attributes![0]).toMatchObject({ name: 'username', required: true })
  await users.update({ realm, id }, { email: 'ann@example.org', attributes: { size: ['L'] } })
  expect(await users.getUnmanagedAttributes({ realm, id })).toEqual({ size: ['L'] })

  await admin.identityProviders.create({ realm, alias: 'op', providerId: 'oidc', config: { clientId: 'x' } })
  const account = { realm, id, federatedIdentityId: 'op' }
  await users.addToFederatedIdentity({ ...account, federatedIdentity: { userId: '7', userName: 'ann7' } })
  const identity = { identityProvider: 'op', userId: '7', userName: 'ann7' }
  expect(await users.listFederatedIdentities({ realm, id })).toEqual([identity])
  await users.delFromFederatedIdentity(account)
  expect(await users.listFederatedIdentities({ realm, id })).toEqual([])
  expect(await users.impersonation({ realm, id }, { user: id, realm })).toMatchObject({ sameRealm: false })
  await users.del({ realm, id })
  expect(await users.findOne({ realm, id })).toBeNull()
})

test('credentials are listed, labelled, moved, reset and deleted', async () => {
  const otp = { type: 'otp', userLabel: 'phone', secretData: '{"value":"x"}', credentialData: '{"subType":"totp"}' }
  const id = await createUser('bob', { credentials: [{ type: 'password', value: 'pw' }, otp] })
  const listTypes = async () => (await users.getCredentials({ realm, id })).map(({ type }) => type)
  const [password, code] = await users.getCredentials({ realm, id })
  expect([password, code]).toMatchObject([{ type: 'password' }, { type: 'otp', userLabel: 'phone' }])
  expect(await users.getUserStorageCredentialTypes({ realm, id })).toEqual([])
  await users.updateCredentialLabel({ realm, id, credentialId: code!.id! }, 'tablet')
  expect(await users.getCredentials({ realm, id })).toMatchObject([{}, { userLabel: 'tablet' }])
  await users.moveCredentialPositionUp({ realm, id, credentialId: code!.id! })
  expect(await listTypes()).toEqual(['otp', 'password'])
  await users.moveCredentialPositionDown({ realm, id, credentialId: code!.id!, newPreviousCredentialId: password!.id! })
  expect(await listTypes()).toEqual(['password', 'otp'])
  if (!otherServer) {
    // Keycloak no longer has this operation.
    await users.removeTotp({ realm, id })
    expect(await listTypes()).toEqual(['password'])
  } else await users.deleteCredential({ realm, id, credentialId: code!.id! })
  await users.resetPassword({ realm, id, credential: { type: 'password', value: 'new', temporary: false } })
  expect(await logIn('bob', 'pw')).toMatchObject({ error_description: 'Invalid user credentials' })
  expect(await logIn('bob', 'new')).toHaveProperty('access_token')
  const [credential] = await users.getCredentials({ realm, id })
  await users.deleteCredential({ realm, id, credentialId: credential!.id! })
  expect(await listTypes()).toEqual([])
})

test('sessions are listed and ended, and consents are revoked', async () => {
  const id = await createUser('cleo')
  const clientId = (await clients.find({ realm, clientId: 'admin-cli' }))[0]!.id!
  await realms.logoutAll({ realm })
  const listSessionIds = async () => (await users.listSessions({ realm, id })).map((session) => session.id!)
  await logIn('cleo', 'pw')
  await logIn('cleo', 'pw')
  const [first, second] = await listSessionIds()
  expect(await realms.getClientSessionStats({ realm })).toMatchObject([
    { clientId: 'admin-cli', active: '2', offline: '0' },
  ])
  await realms.removeSession({ realm, sessionId: first! })
  expect(await listSessionIds()).toEqual([second])
  await realms.deleteSession({ realm, session: second!, isOffline: false })
  expect(await listSessionIds()).toEqual([])
  await logIn('cleo', 'pw')
  await users.logout({ realm, id })
  expect(await listSessionIds()).toEqual([])
  await logIn('cleo', 'pw')
  await realms.logoutAll({ realm })
  expect(await listSessionIds()).toEqual([])
  expect(await realms.pushRevocation({ realm })).toEqual({})

  await logIn('cleo', 'pw', 'openid offline_access')
  expect(await users.listOfflineSessions({ realm, id, clientId })).toMatchObject([{ userId: id, username: 'cleo' }])
  const [consent] = await users.listConsents({ realm, id })
  expect(consent).toMatchObject({ clientId: 'admin-cli', additionalGrants: [{ key: 'Offline Token' }] })
  await users.revokeConsent({ realm, id, clientId: 'admin-cli' })
  expect(await users.listConsents({ realm, id })).toEqual([])
  expect(await users.listOfflineSessions({ realm, id, clientId })).toEqual([])
})

test('emails with required actions and for verification are sent', async () => {
  const id = await createUser('dora')
  await users.executeActionsEmail({ realm, id, actions: ['UPDATE_PASSWORD'], lifespan: 600 })
  await expect.poll(() => mailbox.emails.at(-1)).toMatchObject({ to: ['dora@example.org'] })
  const sent = mailbox.emails.length
  await users.sendVerifyEmail({ realm, id })
  await expect.poll(() => mailbox.emails).toHaveLength(sent + 1)
})

test('groups are created, nested, moved and deleted, and have members', async () => {
  const { id } = await groups.create({ realm, name: 'staff', attributes: { floor: ['1'] } })
  const { id: sales } = await groups.createChildGroup({ realm, id }, { name: 'sales' })
  const { id: south } = await groups.createChildGroup({ realm, id: sales }, { name: 'south' })
  expect(await groups.count({ realm })).toEqual({ count: 3 })
  expect(await groups.count({ realm, top: true })).toEqual({ count: 1 })
  expect(await groups.find({ realm, search: 'south' })).toMatchObject([
    { name: 'staff', subGroups: [{ name: 'sales', subGroups: [{ name: 'south', path: '/staff/sales/south' }] }] },
  ])
  expect(await groups.find({ realm, q: 'floor:1' })).toMatchObject([{ name: 'staff' }])
  expect(names(await groups.listSubGroups({ realm, parentId: id, first: 0, max: 5 }))).toEqual(['sales'])
  await groups.update({ realm, id }, { name: 'team', description: 'All of us' })
  expect(await groups.findOne({ realm, id })).toMatchObject({
    name: 'team',
    description: 'All of us',
    subGroupCount: 1,
  })
  // An existing group is moved.
  await groups.updateChildGroup({ realm, id }, { id: south, name: 'south' })
  expect(await groups.findOne({ realm, id: south })).toMatchObject({ path: '/team/south', parentId: id })
  await groups.updateRoot({ realm, id: south, name: 'south' })
  expect(await groups.findOne({ realm, id: south })).toMatchObject({ path: '/south' })

  const member = await createUser('finn')
  await users.addToGroup({ realm, id: member, groupId: sales })
  expect(usernames(await groups.listMembers({ realm, id: sales, first: 0, max: 5 }))).toEqual(['finn'])
  expect(await users.listGroups({ realm, id: member })).toMatchObject([{ name: 'sales', path: '/team/sales' }])
  expect(await users.countGroups({ realm, id: member })).toEqual({ count: 1 })
  await users.delFromGroup({ realm, id: member, groupId: sales })
  expect(await groups.listMembers({ realm, id: sales })).toEqual([])
  await groups.del({ realm, id })
  await groups.del({ realm, id: south })
  expect(await groups.find({ realm })).toEqual([])
})

test('roles are found, updated, composed, granted and deleted', async () => {
  expect(names(await roles.find({ realm, search: 'er' }))).toEqual(expect.arrayContaining(['reader', 'writer']))
  await roles.updateByName({ realm, name: 'reader' }, { name: 'reader', description: 'Reads' })
  const { id } = await getRole('reader')
  expect(await roles.findOneById({ realm, id })).toMatchObject({ name: 'reader', description: 'Reads' })
  await roles.updateById({ realm, id }, { name: 'reader', description: 'Reads it all' })
  expect(await getRole('reader')).toMatchObject({ description: 'Reads it all' })

  const composites = [await getRole('writer'), await getShopRole('buyer')]
  await roles.createComposite({ realm, roleId: id }, composites)
  expect(names(await roles.getCompositeRoles({ realm, id }))).toEqual(['buyer', 'writer'])
  expect(names(await roles.getCompositeRolesForRealm({ realm, id }))).toEqual(['writer'])
  expect(names(await roles.getCompositeRolesForClient({ realm, id, clientId: shop }))).toEqual(['buyer'])
  await roles.delCompositeRoles({ realm, id }, composites)
  expect(await roles.getCompositeRoles({ realm, id })).toEqual([])

  const user = await createUser('gil', { realmRoles: ['ignored'] })
  await users.addRealmRoleMappings({ realm, id: user, roles: [{ id, name: 'reader' }] })
  expect(usernames(await roles.findUsersWithRole({ realm, name: 'reader' }))).toEqual(['gil'])

  for (const name of ['brief', 'short']) await roles.create({ realm, name })
  await roles.delByName({ realm, name: 'brief' })
  await roles.delById({ realm, id: (await getRole('short')).id })
  expect(names(await roles.find({ realm, search: 'rt' }))).toEqual([])
})

test.each([
  ['users', users, () => createUser('hal')],
  ['groups', groups, async () => (await groups.create({ realm, name: 'readers' })).id],
] as const)('role mappings of %s are added, listed and removed', async (_, set, make) => {
  const id = await make()
  const writer = await getRole('writer')
  await set.addRealmRoleMappings({ realm, id, roles: [writer] })
  expect(names(await set.listRealmRoleMappings({ realm, id }))).toContain('writer')
  expect(names(await set.listAvailableRealmRoleMappings({ realm, id }))).not.toContain('writer')
  expect(names(await set.listCompositeRealmRoleMappings({ realm, id }))).toContain('writer')

  const path = { realm, id, clientUniqueId: shop }
  const seller = await getShopRole('seller')
  await set.addClientRoleMappings({ ...path, roles: [seller] })
  expect(names(await set.listClientRoleMappings(path))).toEqual(['seller'])
  expect(names(await set.listAvailableClientRoleMappings(path))).toEqual(['buyer'])
  expect(names(await set.listCompositeClientRoleMappings(path))).toEqual(['seller'])
  expect(await set.listRoleMappings({ realm, id })).toMatchObject({
    clientMappings: { shop: { id: shop, mappings: [{ name: 'seller' }] } },
  })
  await set.delClientRoleMappings({ ...path, roles: [seller] })
  expect(await set.listClientRoleMappings(path)).toEqual([])
  await set.delRealmRoleMappings({ realm, id, roles: [writer] })
  expect(names(await set.listRealmRoleMappings({ realm, id }))).not.toContain('writer')
})

test('attack detection locks a user after failed logins, until it is cleared', async () => {
  const id = await createUser('ike')
  const getStatus = async () =>
    (await attackDetection.findOne({ realm, id })) as { numFailures: number; disabled: boolean }
  const failLogIns = async (times: number) => {
    for (let at = 0; at < times; at++) await logIn('ike', 'wrong')
  }
  await failLogIns(3)
  expect(await getStatus()).toMatchObject({ numFailures: 3, disabled: true })
  expect(await logIn('ike', 'pw')).toMatchObject({ error: 'invalid_grant' })
  await attackDetection.del({ realm, id })
  expect(await getStatus()).toMatchObject({ numFailures: 0, disabled: false })
  expect(await logIn('ike', 'pw')).toHaveProperty('access_token')
  await failLogIns(1)
  await attackDetection.delAll({ realm })
  expect(await getStatus()).toMatchObject({ numFailures: 0 })
})

test('every method for realms and users was called, except for those of other topics', async () => {
  await realms.del({ realm })
  expect(await realms.findOne({ realm })).toBeNull()
  const otherTopics =
    /Request$|partialImport|export|Locali|Locales|getKeys|ldap|InitialAccess|RegistrationPolicy|Permission|Verifiable|Org[A-Z]/i
  const all = (['realms', 'users', 'groups', 'roles', 'attackDetection'] as const).flatMap((name) =>
    Object.entries(admin[name]).flatMap(([method, value]) =>
      typeof value === 'function' ? [`${name}.${method}`] : [],
    ),
  )
  const uncalled = all.filter((method) => !calledMethods.has(method) && !otherTopics.test(method))
  expect(uncalled).toEqual(otherServer ? ['users.removeTotp'] : [])
})
