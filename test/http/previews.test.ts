// Previews of plans: throw-away realms in the state that a plan leads to, without users, secrets and outbound connections.
import { expect, test } from 'vitest'
import { previewTasks } from '../../src/service/admin-api/realms/previews.ts'
import { startTaskRunner } from '../../src/service/tasks/scheduled-tasks.ts'
import { createPlanClient, toSourceBody } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const server = await testServer()
const { call, createRealm, create } = server
const { service } = await testService()

/** A realm with everything that a preview must not have. */
const createContent = (realm: string) => ({
  realm,
  displayName: 'Shop',
  attributes: { frontendUrl: 'https://id.example.com', colour: 'red' },
  smtpServer: { host: 'mail.example.com', from: 'a@example.com', password: 'smtp-secret' },
  roles: { realm: [{ name: 'seller' }, { name: 'buyer' }] },
  groups: [{ name: 'staff', realmRoles: ['seller'] }],
  clients: [
    { clientId: 'web', publicClient: true, redirectUris: ['https://web.example.com/*'] },
    {
      clientId: 'api',
      secret: 'client-secret',
      adminUrl: 'https://api.example.com/admin',
      serviceAccountsEnabled: true,
      attributes: { 'backchannel.logout.url': 'https://api.example.com/logout', 'post.logout.redirect.uris': '+' },
    },
    { clientId: 'old' },
  ],
  identityProviders: [
    {
      alias: 'github',
      providerId: 'github',
      enabled: true,
      config: { clientId: 'a', clientSecret: 'broker-secret' },
    },
  ],
  components: {
    'org.keycloak.storage.UserStorageProvider': [
      {
        name: 'ldap',
        providerId: 'ldap',
        config: {
          editMode: ['READ_ONLY'],
          vendor: ['other'],
          connectionUrl: ['ldap://ldap.example.com'],
          usersDn: ['ou=users'],
          authType: ['none'],
          usernameLDAPAttribute: ['uid'],
          rdnLDAPAttribute: ['uid'],
          uuidLDAPAttribute: ['entryUUID'],
          userObjectClasses: ['inetOrgPerson'],
        },
      },
    ],
  },
  users: [{ username: 'ann', email: 'ann@example.com', credentials: [{ type: 'password', value: 'pw' }] }],
})

const createPreview = (realms: readonly object[], source: string, query = '', token?: string) =>
  call('POST', `/regent/v1/previews${query}`, { body: toSourceBody(realms, source), ...(token && { token }) })

test('a preview has the state that the plan leads to, without users, secrets and outbound connections', async () => {
  const realm = newName('shop')
  const plans = createPlanClient(server, realm)
  await plans.apply(createContent(realm))
  const { clients, ...rest } = createContent(realm)
  const changed = { ...rest, displayName: 'New shop', clients: [...clients.slice(0, 2), { clientId: 'added' }] }
  const { status, body } = await createPreview([changed], realm)
  expect(status, JSON.stringify(body)).toBe(201)
  const [preview] = body
  expect(body).toEqual([
    {
      realm: expect.stringMatching(new RegExp(`^${realm}-preview-[0-9a-f]{8}$`)),
      of: realm,
      until: expect.any(String),
      issuer: expect.stringMatching(new RegExp(`/realms/${preview.realm}$`)),
      outcome: expect.objectContaining({ plan: expect.objectContaining({ realm }) }),
    },
  ])
  const hours = (Date.parse(preview.until) - Date.now()) / 3_600_000
  expect([hours > 23.9, hours < 24.1]).toEqual([true, true])

  const exported = (await call('GET', `/regent/v1/export/${preview.realm}?secrets=true`)).body
  expect(exported).toMatchObject({
    displayName: 'New shop',
    attributes: { colour: 'red', 'regent.preview.of': realm },
    groups: [{ name: 'staff', realmRoles: ['seller'] }],
    identityProviders: [{ alias: 'github', enabled: false }],
  })
  const clientIds = exported.clients.map(({ clientId }: { clientId: string }) => clientId)
  expect(clientIds).toEqual(expect.arrayContaining(['web', 'api', 'added']))
  expect(clientIds).not.toContain('old')
  const text = JSON.stringify(exported)
  for (const word of [
    'smtp-secret',
    'mail.example',
    'client-secret',
    'broker-secret',
    'api.example',
    'ldap',
    'ann',
    'id.example',
  ])
    expect(text).not.toContain(word)
  expect((await call('GET', `/admin/realms/${preview.realm}/users`)).body).toEqual([])
  // The realm itself is as before.
  expect((await call('GET', `/admin/realms/${realm}`)).body.displayName).toBe('Shop')
})

