// Client policies at changes of clients by REST and by registration. The errors of REST were compared with Keycloak.
import { describe, expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { anyClient, policySettings, setPolicies, type TestExecutor } from '../support/policed-realm.ts'
import { createRegistrationRealm } from '../support/registration-realm.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const metadata = (problem: string) => ['invalid_client_metadata', `Invalid client metadata: ${problem}`]
const uri = (name: string) => ['invalid_client_metadata', `Invalid ${name}`]
const redirectUri = (part: string) => ['invalid_request', `Invalid Redirect Uri: invalid ${part}`]
const auto = (executor: string): TestExecutor => [executor, { 'auto-configure': true }]
const attributes = (members: object) => ({ attributes: members })

describe('an executor refuses a new client, and the update of one,', () => {
  const authenticators = { 'allowed-client-authenticators': ['client-jwt'] }
  const consent = ['invalid_registration', 'Client is required to enable consentRequired']
  const fullScope = ['invalid_registration', 'Not permitted to enable fullScopeAllowed']
  const logout = ['invalid_registration', 'Front-channel logout is not allowed for this client']
  const algorithm = ['invalid_request', 'not allowed signature algorithm.']
  const signatures = [
    'invalid_client_metadata',
    'Signatures not ensured for the client. Ensure Client signature required and Sign documents or Sign assertions are ON',
  ]
  const saml = (fields: object) => ({ protocol: 'saml', ...fields })
  const patterns = { 'allowed-patterns': ['https://a\\.example/.*'], 'client-uri-fields': ['redirectUris', 'jwksUri'] }
  test.each<[string, object, object, readonly string[]]>([
    ['confidential-client', {}, { publicClient: true }, ['invalid_client', 'invalid client access type: public']],
    ['consent-required', {}, {}, consent],
    ['full-scope-disabled', {}, { fullScopeAllowed: true }, fullScope],
    ['pkce-enforcer', {}, attributes({ 'pkce.code.challenge.method': 'plain' }), metadata('code_challenge_method')],
    ['reject-implicit-grant', {}, { implicitFlowEnabled: true }, metadata('implicit flow enabled')],
    [
      'reject-ropc-grant',
      {},
      { directAccessGrantsEnabled: true },
      metadata('resource owner password credentials grant enabled'),
    ],
    ['holder-of-key-enforcer', {}, {}, metadata('MTLS token in disabled')],
    ['dpop-bind-enforcer', {}, {}, metadata('DPoP token is disabled')],
    ['secure-response-type', {}, {}, metadata('ID Token as detached signature in disabled')],
    ['secure-client-authenticator', authenticators, {}, metadata('token_endpoint_auth_method')],
    ['secure-logout', {}, { frontchannelLogout: true }, logout],
    ['secure-logout', {}, attributes({ 'frontchannel.logout.url': 'https://a.example' }), logout],
    ['secure-signature-algorithm', {}, attributes({ 'access.token.signed.response.alg': 'RS256' }), algorithm],
    ['secure-client-uris', {}, { rootUrl: 'http://a.example' }, uri('rootUrl')],
    ['secure-client-uris', {}, { redirectUris: ['https://a.example/*'] }, uri('redirectUris')],
    ['secure-client-uris', {}, { webOrigins: ['*'] }, uri('webOrigins')],
    [
      'secure-client-uris',
      {},
      attributes({ 'request.uris': 'https://a.example##http://b.example' }),
      uri('requestUris'),
    ],
    ['secure-client-uris', {}, attributes({ 'backchannel.logout.url': 'http://a.example' }), uri('logoutUrl')],
    ['secure-client-uris-pattern', patterns, { redirectUris: ['https://b.example/'] }, uri('redirectUris')],
    ['secure-client-uris-pattern', patterns, attributes({ 'jwks.url': 'https://b.example/' }), uri('jwksUri')],
    ['secure-redirect-uris-enforcer', {}, { redirectUris: ['http://a.example/'] }, redirectUri('uri')],
    ['secure-redirect-uris-enforcer', {}, { redirectUris: ['app.example:/'] }, redirectUri('private use scheme')],
    ['secure-redirect-uris-enforcer', {}, { redirectUris: ['http://localhost/'] }, redirectUri('loopback address')],
    [
      'saml-avoid-redirect',
      {},
      saml(attributes({ 'saml.force.post.binding': 'false' })),
      ['invalid_client_metadata', 'Force POST binding is not enabled'],
    ],
    ['saml-signature-enforcer', {}, saml(attributes({ 'saml.client.signature': 'false' })), signatures],
    [
      'saml-secure-client-uris',
      {},
      saml({ rootUrl: 'http://a.example' }),
      ['invalid_client_metadata', 'Non secure scheme for Root URL'],
    ],
    ['reject-request', {}, {}, ['invalid_request', 'Request not allowed']],
  ])('%s %o %o', async (executor, configuration, client, [error, description]) => {
    const path = await createRealm()
    const live = await create(`${path}/clients`, { clientId: 'live' })
    await setPolicies(path, [[executor, configuration]])
    const body = { error, error_description: description }
    expect(await call('POST', `${path}/clients`, { body: { clientId: 'new', ...client } })).toMatchObject({
      status: 400,
      body,
    })
    const update = await call('PUT', live, { body: { clientId: 'live', ...client } })
    expect(update).toMatchObject({ status: 400, body })
    const { body: clients } = await call('GET', `${path}/clients?clientId=new`)
    expect(clients).toEqual([])
  })
})

test.each<[TestExecutor, object, object]>([
  [auto('consent-required'), { consentRequired: false }, { consentRequired: true, fullScopeAllowed: false }],
  [auto('full-scope-disabled'), { fullScopeAllowed: true }, { fullScopeAllowed: false }],
  [auto('reject-implicit-grant'), { implicitFlowEnabled: true }, { implicitFlowEnabled: false }],
  [auto('reject-ropc-grant'), { directAccessGrantsEnabled: true }, { directAccessGrantsEnabled: false }],
  [auto('pkce-enforcer'), {}, attributes({ 'pkce.code.challenge.method': 'S256' })],
  [auto('dpop-bind-enforcer'), {}, attributes({ 'dpop.bound.access.tokens': 'true' })],
  [auto('holder-of-key-enforcer'), {}, attributes({ 'tls.client.certificate.bound.access.tokens': 'true' })],
  [auto('secure-response-type'), {}, attributes({ 'id.token.as.detached.signature': 'true' })],
  [
    [
      'secure-client-authenticator',
      { 'allowed-client-authenticators': ['client-jwt'], 'default-client-authenticator': 'client-jwt' },
    ],
    {},
    { clientAuthenticatorType: 'client-jwt' },
  ],
  [
    ['secure-signature-algorithm', { 'default-algorithm': 'ES256' }],
    attributes({ 'id.token.signed.response.alg': 'PS512' }),
    attributes({ 'id.token.signed.response.alg': 'PS512', 'token.endpoint.auth.signing.alg': 'ES256' }),
  ],
])('the executor %o changes a new client %o', async (executor, client, expected) => {
  const path = await createRealm(policySettings([executor]))
  const id = await create(`${path}/clients`, { clientId: 'new', ...client })
  expect((await call('GET', id)).body).toMatchObject(expected)
  expect((await call('PUT', id, { body: { clientId: 'new', ...client } })).status).toBe(204)
  const { body } = await call('GET', id)
  expect(body).toMatchObject({ ...expected, ...('fullScopeAllowed' in client && { fullScopeAllowed: false }) })
})

describe('secure-redirect-uris-enforcer', () => {
  const allowAll = {
    'allow-http-scheme': true,
    'allow-ipv4-loopback-address': true,
    'allow-ipv6-loopback-address': true,
    'allow-private-use-uri-scheme': true,
    'allow-wildcard-context-path': true,
  }
  test.each<[object, string, readonly string[] | undefined]>([
    [allowAll, 'http://a.example/*', undefined],
    [allowAll, 'http://127.0.0.1:8080/', undefined],
    [allowAll, 'http://[::1]/', undefined],
    [allowAll, 'app:/x', undefined],
    [allowAll, '*', redirectUri('uri')],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'https://a.example/*', redirectUri('uri')],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'http://a.example/', redirectUri('uri')],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'http://127.0.0.1/', undefined],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'http://127.0.0.1:8080/', redirectUri('loopback address')],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'http://localhost/', redirectUri('loopback address')],
    [{ ...allowAll, 'oauth-2-1-compliant': true }, 'app:/x', redirectUri('private use scheme')],
    [{ 'allow-permitted-domains': ['.*[.]a[.]example'] }, 'https://x.a.example/', undefined],
    [{ 'allow-permitted-domains': ['.*[.]a[.]example'] }, 'https://b.example/', redirectUri('uri')],
    [{ 'allow-open-redirect': true }, '*', undefined],
  ])('with %o, %s is refused: %o', async (configuration, address, problem) => {
    const path = await createRealm(policySettings([['secure-redirect-uris-enforcer', configuration]]))
    const { status, body } = await call('POST', `${path}/clients`, {
      body: { clientId: 'new', redirectUris: [address] },
    })
    if (problem) expect([status, body.error, body.error_description]).toEqual([400, ...problem])
    else expect(status).toBe(201)
  })
})

