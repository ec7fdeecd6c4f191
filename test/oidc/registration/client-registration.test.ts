// Applications register, read, change and delete their clients. RFC 7591, RFC 7592.
import { decodeJwt } from 'jose'
import * as oidc from 'openid-client'
import { expect, test } from 'vitest'
import { setPolicies } from '../../support/policed-realm.ts'
import { createRegistrationRealm } from '../../support/registration-realm.ts'
import { testServer } from '../../support/server.ts'

const { app, call, listen } = await testServer()
const REDIRECT = 'https://app.example.org/callback'

test('a client registers, reads, changes and deletes itself, and each change replaces its token', async () => {
  const { register, send, find, path } = await createRegistrationRealm()
  const registered = await register({ clientId: 'app', redirectUris: [REDIRECT] })
  expect(registered.status).toBe(201)
  expect(registered.headers.location).toMatch(/\/clients-registrations\/default\/app$/)
  const { registrationAccessToken: token, secret } = registered.body
  expect(secret).toBe((await find('app')).secret)

  const read = await send('GET', 'default/app', { token })
  expect(read.body).toMatchObject({ clientId: 'app', secret, redirectUris: [REDIRECT] })
  // The token of the response is the same one, signed again.
  expect((await send('GET', 'default/app', { token })).status).toBe(200)

  const changed = await send('PUT', 'default/app', { token, body: { clientId: 'app', name: 'App' } })
  expect(changed.body).toMatchObject({ name: 'App', redirectUris: [REDIRECT], secret })
  const { registrationAccessToken: next } = changed.body
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(
      (await send(method, 'default/app', { token, ...(method === 'PUT' && { body: { clientId: 'app' } }) })).body,
    ).toMatchObject({ error: 'invalid_token' })

  expect((await send('DELETE', 'default/app', { token: next })).status).toBe(204)
  expect(await find('app')).toBeUndefined()
  expect((await send('GET', 'default/app', { token: next })).status).toBe(401)
  expect((await call('GET', `${path}/clients-initial-access`)).body).toMatchObject([{ remainingCount: 0 }])
})

test('a client keeps its token when it changes itself, if a client policy disables the rotation', async () => {
  const { path, register, send } = await createRegistrationRealm()
  const token = (await register({ clientId: 'app' })).body.registrationAccessToken
  await setPolicies(path, [['registration-access-token-rotation-disabled']])
  for (const name of ['A', 'B'])
    expect((await send('PUT', 'default/app', { token, body: { clientId: 'app', name } })).status).toBe(200)
})

test('OpenID Connect metadata is stored in the client, and returned from it', async () => {
  const { register, send, find } = await createRegistrationRealm()
  const metadata = {
    client_name: 'Shop',
    client_uri: 'https://app.example.org',
    redirect_uris: [REDIRECT],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_method: 'client_secret_post',
    scope: 'address phone',
    logo_uri: 'https://app.example.org/logo',
    id_token_signed_response_alg: 'ES256',
    post_logout_redirect_uris: ['https://app.example.org/bye'],
    subject_type: 'pairwise',
  }
  const { status, body, headers } = await register(metadata, 'openid-connect')
  expect(status).toBe(201)
  expect(body).toMatchObject({ ...metadata, grant_types: expect.arrayContaining(metadata.grant_types) })
  expect(body.registration_client_uri).toBe(headers.location)
  expect(body.client_id_issued_at).toBeGreaterThan(1.7e9)
  const { client_id: id, registration_access_token: token } = body
  const client = await find(id)
  expect(client).toMatchObject({
    name: 'Shop',
    serviceAccountsEnabled: true,
    optionalClientScopes: expect.arrayContaining(['address', 'phone']),
    defaultClientScopes: expect.arrayContaining(['basic']),
    protocolMappers: [{ protocolMapper: 'oidc-sha256-pairwise-sub-mapper' }],
  })
  const address = `openid-connect/${id}`
  const update = { client_id: id, redirect_uris: [REDIRECT], subject_type: 'public', client_name: 'Store' }
  const changed = await send('PUT', address, { token, body: update })
  expect(changed.body).toMatchObject({ client_name: 'Store', subject_type: 'public', logo_uri: metadata.logo_uri })
  const { registration_access_token: next } = changed.body
  expect((await send('GET', address, { token: next })).body).toMatchObject({ client_name: 'Store', client_id: id })
})

