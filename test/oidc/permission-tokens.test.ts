// Tokens with permissions: the grant urn:ietf:params:oauth:grant-type:uma-ticket, and what becomes of its tokens.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { createArchive } from '../support/permission-realm.ts'
import { testServer } from '../support/server.ts'

const { call } = await testServer()

test('a token has the requested permissions, and the client with the resources is its first recipient', async () => {
  const { request, ids, mia } = await createArchive()
  const { status, body } = await request(mia, { permission: ['Document#read,write', 'Letter'] })
  expect(status).toBe(200)
  expect(body).toMatchObject({ upgraded: false, token_type: 'Bearer', expires_in: expect.any(Number) })
  expect(Object.keys(body)).not.toContain('id_token')
  const claims = decodeJwt(body.access_token)
  expect([claims.aud].flat()[0]).toBe('archive')
  expect(claims.azp).toBe('web')
  expect(claims.authorization).toEqual({
    permissions: [
      { rsid: ids.Document, rsname: 'Document', scopes: ['read'] },
      { rsid: ids.Letter, rsname: 'Letter', scopes: ['read'] },
    ],
  })
})

test('a refreshed token has the same permissions', async () => {
  const { request, refresh, mia } = await createArchive()
  const { body } = await request(mia, { permission: 'Document#read' })
  const refreshed = await refresh(body.refresh_token)
  const again = await refresh(refreshed.body.refresh_token)
  const { authorization } = decodeJwt(body.access_token)
  expect(authorization).toBeDefined()
  for (const response of [refreshed, again])
    expect(decodeJwt(response.body.access_token).authorization).toEqual(authorization)
})

test('introspection returns the permissions to the client with the resources if it requests them', async () => {
  const { request, introspect, ids, mia } = await createArchive()
  const { access_token: token } = (await request(mia, { permission: 'Document#read' })).body
  const hint = { token_type_hint: 'requesting_party_token' }
  const { body } = await introspect({ token, ...hint })
  expect(body).toMatchObject({ active: true, aud: 'archive', typ: 'Bearer' })
  const [scopes, id] = [['read'], ids.Document]
  expect(body.permissions).toEqual([{ rsid: id, rsname: 'Document', scopes, resource_id: id, resource_scopes: scopes }])
  expect(Object.keys(body)).not.toContain('preferred_username')
  const { body: withoutHint } = await introspect({ token })
  expect(withoutHint).toMatchObject({ active: true, preferred_username: 'mia' })
  expect(Object.keys(withoutHint)).not.toContain('permissions')
  expect((await introspect({ token, ...hint }, 'desk')).body).toEqual({ active: false })
  expect((await introspect({ token: mia, ...hint })).body).toEqual({ active: false })
  expect((await introspect({ token, token_type_hint: 'colour' })).status).toBe(400)
})

test.each([
  ['a denied scope', { permission: 'Document#write' }, 403, 'access_denied', 'not_authorized'],
  ['an unknown resource', { permission: 'Attic' }, 400, 'invalid_resource', 'Resource with id [Attic] does not exist.'],
  ['an unknown scope', { permission: '#burn' }, 400, 'invalid_scope', 'One of the given scopes [burn] is invalid'],
  ['a mode that does not exist', { response_mode: 'all' }, 400, 'invalid_request', 'Invalid response_mode'],
  ['an unknown client', { audience: 'attic' }, 400, 'invalid_request', 'Unknown resource server id: [attic]'],
  ['a client without resources', { audience: 'desk' }, 400, 'invalid_request', 'Client does not support permissions'],
  ['a limit that is no number', { response_permissions_limit: 'x' }, 400, 'invalid_request', undefined],
  ['an earlier token that is none', { rpt: 'x' }, 403, 'invalid_rpt', 'RPT signature is invalid'],
])('%s is refused', async (_, form, status, error, description) => {
  const { request, mia } = await createArchive()
  const response = await request(mia, form)
  expect(response.status).toBe(status)
  expect(response.body).toMatchObject({ error, ...(description && { error_description: description }) })
})

test('a request with response_mode returns the decision or the permissions, and starts no token', async () => {
  const { request, ids, mia } = await createArchive()
  const decision = await request(mia, { permission: 'Document#read', response_mode: 'decision' })
  expect(decision.body).toEqual({ result: true })
  const form = { permission: 'Document', response_mode: 'permissions' }
  const permission = { rsid: ids.Document, scopes: ['read'] }
  expect((await request(mia, form)).body).toEqual([{ ...permission, rsname: 'Document' }])
  expect((await request(mia, { ...form, response_include_resource_name: 'false' })).body).toEqual([permission])
})

test('a limit counts requested resources, and granted ones if none are named', async () => {
  const { request, mia } = await createArchive()
  const list = async (form: object) => (await request(mia, { response_mode: 'permissions', ...form })).body
  const names = async (form: object) => (await list(form)).map(({ rsname }: { rsname: string }) => rsname)
  const permission = ['Cellar', 'Document', 'Letter']
  expect(await names({ permission, response_permissions_limit: '2' })).toEqual(['Document'])
  expect(await names({ response_permissions_limit: '1' })).toHaveLength(1)
  expect(await names({})).toEqual(['Document', 'Letter'])
})

