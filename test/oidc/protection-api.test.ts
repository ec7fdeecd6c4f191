// The protection API: who may manage which resources, and what becomes of requests of users and of policies of owners.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { createArchive } from '../support/permission-realm.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()

/** Creates the realm with a ticket for Noel to read the diary of Mia. */
async function createRequest() {
  const archive = await createArchive()
  const token = await archive.logInAccount()
  const { ids, protect, request, noel } = archive
  const requestTicket = async (permissions: object[]) =>
    (await protect('POST', 'permission', { token, body: permissions })).body.ticket
  const ticket = await requestTicket([{ resource_id: ids.Diary, resource_scopes: ['read'] }])
  const listTickets = async (query = '') => (await protect('GET', `permission/ticket${query}`, { token })).body
  const grant = async (granted = true) => {
    const [{ id }] = await listTickets()
    return protect('PUT', 'permission/ticket', { token, body: { id, granted } })
  }
  const submit = () => request(noel, { ticket })
  const read = (user = noel) => request(user, { permission: `${ids.Diary}#read`, response_mode: 'permissions' })
  return { ...archive, token, ticket, requestTicket, listTickets, grant, submit, read }
}

test('an application creates, updates, lists and deletes resources of its client', async () => {
  const { protect, logInAccount, ids } = await createArchive()
  const token = await logInAccount()
  const body = { name: 'Map', type: 'urn:paper', uris: ['/map'], resource_scopes: ['read', 'fold'] }
  const created = await protect('POST', 'resource_set', { token, body })
  expect([created.status, created.body.owner]).toEqual([201, { id: ids.archive, name: 'archive' }])
  const address = `resource_set/${created.body._id}`
  const resource = (await protect('GET', address, { token })).body
  expect(resource.resource_scopes).toEqual(expect.arrayContaining([{ name: 'read' }, { name: 'fold' }]))
  expect((await protect('PUT', address, { token, body: { ...body, displayName: 'The map' } })).status).toBe(204)
  expect((await protect('GET', address, { token })).body.displayName).toBe('The map')
  const list = async (query: string) => (await protect('GET', `resource_set?${query}`, { token })).body
  expect(await list('name=map')).toEqual([created.body._id])
  expect(await list('uri=/documents/1&matchingUri=true')).toEqual([ids.Document])
  expect((await list('deep=true&exactName=true&name=Map'))[0]).toMatchObject({ name: 'Map', displayName: 'The map' })
  expect((await protect('DELETE', address, { token })).status).toBe(204)
  expect((await protect('GET', address, { token })).status).toBe(404)
})

test('a created resource is evaluated at once, and so is the end of its permissions', async () => {
  const { protect, logInAccount, request, mia, server } = await createArchive()
  const token = await logInAccount()
  const { _id: id } = (await protect('POST', 'resource_set', { token, body: { name: 'Map' } })).body
  const decide = async () => (await request(mia, { permission: id, response_mode: 'decision' })).status
  expect(await decide()).toBe(403)
  const [readers] = (await call('GET', `${server}/policy?name=Readers`)).body
  const body = { name: 'See the map', resources: [id], policies: [readers.id] }
  expect((await call('POST', `${server}/permission/resource`, { body })).status).toBe(201)
  expect(await decide()).toBe(200)
  await protect('DELETE', `resource_set/${id}`, { token })
  expect(await decide()).toBe(400)
})

test('only tokens of clients with authorization services are accepted, and for resources only with the role uma_protection', async () => {
  const { protect, logIn, logInAccount, mia } = await createArchive()
  const list = async (token: string) => (await protect('GET', 'resource_set', { token })).body.error
  expect(await list('x')).toBe('invalid_bearer_token')
  expect(await list(mia)).toBe('invalid_clientId')
  expect(await list(await logInAccount('desk'))).toBe('invalid_clientId')
  expect(await list(await logIn('mia', 'archive'))).toBe('invalid_scope')
  expect(await list(await logInAccount())).toBeUndefined()
})

test('a client sees neither the resources nor the tickets of another client', async () => {
  const { protect, logInAccount, submit, ids } = await createRequest()
  await submit()
  const token = await logInAccount('museum')
  expect((await protect('GET', 'resource_set', { token })).body).toEqual([])
  expect((await protect('GET', `resource_set/${ids.Document}`, { token })).status).toBe(404)
  expect((await protect('GET', 'permission/ticket', { token })).body).toEqual([])
  expect((await protect('POST', 'permission', { token, body: [{ resource_id: ids.Diary }] })).status).toBe(400)
})