test.each([
  ['a client id', { client_id: 'mine' }, 'invalid_client_metadata'],
  ['an unknown authentication method', { token_endpoint_auth_method: 'magic' }, 'invalid_client_metadata'],
  ['an unknown response type', { response_types: ['code magic'] }, 'invalid_client_metadata'],
  ['an unknown subject type', { subject_type: 'magic' }, 'invalid_client_metadata'],
  ['keys twice', { jwks: { keys: [] }, jwks_uri: 'https://app.example.org/keys' }, 'invalid_client_metadata'],
  ['a sector', { sector_identifier_uri: 'https://app.example.org/sector' }, 'invalid_client_metadata'],
  ['a malformed redirect URI', { redirect_uris: ['no uri'] }, 'invalid_redirect_uri'],
  ['a redirect URI that runs a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
])('metadata with %s is refused, and the initial access token remains usable', async (_, metadata, error) => {
  const { createToken, send } = await createRegistrationRealm()
  const { token } = await createToken()
  const body = { redirect_uris: [REDIRECT], ...metadata }
  const refused = await send('POST', 'openid-connect', { token, body })
  expect([refused.status, refused.body.error]).toEqual([400, error])
  expect((await send('POST', 'openid-connect', { token, body: { redirect_uris: [REDIRECT] } })).status).toBe(201)
})

test('a client id that is in use is refused, and so is an update that changes it', async () => {
  const { register, send } = await createRegistrationRealm()
  const { registrationAccessToken: token } = (await register({ clientId: 'app' })).body
  const message = 'Client Identifier in use'
  expect((await register({ clientId: 'app' })).body).toMatchObject({ error_description: message })
  for (const body of [{ clientId: 'other' }, { name: 'App' }]) {
    const { status, body: error } = await send('PUT', 'default/app', { token, body })
    expect([status, error.error_description]).toEqual([400, 'Client Identifier modified'])
  }
})

test('a registration access token serves for its client only, while it is enabled, and in its realm', async () => {
  const { register, send, path } = await createRegistrationRealm()
  const { registrationAccessToken: token, id } = (await register({ clientId: 'app' })).body
  await register({ clientId: 'other' })
  expect((await send('GET', 'default/other', { token })).status).toBe(401)
  const other = await createRegistrationRealm()
  await other.register({ clientId: 'app' })
  expect((await other.send('GET', 'default/app', { token })).body.error_description).toBe('Failed decode token')
  await call('PUT', `${path}/clients/${id}`, { body: { clientId: 'app', enabled: false } })
  expect((await send('GET', 'default/app', { token })).status).toBe(401)
})

test('a token of an administrator replaces the one of the client', async () => {
  const { register, send, path } = await createRegistrationRealm()
  const { registrationAccessToken: token, id } = (await register({ clientId: 'app' })).body
  const { status, body } = await call('POST', `${path}/clients/${id}/registration-access-token`)
  expect([status, body.clientId]).toEqual([200, 'app'])
  expect((await send('GET', 'default/app', { token })).status).toBe(401)
  expect((await send('GET', 'default/app', { token: body.registrationAccessToken })).status).toBe(200)
})

test('an update replaces the client scopes if it declares any', async () => {
  const { register, send } = await createRegistrationRealm()
  const { registrationAccessToken: first } = (await register({ clientId: 'app' })).body
  const unchanged = await send('PUT', 'default/app', { token: first, body: { clientId: 'app' } })
  expect(unchanged.body.defaultClientScopes).toContain('profile')
  const { registrationAccessToken: token } = unchanged.body
  const body = { clientId: 'app', optionalClientScopes: ['address'] }
  expect((await send('PUT', 'default/app', { token, body })).body).toMatchObject({
    defaultClientScopes: [],
    optionalClientScopes: ['address'],
  })
})

test('the metadata of a SAML service provider registers a client with its services, keys and attributes', async () => {
  const { createToken, send, find } = await createRegistrationRealm()
  const { token } = await createToken({ count: 2 })
  const bindings = 'urn:oasis:names:tc:SAML:2.0:bindings:'
  const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://sp.example.org/sp">
    <SPSSODescriptor WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>
        <X509Certificate>QUJD</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
      <SingleLogoutService Binding="${bindings}HTTP-Redirect" Location="https://sp.example.org/slo"/>
      <NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</NameIDFormat>
      <AssertionConsumerService Binding="${bindings}HTTP-POST" Location="https://sp.example.org/acs" index="0"/>
      <AttributeConsumingService index="1"><ServiceName xml:lang="en">SP</ServiceName>
        <RequestedAttribute Name="mail" FriendlyName="email"
          NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"/></AttributeConsumingService>
    </SPSSODescriptor></EntityDescriptor>`
  const headers = { 'content-type': 'application/xml' }
  const registered = await send('POST', 'saml2-entity-descriptor', { token, body: metadata, headers })
  expect(registered.status).toBe(201)
  expect(await find('https://sp.example.org/sp')).toMatchObject({
    protocol: 'saml',
    redirectUris: ['https://sp.example.org/acs'],
    frontchannelLogout: true,
    attributes: {
      saml_assertion_consumer_url_post: 'https://sp.example.org/acs',
      saml_single_logout_service_url_redirect: 'https://sp.example.org/slo',
      saml_name_id_format: 'email',
      'saml.assertion.signature': 'true',
      'saml.signing.certificate': 'QUJD',
    },
    protocolMappers: [
      {
        name: 'mail',
        protocolMapper: 'saml-user-attribute-mapper',
        config: { 'attribute.name': 'mail', 'friendly.name': 'email', 'attribute.nameformat': 'URI Reference' },
      },
    ],
  })
  const address = `default/${encodeURIComponent('https://sp.example.org/sp')}`
  const { registrationAccessToken } = registered.body
  expect((await send('GET', address, { token: registrationAccessToken })).body.protocol).toBe('saml')
  for (const body of ['<EntityDescriptor', '<a/>'])
    expect((await send('POST', 'saml2-entity-descriptor', { token, body, headers })).status).toBe(400)
  expect((await send('GET', 'saml2-entity-descriptor/x', { token })).status).toBe(405)
})

test('a client reads the configuration of its adapter with its secret, and anyone that of a public client', async () => {
  const { register, send, name } = await createRegistrationRealm()
  const { secret, registrationAccessToken: token } = (await register({ clientId: 'app' })).body
  await register({ clientId: 'page', publicClient: true })
  const config = { realm: name, resource: 'app', 'ssl-required': 'external', credentials: { secret } }
  const asApp = (password: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`app:${password}`).toString('base64')}` },
  })
  expect((await send('GET', 'install/app', asApp(secret))).body).toMatchObject(config)
  expect((await send('GET', 'install/app', { token })).body).toMatchObject(config)
  expect((await send('GET', 'install/page')).body).toMatchObject({ resource: 'page', 'public-client': true })
  for (const [address, request] of [
    ['install/app', {}],
    ['install/app', asApp('wrong')],
    ['install/account-console-x', {}],
  ] as const)
    expect((await send('GET', address, request)).status, address).toBe(401)
  // The secret of one client does not open another one.
  expect((await send('GET', 'install/realm-management', asApp(secret))).status).toBe(401)
  expect((await send('POST', 'install', { token, body: {} })).status).toBe(405)
})