test('a preview of each changed realm is created, also of a new one, and none where nothing changes', async () => {
  const [first, second, third] = [newName('a'), newName('b'), newName('c')]
  await createPlanClient(server, first).apply({ realm: first }, { realm: second })
  const { body } = await createPreview([{ realm: first }, { realm: second, displayName: 'B' }, { realm: third }], first)
  expect(body.map(({ of }: { of: string }) => of).sort()).toEqual([second, third].sort())
  const none = await createPreview([{ realm: first }, { realm: second }], first)
  expect([none.status, none.body]).toEqual([201, []])
})

test('a label names the preview, and replaces an earlier one but no other realm', async () => {
  const realm = newName('shop')
  const first = await createPreview([{ realm, displayName: 'One' }], realm, '?label=pr-1')
  const second = await createPreview([{ realm, displayName: 'Two' }], realm, '?label=pr-1&hours=1')
  const name = `${realm}-preview-pr-1`
  expect([first.body[0].realm, second.body[0].realm]).toEqual([name, name])
  expect((await call('GET', `/admin/realms/${name}`)).body.displayName).toBe('Two')
  const listed = (await call('GET', '/regent/v1/previews')).body
  expect(listed.filter(({ of }: { of: string }) => of === realm)).toEqual([
    { realm: name, of: realm, until: second.body[0].until },
  ])
  const unrelated = `${realm}-preview-taken`
  await call('POST', '/admin/realms', { body: { realm: unrelated } })
  const refused = await createPreview([{ realm }], realm, '?label=taken')
  expect([refused.status, refused.body.errorMessage]).toEqual([409, `The realm ${unrelated} is no preview.`])
  const refusedDeletion = await call('DELETE', `/regent/v1/previews/${unrelated}`)
  expect([refusedDeletion.status, (await call('GET', `/admin/realms/${unrelated}`)).status]).toEqual([409, 200])
  expect((await call('DELETE', `/regent/v1/previews/${name}`)).status).toBe(204)
  expect((await call('GET', `/admin/realms/${name}`)).status).toBe(404)
})

test('a preview is deleted when its time has passed', async () => {
  const realm = newName('shop')
  const { body } = await createPreview([{ realm }], realm, '?hours=0')
  const runner = startTaskRunner(service, previewTasks, (error) => {
    throw error
  })
  await expect
    .poll(
      async () => {
        runner.wake()
        return (await call('GET', `/admin/realms/${body[0].realm}`)).status
      },
      { timeout: 30_000 },
    )
    .toBe(404)
  await runner.close()
})

test('previews of master, of invalid documents and for callers who may not create realms are refused', async () => {
  const master = await createPreview([{ realm: 'master', displayName: 'M' }], newName('m'))
  expect([master.status, master.body.errorMessage]).toEqual([
    400,
    expect.stringContaining('master realm has no preview'),
  ])
  const invalid = await createPreview([{ realm: newName('x'), enabled: 'perhaps' }], newName('x'))
  expect(invalid.status).toBe(400)
  const label = await createPreview([{ realm: newName('x') }], newName('x'), '?label=a/b')
  expect(label.status).toBe(404)
  const path = await createRealm()
  const realm = path.split('/').at(-1)!
  const token = await createPlanner(realm)
  const refused = await createPreview([{ realm, displayName: 'X' }], realm, '', token)
  expect(refused.status).toBe(403)
})

/** Returns the token of a service account of master that may plan in the realm, and nothing else. */
async function createPlanner(realm: string): Promise<string> {
  const clientId = newName('planner')
  const client = await create('/admin/realms/master/clients', { clientId, secret: 's', serviceAccountsEnabled: true })
  const { id } = (await call('GET', `${client}/service-account-user`)).body
  const [realmClient] = (await call('GET', `/admin/realms/master/clients?clientId=${realm}-realm`)).body
  const roles = (await call('GET', `/admin/realms/master/clients/${realmClient.id}/roles`)).body
  const role = roles.filter(({ name }: { name: string }) => name === 'plan-changes')
  await call('POST', `/admin/realms/master/users/${id}/role-mappings/clients/${realmClient.id}`, { body: role })
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: 's' })
  const { body } = await call('POST', '/realms/master/protocol/openid-connect/token', {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  return body.access_token
}