describe('a condition', () => {
  const reject: readonly TestExecutor[] = [['reject-request']]
  test.each<[string, object, object, boolean]>([
    ['any-client', {}, {}, true],
    ['any-client', { 'is-negative-logic': true }, {}, false],
    ['client-access-type', { type: ['public'] }, { publicClient: true }, true],
    ['client-access-type', { type: ['public'] }, {}, false],
    ['client-attributes', { attributes: '[{"key":"team","value":"a"}]' }, attributes({ team: 'a' }), true],
    ['client-attributes', { attributes: '[{"key":"team","value":"a"}]' }, attributes({ team: 'b' }), false],
    ['client-roles', { roles: ['reader'] }, {}, false],
    ['client-roles', { roles: ['reader'], 'is-negative-logic': true }, {}, true],
    ['client-type', { protocol: 'saml' }, { protocol: 'saml' }, true],
    ['client-type', { protocol: 'saml' }, {}, false],
    ['client-scopes', { scopes: ['email'], type: 'Default' }, {}, false],
    ['grant-type', { grant_types: ['password'] }, {}, false],
    ['client-updater-context', { 'update-client-source': ['ByAuthenticatedUser'] }, {}, true],
    ['client-updater-context', { 'update-client-source': ['ByAnonymous'] }, {}, false],
    ['client-updater-source-host', { 'trusted-hosts': ['127.0.0.1'] }, {}, true],
    ['client-updater-source-host', { 'trusted-hosts': ['192.0.2.1'] }, {}, false],
  ])('%s %o is met by the new client %o: %s', async (condition, configuration, client, isMet) => {
    const path = await createRealm(policySettings(reject, [{ condition, configuration }]))
    const { status } = await call('POST', `${path}/clients`, { body: { clientId: 'new', ...client } })
    expect(status).toBe(isMet ? 400 : 201)
  })

  test('is about the roles and groups of the administrator', async () => {
    const { path, adminGroup, users, as } = await createAdminRealm({ ann: 'manage-clients' })
    const isMet = async (condition: string, configuration: object) => {
      await setPolicies(path, reject, [{ condition, configuration }])
      const { status } = await as('ann', 'POST', 'clients', { clientId: JSON.stringify(configuration) })
      return status === 400
    }
    const roles = 'client-updater-source-roles'
    expect(await isMet(roles, { roles: ['realm-management.manage-clients'] })).toBe(true)
    expect(await isMet(roles, { roles: ['other'] })).toBe(false)
    const groups = 'client-updater-source-groups'
    expect(await isMet(groups, { groups: ['realm-admins'] })).toBe(false)
    await call('PUT', `${path}/users/${users.ann}/groups/${adminGroup}`)
    expect(await isMet(groups, { groups: ['realm-admins'] })).toBe(true)
  })

  test('about roles of a client is met by updates of clients with such a role', async () => {
    const path = await createRealm()
    const id = await create(`${path}/clients`, { clientId: 'app' })
    const update = async () => (await call('PUT', id, { body: { clientId: 'app', name: 'App' } })).status
    await setPolicies(path, reject, [{ condition: 'client-roles', configuration: { roles: ['reader'] } }])
    expect(await update()).toBe(204)
    await create(`${id}/roles`, { name: 'reader' })
    expect(await update()).toBe(400)
  })
})