test('a client that forbids remote management manages tickets, but no resources and policies', async () => {
  const { protect, logIn, logInAccount, server, ids } = await createArchive()
  const settings = (await call('GET', server)).body
  await call('PUT', server, { body: { ...settings, allowRemoteResourceManagement: false } })
  const token = await logInAccount()
  expect((await protect('GET', 'resource_set', { token })).body.error).toBe('not_supported')
  expect((await protect('POST', 'permission', { token, body: [{ resource_id: ids.Diary }] })).status).toBe(201)
  const body = { name: 'Share', users: ['noel'] }
  const shared = await protect('POST', `uma-policy/${ids.Diary}`, { token: await logIn('mia', 'archive'), body })
  expect([shared.status, shared.body.error]).toEqual([403, 'request_not_supported'])
})

test('a denied request with a ticket asks the owner once, who grants it and takes it back', async () => {
  const { submit, read, grant, listTickets, ids } = await createRequest()
  const denied = { error: 'access_denied', error_description: 'request_submitted' }
  for (const _ of [1, 2]) expect((await submit()).body).toEqual(denied)
  const [ticket, ...further] = await listTickets('?returnNames=true')
  expect(further).toEqual([])
  expect(ticket).toMatchObject({
    ...{ owner: ids.mia, ownerName: 'mia', requester: ids.noel, requesterName: 'noel' },
    ...{ resource: ids.Diary, resourceName: 'Diary', scopeName: 'read', granted: false },
  })
  expect((await read()).status).toBe(403)
  expect((await grant()).status).toBe(204)
  const permission = { rsid: ids.Diary, rsname: 'Diary', scopes: ['read'] }
  expect((await read()).body).toEqual([permission])
  expect(decodeJwt((await submit()).body.access_token).authorization).toEqual({ permissions: [permission] })
  expect((await grant(false)).status).toBe(204)
  expect((await read()).status).toBe(403)
  expect(await listTickets()).toEqual([])
})

test('a granted ticket counts for its requester only, also in evaluations of administrators', async () => {
  const { submit, read, grant, otto, server, ids } = await createRequest()
  await submit()
  await grant()
  expect((await read(otto)).status).toBe(403)
  const evaluate = async (userId: string | undefined) => {
    const body = { userId, resources: [{ _id: ids.Diary, scopes: [{ name: 'read' }] }] }
    return (await call('POST', `${server}/policy/evaluate`, { body })).body.status
  }
  expect(await evaluate(ids.noel)).toBe('PERMIT')
  const { results } = (await call('POST', `${server}/policy/evaluate`, { body: { userId: ids.noel } })).body
  expect(results.map(({ resource }: { resource: { name: string } }) => resource.name)).toContain(
    'Diary with scopes [read]',
  )
})

test('a granted ticket denies other users what only permissions on other scopes of the resource grant', async () => {
  const { protect, request, server, token, ids, noel } = await createRequest()
  await call('PUT', server, { body: { ...(await call('GET', server)).body, decisionStrategy: 'AFFIRMATIVE' } })
  const create = (path: string, body: object) => call('POST', `${server}/${path}`, { body })
  const [print] = (await call('GET', `${server}/scope?name=print`)).body
  const policy = (await create('policy/user', { name: 'Anyone', users: [ids.noel] })).body
  const permission = { name: 'Print the diary', resources: [ids.Diary], scopes: [print.id], policies: [policy.id] }
  expect((await create('permission/scope', permission)).status).toBe(201)
  const decide = async () => (await request(noel, { permission: ids.Diary!, response_mode: 'decision' })).status
  expect(await decide()).toBe(200)
  const ticket = { resource: ids.Diary, scopeName: 'read', requesterName: 'otto', granted: true }
  expect((await protect('POST', 'permission/ticket', { token, body: ticket })).status).toBe(200)
  expect(await decide()).toBe(403)
})

test('a request that is not to be submitted, or by a user for their own resource, leaves no ticket', async () => {
  const { request, requestTicket, listTickets, ticket, mia, noel, ids } = await createRequest()
  const refused = await request(noel, { ticket, submit_request: 'false' })
  expect(refused.body.error_description).toBe('not_authorized')
  await request(mia, { ticket })
  await request(noel, { ticket: await requestTicket([{ resource_id: ids.Cellar }]) })
  expect(await listTickets()).toEqual([])
})