test('discovery names the endpoint, at which oversized bodies and other media types are refused', async () => {
  const { name, createToken, send } = await createRegistrationRealm()
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
  expect(body.registration_endpoint).toBe(`${body.issuer}/clients-registrations/openid-connect`)
  const { token } = await createToken()
  expect((await send('POST', 'default', { token, body: { description: 'x'.repeat(40_000) } })).status).toBe(413)
  const text = { token, body: '{}', headers: { 'content-type': 'text/plain' } }
  expect((await send('POST', 'default', text)).status).toBe(415)
  expect((await send('POST', 'nowhere', { token, body: {} })).status).toBe(404)
  expect((await app.inject({ url: `/realms/nowhere/clients-registrations/default/x` })).statusCode).toBe(404)
})

test('scripts of the origins of the token may register clients, and no others', async () => {
  const { createToken, send } = await createRegistrationRealm()
  const { token } = await createToken({ count: 3, webOrigins: ['https://page.example.org'] })
  const body = { redirect_uris: [REDIRECT] }
  const from = (origin: string, bearer = token) => ({ token: bearer, headers: { origin } })
  const allowed = await send('POST', 'openid-connect', { ...from('https://page.example.org'), body })
  expect(allowed.headers['access-control-allow-origin']).toBe('https://page.example.org')
  const refused = await send('POST', 'openid-connect', { ...from('https://other.example.org'), body })
  expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([403, undefined])
  const { client_id: id, registration_access_token: registrationToken } = allowed.body
  expect((await send('GET', `openid-connect/${id}`, from('https://page.example.org', registrationToken))).status).toBe(
    200,
  )
  expect((await send('GET', `openid-connect/${id}`, from('https://other.example.org', registrationToken))).status).toBe(
    403,
  )
})

test('openid-client registers a client with an initial access token, which then gets tokens', async () => {
  const { createToken, name, find } = await createRegistrationRealm()
  const { token: initialAccessToken } = await createToken()
  const config = await oidc.dynamicClientRegistration(
    new URL(`${await listen()}/realms/${name}`),
    { client_name: 'Worker', redirect_uris: [REDIRECT], grant_types: ['client_credentials'] },
    undefined,
    { initialAccessToken, execute: [oidc.allowInsecureRequests] },
  )
  const { access_token: token } = await oidc.clientCredentialsGrant(config)
  expect(decodeJwt(token).azp).toBe(config.clientMetadata().client_id)
  expect((await find(config.clientMetadata().client_id)).name).toBe('Worker')
})