test('resources are named by id, name, type or URI', async () => {
  const { request, ids, mia } = await createArchive()
  const list = async (permission: string, form: object = {}) => {
    const { body } = await request(mia, { permission, response_mode: 'permissions', ...form })
    return Array.isArray(body) ? body.map(({ rsname }) => rsname).sort() : body.error
  }
  const byUri = { permission_resource_format: 'uri' }
  const byPattern = { ...byUri, permission_resource_matching_uri: 'true' }
  expect(await list(ids.Document!)).toEqual(['Document'])
  expect(await list('Document')).toEqual(['Document'])
  expect(await list('resource-type:urn:paper')).toEqual(['Document', 'Letter'])
  expect(await list('resource-type-owner:urn:paper')).toBe('access_denied')
  expect(await list('/letter', byUri)).toEqual(['Letter'])
  expect(await list('/documents/5', byUri)).toBe('invalid_resource')
  expect(await list('/documents/5', byPattern)).toEqual(['Document'])
  expect(await list('/documents', byPattern)).toEqual(['Document'])
  expect(await list('Document', byUri)).toBe('invalid_resource')
})

test.each([
  ['a role', 'role', { roles: '[{"id":"reader"}]' }, { roles: '[{"id":"keeper"}]' }],
  [
    'required roles',
    'role',
    { roles: '[{"id":"reader","required":true}]' },
    { roles: '[{"id":"keeper","required":true},{"id":"reader"}]' },
  ],
  ['a user', 'user', { users: '["mia"]' }, { users: '["noel"]' }],
  ['a client', 'client', { clients: '["web"]' }, { clients: '["desk"]' }],
  ['a group', 'group', { groups: '[{"path":"/staff/night"}]' }, { groups: '[{"path":"/staff"}]' }],
  [
    'a group with subgroups',
    'group',
    { groups: '[{"path":"/staff","extendChildren":true}]' },
    { groups: '[{"path":"/staff","extendChildren":false}]' },
  ],
  ['a client scope', 'client-scope', { clientScopes: '[{"id":"email"}]' }, { clientScopes: '[{"id":"phone"}]' }],
  [
    'required client scopes',
    'client-scope',
    { clientScopes: '[{"id":"email","required":true}]' },
    { clientScopes: '[{"id":"phone","required":true},{"id":"email"}]' },
  ],
  ['policies', 'aggregate', { applyPolicies: '["Readers"]' }, { applyPolicies: '["Noel"]' }],
])('a policy for %s grants access to those that it names only', async (_, type, granting, denying) => {
  const { protectBy, request, mia } = await createArchive()
  await protectBy('Attic', type, granting)
  await protectBy('Loft', type, denying)
  const decide = async (permission: string) => (await request(mia, { permission, response_mode: 'decision' })).status
  expect([await decide('Attic'), await decide('Loft')]).toEqual([200, 403])
})

test('an earlier token is extended by all of the requested permissions or by none', async () => {
  const { request, ids, mia, noel } = await createArchive()
  const { access_token: rpt } = (await request(mia, { permission: 'Document' })).body
  const extended = await request(mia, { permission: 'Letter', rpt })
  expect(extended.body.upgraded).toBe(true)
  expect(decodeJwt(extended.body.access_token).authorization).toEqual({
    permissions: [
      { rsid: ids.Letter, rsname: 'Letter', scopes: ['read'] },
      { rsid: ids.Document, rsname: 'Document', scopes: ['read'] },
    ],
  })
  expect((await request(mia, { permission: ['Letter', 'Cellar'], rpt })).status).toBe(403)
  const ofOther = await request(noel, { permission: 'Document', rpt })
  expect(ofOther.body.upgraded).toBe(false)
  expect(decodeJwt(ofOther.body.access_token).authorization).toEqual({
    permissions: [{ rsid: ids.Document, rsname: 'Document', scopes: ['write'] }],
  })
})

test('a client requests permissions for itself, or for the user of a token', async () => {
  const { requestAsClient, ids, mia } = await createArchive()
  const form = { response_mode: 'permissions', permission: 'Cellar' }
  expect((await requestAsClient('desk', form)).body).toEqual([{ rsid: ids.Cellar, rsname: 'Cellar', scopes: ['read'] }])
  expect((await requestAsClient('desk', { ...form, subject_token: mia })).status).toBe(403)
  const forMia = await requestAsClient('archive', { subject_token: mia, permission: 'Letter' })
  expect(decodeJwt(forMia.body.access_token)).toMatchObject({ preferred_username: 'mia', azp: 'web' })
  const { access_token: token, refresh_token } = (await requestAsClient('desk', { permission: 'Cellar' })).body
  expect(decodeJwt(token)).toMatchObject({ preferred_username: 'service-account-desk', azp: 'desk' })
  expect(refresh_token).toBeUndefined()
  const invalid = await requestAsClient('archive', { subject_token: 'x' })
  expect([invalid.status, invalid.body]).toEqual([
    400,
    { error: 'unauthorized_client', error_description: 'Invalid identity' },
  ])
})