test('a ticket that is forged, or a token of another type, is refused', async () => {
  const { request, requestAsClient, noel, ticket } = await createRequest()
  const [header, payload, signature] = String(ticket).split('.')
  const forged = JSON.parse(Buffer.from(payload!, 'base64url').toString())
  forged.permissions[0].scopes = ['write']
  const changed = [header, Buffer.from(JSON.stringify(forged)).toString('base64url'), signature].join('.')
  const { refresh_token } = (await requestAsClient('desk', { permission: 'Cellar' })).body
  for (const text of ['', 'x', noel, changed, String(refresh_token)])
    expect((await request(noel, { ticket: text })).body.error, text).toBe('invalid_ticket')
  expect((await request(String(ticket), {})).body.error).toBe('invalid_grant')
})

test('tickets end with their resource, their scope and their requester', async () => {
  const { submit, listTickets, server, path, ids, token, protect } = await createRequest()
  const create = (scopeName: string, requesterName: string) =>
    protect('POST', 'permission/ticket', {
      token,
      body: { resource: ids.Diary, scopeName, requesterName, granted: true },
    })
  await submit()
  await create('write', 'noel')
  await create('read', 'otto')
  expect(await listTickets()).toHaveLength(3)
  await call('DELETE', `${path}/users/${ids.otto}`)
  expect(await listTickets()).toHaveLength(2)
  const diary = (await call('GET', `${server}/resource/${ids.Diary}`)).body
  await call('PUT', `${server}/resource/${ids.Diary}`, { body: { ...diary, scopes: [{ name: 'write' }] } })
  const [read] = (await call('GET', `${server}/scope?name=read`)).body
  for (const { _id, name, scopes = [] } of (await call('GET', `${server}/resource`)).body) {
    const rest = scopes.filter((scope: { name: string }) => scope.name !== 'read')
    await call('PUT', `${server}/resource/${_id}`, { body: { name, scopes: rest } })
  }
  expect((await call('DELETE', `${server}/scope/${read.id}`)).status).toBe(204)
  expect((await listTickets('?returnNames=true')).map(({ scopeName }: { scopeName: string }) => scopeName)).toEqual([
    'write',
  ])
  await call('DELETE', `${server}/resource/${ids.Diary}`)
  expect(await listTickets()).toEqual([])
})

test('the journal has the request and the grant of a ticket with their actors, as changes of the requester', async () => {
  const { submit, grant, name, listTickets } = await createRequest()
  await submit()
  const [{ id }] = await listTickets()
  const explain = async () => {
    const { status, body } = await call('GET', `/regent/v1/why/${name}?path=users/noel`)
    expect(status).toBe(200)
    return body.fields.find(({ path }: { path: string }) => path === `permissionTickets.${id}`).by
  }
  expect(await explain()).toMatchObject({ kind: 'user', name: 'noel', client: 'web' })
  await grant()
  expect(await explain()).toMatchObject({
    kind: 'administrator',
    name: 'service-account-archive',
    client: 'archive',
  })
})

test('an owner shares a resource with users, groups, roles and clients, and only the owner sees the policy', async () => {
  const { protect, logIn, request, noel, otto, mia, ids, server } = await createArchive()
  const token = await logIn('mia', 'archive')
  const share = (body: object) => protect('POST', `uma-policy/${ids.Diary}`, { token, body })
  const { body: policy } = await share({ name: 'For Noel', scopes: ['read'], users: ['noel'] })
  expect(policy).toMatchObject({ type: 'uma', owner: ids.mia, scopes: ['read'], users: ['noel'] })
  const list = async (user: string) => {
    const { body } = await request(user, { permission: ids.Diary!, response_mode: 'permissions' })
    return Array.isArray(body) ? body[0].scopes : body.error
  }
  expect(await list(noel)).toEqual(['read'])
  expect(await list(otto)).toBe('access_denied')
  expect(await list(mia)).toEqual(['read'])
  expect((await call('GET', `${server}/policy?name=For`)).body).toEqual([])
  const address = `uma-policy/${policy.id}`
  const ofOther = await protect('GET', address, { token: await logIn('noel', 'archive') })
  expect([ofOther.status, ofOther.body.error]).toEqual([400, 'invalid_request'])
  const body = { name: 'For all at the web', scopes: ['write'], clients: ['web'] }
  expect((await protect('PUT', address, { token, body })).status).toBe(201)
  expect((await protect('GET', address, { token })).body).toMatchObject({ id: policy.id, ...body })
  expect((await protect('GET', address, { token })).body).not.toHaveProperty('users')
  expect(await list(otto)).toEqual(['write'])
  expect((await protect('DELETE', address, { token })).status).toBe(204)
  expect(await list(noel)).toBe('access_denied')
})