test('a policy with conditions that abstain applies to nothing, and one that is disabled neither', async () => {
  const path = await createRealm()
  await setPolicies(path, [['reject-request']], [])
  await create(`${path}/clients`, { clientId: 'a' })
  const { clientPolicies, ...settings } = policySettings([['reject-request']])
  const disabled = { policies: [{ name: 'rules', enabled: false, conditions: [anyClient], profiles: ['strict'] }] }
  expect((await call('PUT', path, { body: { ...settings, clientPolicies: disabled } })).status).toBe(204)
  await create(`${path}/clients`, { clientId: 'b' })
})

test('reject-request refuses that a client is read or deleted', async () => {
  const path = await createRealm()
  const id = await create(`${path}/clients`, { clientId: 'app' })
  await setPolicies(path, [['reject-request']])
  for (const method of ['GET', 'DELETE'])
    expect((await call(method, id)).body).toMatchObject({
      error_description: 'Request not allowed',
    })
})

test('registrations are bound by policies, those about their token included', async () => {
  const { path, register, send, trustThisMachine } = await createRegistrationRealm()
  await trustThisMachine()
  await setPolicies(path, [['secure-client-uris']])
  expect((await register({ clientId: 'a', redirectUris: ['http://a.example/'] })).body).toEqual({
    error: 'invalid_client_metadata',
    error_description: 'Invalid redirectUris',
  })
  const source = (...sources: string[]) => ({
    condition: 'client-updater-context',
    configuration: { 'update-client-source': sources },
  })
  await setPolicies(path, [['reject-request']], [source('ByInitialAccessToken')])
  expect((await register({ clientId: 'b' })).status).toBe(400)
  const anonymous = await send('POST', 'default', { body: { clientId: 'c' } })
  expect(anonymous.status).toBe(201)
  await setPolicies(path, [['reject-request']], [source('ByRegistrationAccessToken')])
  const token = anonymous.body.registrationAccessToken
  expect((await send('PUT', 'default/c', { token, body: { clientId: 'c' } })).status).toBe(400)
  await setPolicies(path, [['reject-request']], [source('ByAnonymous')])
  expect((await send('POST', 'default', { body: { clientId: 'd' } })).status).toBe(400)
})

test('a policy of the mode STRICT is not applied where a condition abstains, and an unknown mode returns 400', async () => {
  const path = await createRealm()
  const scopes = { condition: 'client-scopes', configuration: { type: 'Default', scopes: ['profile'] } }
  const { clientProfiles } = policySettings([['consent-required']])
  const setMode = (mode: string) => {
    const policy = { name: 'rules', enabled: true, mode, conditions: [anyClient, scopes], profiles: ['strict'] }
    return call('PUT', path, { body: { clientProfiles, clientPolicies: { policies: [policy] } } })
  }
  const createClient = async (clientId: string) =>
    (await call('POST', `${path}/clients`, { body: { clientId, consentRequired: false } })).status
  expect((await setMode('DEFAULT')).status).toBe(204)
  expect(await createClient('by-default')).toBe(400)
  expect((await setMode('STRICT')).status).toBe(204)
  expect(await createClient('strict')).toBe(201)
  expect((await call('GET', `${path}/client-policies/policies`)).body.policies[0].mode).toBe('STRICT')
  const refusal = await setMode('strict')
  expect(refusal).toMatchObject({ status: 400, body: { errorMessage: 'Policy rules has invalid mode' } })
})