test('policies see the claims that a confidential client sends, but not in place of those of the request', async () => {
  const { requestAsClient, request, ids, mia } = await createArchive()
  const send = (claims: object, permission = 'Vault') => ({
    permission,
    claim_token: Buffer.from(JSON.stringify(claims)).toString('base64'),
    claim_token_format: 'urn:ietf:params:oauth:token-type:jwt',
    response_mode: 'permissions',
  })
  const claims = { reason: ['audit'] }
  expect((await requestAsClient('desk', send(claims))).body).toEqual([{ rsid: ids.Vault, rsname: 'Vault', claims }])
  expect((await requestAsClient('desk', send({ reason: ['fun'] }))).status).toBe(403)
  expect((await requestAsClient('archive', send({ 'kc.client.id': ['desk'] }, 'Cellar'))).status).toBe(403)
  expect((await requestAsClient('desk', send({ reason: 'audit' }))).body.error_description).toBe('Invalid claims')
  const ofPublic = await request(mia, send(claims))
  expect([ofPublic.status, ofPublic.body.error]).toEqual([403, 'invalid_grant'])
})

test('a request without a valid caller is refused', async () => {
  const { request, requestAsClient, disable, mia } = await createArchive()
  for (const token of ['x', '']) expect((await request(token, {})).body.error).toBe('invalid_grant')
  expect((await request(null, {})).status).toBe(401)
  expect((await requestAsClient('web', {})).status).toBe(401)
  await disable('mia')
  const response = await request(mia, { permission: 'Document' })
  expect([response.status, response.body]).toEqual([
    400,
    { error: 'invalid_grant', error_description: 'Invalid bearer token' },
  ])
})

test('no token with permissions is issued to a client whose tokens need a protection that is not enforced', async () => {
  const { request, requestAsClient, path, mia } = await createArchive()
  const conditions = [{ condition: 'any-client', configuration: {} }]
  const executors = [{ executor: 'acme-audit', configuration: {} }]
  const clientProfiles = { profiles: [{ name: 'strict', executors }] }
  const clientPolicies = { policies: [{ name: 'all', enabled: true, conditions, profiles: ['strict'] }] }
  expect((await call('PUT', path, { body: { clientProfiles, clientPolicies } })).status).toBe(204)
  const form = { permission: 'Document' }
  for (const response of [await request(mia, form), await requestAsClient('archive', { ...form, subject_token: mia })])
    expect([response.status, response.body.error]).toEqual([400, 'unauthorized_client'])
})

test('no token with permissions is issued without the DPoP proof that the client requires', async () => {
  const { request, path, mia } = await createArchive()
  const [web] = (await call('GET', `${path}/clients?clientId=web`)).body
  const attributes = { ...web.attributes, 'dpop.bound.access.tokens': 'true' }
  await call('PUT', `${path}/clients/${web.id}`, { body: { ...web, attributes } })
  const { status, body } = await request(mia, { permission: 'Document' })
  expect([status, body.error_description]).toEqual([400, 'DPoP proof is missing'])
})

test('policies see claims that a lightweight access token lacks', async () => {
  const { request, logIn, path, ids } = await createArchive()
  const [web] = (await call('GET', `${path}/clients?clientId=web`)).body
  const attributes = { ...web.attributes, 'client.use.lightweight.access.token.enabled': 'true' }
  await call('PUT', `${path}/clients/${web.id}`, { body: { ...web, attributes } })
  const token = await logIn('mia')
  expect(decodeJwt(token)).not.toHaveProperty('realm_access')
  const { body } = await request(token, { permission: 'Document', response_mode: 'permissions' })
  expect(body).toEqual([{ rsid: ids.Document, rsname: 'Document', scopes: ['read'] }])
})

test('a token with permissions ends with the session of the user', async () => {
  const { request, refresh, path, ids, mia } = await createArchive()
  const { body } = await request(mia, { permission: 'Document' })
  expect((await call('POST', `${path}/users/${ids.mia}/logout`)).status).toBe(204)
  expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')
  expect((await request(body.access_token, { permission: 'Letter' })).body.error).toBe('invalid_grant')
})

test('a decision takes the same number of statements for any number of resources and policies', async () => {
  const { request, mia, addResources, countStatements } = await createArchive()
  const form = { response_mode: 'decision', permission: 'Document#read' }
  await request(mia, form)
  const before = await countStatements(() => request(mia, form))
  await addResources(40)
  await request(mia, form)
  expect(await countStatements(() => request(mia, form))).toBe(before)
  expect(await countStatements(() => request(mia, { ...form, permission: ['Document', 'Letter'] }))).toBe(before)
})