test.each([
  ['a user', { users: ['nobody'] }],
  ['a role', { roles: ['nothing'] }],
  ['a group', { groups: ['/nowhere'] }],
  ['a client', { clients: ['nothing'] }],
  ['a scope', { scopes: ['burn'] }],
])('%s of a shared resource must exist, and nothing is created otherwise', async (_, fields) => {
  const { protect, logIn, ids, server } = await createArchive()
  const token = await logIn('mia', 'archive')
  const before = (await call('GET', `${server}/settings`)).body.policies.length
  const body = { name: 'Share', users: ['noel'], ...fields }
  const { status, body: error } = await protect('POST', `uma-policy/${ids.Diary}`, { token, body })
  expect([status, error.error]).toEqual([400, 'invalid_request'])
  expect((await call('GET', `${server}/settings`)).body.policies).toHaveLength(before)
})

test('exported settings contain the policies of owners, and an import into another client grants the same', async () => {
  const { protect, logIn, request, ids, server, path, noel, otto } = await createArchive()
  const body = { name: 'Share', scopes: ['read'], users: ['noel'] }
  await protect('POST', `uma-policy/${ids.Diary}`, { token: await logIn('mia', 'archive'), body })
  const settings = (await call('GET', `${server}/settings`)).body
  expect(settings.policies.map(({ type }: { type: string }) => type)).toContain('uma')
  const [museum] = (await call('GET', `${path}/clients?clientId=museum`)).body
  const address = `${path}/clients/${museum.id}/authz/resource-server`
  expect((await call('POST', `${address}/import`, { body: settings })).status).toBe(204)
  const [diary] = (await call('GET', `${address}/resource?name=Diary`)).body
  const decide = (user: string) =>
    request(user, { audience: 'museum', permission: `${diary._id}#read`, response_mode: 'permissions' })
  expect((await decide(noel)).body).toEqual([{ rsid: diary._id, rsname: 'Diary', scopes: ['read'] }])
  expect((await decide(otto)).status).toBe(403)
})

test('the parts of a policy of an owner are deleted with the policy, its resource and its owner', async () => {
  const { protect, logIn, ids, server, path } = await createArchive()
  const token = await logIn('mia', 'archive')
  const count = async () => (await call('GET', `${server}/settings`)).body.policies.length
  const before = await count()
  const share = (name: string) =>
    protect('POST', `uma-policy/${ids.Diary}`, { token, body: { name, users: ['noel'], clients: ['web'] } })
  const { id } = (await share('First')).body
  expect(await count()).toBeGreaterThan(before)
  await protect('DELETE', `uma-policy/${id}`, { token })
  expect(await count()).toBe(before)
  await share('Second')
  await call('DELETE', `${path}/users/${ids.mia}`)
  expect(await count()).toBe(before)
})

test('the document of User-Managed Access names the endpoints, and the token endpoint accepts the grant', async () => {
  const { name } = await createArchive()
  const get = (document: string) => call('GET', `/realms/${name}/.well-known/${document}`, { token: null })
  const { status, body } = await get('uma2-configuration')
  expect(status).toBe(200)
  for (const [member, path] of Object.entries({
    resource_registration_endpoint: 'authz/protection/resource_set',
    permission_endpoint: 'authz/protection/permission',
    policy_endpoint: 'authz/protection/uma-policy',
    token_endpoint: 'protocol/openid-connect/token',
  }))
    expect(body[member]).toBe(`${body.issuer}/${path}`)
  const grant = 'urn:ietf:params:oauth:grant-type:uma-ticket'
  expect(body.grant_types_supported).toContain(grant)
  expect((await get('openid-configuration')).body.grant_types_supported).toContain(grant)
})
