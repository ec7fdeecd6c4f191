// Client registration policies: the hosts, scopes, mappers and settings of clients that register themselves.
import { expect, test } from 'vitest'
import { createServer } from '../../../src/http/server.ts'
import { createRegistrationRealm, type RegistrationRealm } from '../../support/registration-realm.ts'
import { testServer } from '../../support/server.ts'
import { testService } from '../../support/service.ts'

const { app, call, create } = await testServer()

/** Registers a client without a token, and returns the reason of a refusal; undefined if it is registered. */
async function registerAnonymously({ send }: RegistrationRealm, client: object): Promise<string | undefined> {
  const { status, body } = await send('POST', 'default', { body: client })
  if (status === 201) return undefined
  expect([status, body.error]).toEqual([403, 'insufficient_scope'])
  return /Details: (.*)$/.exec(body.error_description)?.[1]
}

test('without a token clients register from trusted hosts only, by address, name or domain', async () => {
  const realm = await createRegistrationRealm()
  const { setPolicy, send } = realm
  const untrusted = 'Host not trusted.'
  expect(await registerAnonymously(realm, {})).toBe(untrusted)
  for (const [hosts, reason] of [
    [['127.0.0.1'], undefined],
    [['localhost'], undefined],
    [['10.1.1.1', 'nowhere.invalid', '*.example.org'], untrusted],
  ] as const) {
    await setPolicy('anonymous', 'trusted-hosts', { 'trusted-hosts': hosts })
    expect(await registerAnonymously(realm, {}), hosts.join()).toBe(reason)
  }
  await setPolicy('anonymous', 'trusted-hosts', { 'trusted-hosts': ['127.0.0.1'] })
  const { registrationAccessToken: token } = (await send('POST', 'default', { body: { clientId: 'app' } })).body
  await setPolicy('anonymous', 'trusted-hosts', { 'trusted-hosts': ['10.1.1.1'] })
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(
      (await send(method, 'default/app', { token, ...(method === 'PUT' && { body: { clientId: 'app' } }) })).status,
    ).toBe(403)
  await setPolicy('anonymous', 'trusted-hosts', { 'host-sending-registration-request-must-match': ['false'] })
  expect(await registerAnonymously(realm, {})).toBeUndefined()
})

test('the address of the sender is that in the header of a trusted proxy, and of no other', async () => {
  const { name, setPolicy } = await createRegistrationRealm()
  await setPolicy('anonymous', 'trusted-hosts', { 'trusted-hosts': ['10.1.1.1'] })
  const register = async (server: typeof app) => {
    const response = await server.inject({
      method: 'POST',
      url: `/realms/${name}/clients-registrations/default`,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '10.1.1.1' },
      payload: '{}',
    })
    return response.statusCode
  }
  expect(await register(app)).toBe(403)
  const { service } = await testService()
  const behindProxy = await createServer(service, { proxies: { headers: 'xforwarded', trusted: ['127.0.0.1'] } })
  expect(await register(behindProxy)).toBe(201)
  await behindProxy.close()
})

test.each([
  [{ redirectUris: ['https://app.example.org/cb'] }, true],
  [{ redirectUris: ['https://APP.example.org/*', '/path'] }, true],
  [{ redirectUris: ['https://a.trusted.org/cb', 'https://trusted.org/cb'] }, true],
  [{ redirectUris: ['https://app.example.org.evil.org/cb'] }, false],
  [{ redirectUris: ['https://app.example.org@evil.org/cb'] }, false],
  [{ redirectUris: ['https://app.example.org*'] }, false],
  [{ redirectUris: ['https://untrusted.org/cb'] }, false],
  [{ redirectUris: ['//evil.org/cb'] }, false],
  [{ redirectUris: ['app:/cb'] }, false],
  [{ redirectUris: ['*'] }, false],
  [{ rootUrl: 'https://evil.org' }, false],
  [{ baseUrl: 'https://evil.org' }, false],
  [{ adminUrl: 'https://evil.org' }, false],
  [{ webOrigins: ['https://evil.org'] }, false],
  [{ webOrigins: ['+'] }, true],
  [{ attributes: { 'backchannel.logout.url': 'https://evil.org' } }, false],
  [{ attributes: { 'jwks.url': 'https://app.example.org/keys' } }, true],
  [{ attributes: { 'post.logout.redirect.uris': 'https://app.example.org/a##https://evil.org/b' } }, false],
])('without a token, a client with %j is registered: %s', async (client, isRegistered) => {
  const realm = await createRegistrationRealm()
  await realm.trustThisMachine('app.example.org', '*.trusted.org')
  const reason = await registerAnonymously(realm, client)
  expect(reason).toBe(isRegistered ? undefined : "URI doesn't match any trusted host or trusted domain")
})

test('clients that register without a token need consent, have no full scope, and cannot change that', async () => {
  const realm = await createRegistrationRealm()
  await realm.trustThisMachine()
  const declared = { clientId: 'app', consentRequired: false, fullScopeAllowed: true }
  const { body } = await realm.send('POST', 'default', { body: declared })
  expect(body).toMatchObject({ consentRequired: true, fullScopeAllowed: false, enabled: true })
  let { registrationAccessToken: token } = body
  for (const field of [{ consentRequired: false }, { fullScopeAllowed: true }])
    expect((await realm.send('PUT', 'default/app', { token, body: { clientId: 'app', ...field } })).status).toBe(403)
  token = (await realm.send('PUT', 'default/app', { token, body: { clientId: 'app', name: 'App' } })).body
    .registrationAccessToken
  expect(await realm.find('app')).toMatchObject({ name: 'App', consentRequired: true, fullScopeAllowed: false })
  // A token of an administrator permits what policies for requests with a token permit.
  const { id } = await realm.find('app')
  const issued = await call('POST', `${realm.path}/clients/${id}/registration-access-token`)
  token = issued.body.registrationAccessToken
  const changed = await realm.send('PUT', 'default/app', { token, body: { clientId: 'app', consentRequired: false } })
  expect(changed.body.consentRequired).toBe(false)
})

test('the policy client-disabled disables new clients, whose tokens do not enable them', async () => {
  const { setPolicy, register, send } = await createRegistrationRealm()
  await setPolicy('authenticated', 'client-disabled')
  const { enabled, registrationAccessToken: token } = (await register({ clientId: 'app', enabled: true })).body
  expect(enabled).toBe(false)
  expect((await send('PUT', 'default/app', { token, body: { clientId: 'app', enabled: true } })).status).toBe(401)
})

test('the policy max-clients limits the clients of the realm', async () => {
  const realm = await createRegistrationRealm()
  await realm.trustThisMachine()
  const { length } = (await call('GET', `${realm.path}/clients`)).body
  await realm.setPolicy('anonymous', 'max-clients', { 'max-clients': [String(length + 1)] })
  expect(await registerAnonymously(realm, { clientId: 'one' })).toBeUndefined()
  expect(await registerAnonymously(realm, { clientId: 'two' })).toBe(
    `It's allowed to have max ${length + 1} clients per realm`,
  )
  expect((await realm.register({ clientId: 'three' })).status).toBe(201)
})

test('clients have permitted client scopes only: the listed ones, and those of new clients unless that is off', async () => {
  const { path, setPolicy, register } = await createRegistrationRealm()
  await create(`${path}/client-scopes`, { name: 'payments', protocol: 'openid-connect' })
  const registerWith = async (...optionalClientScopes: string[]) =>
    (await register({ optionalClientScopes, defaultClientScopes: [] })).status
  expect(await registerWith('email')).toBe(201)
  expect(await registerWith('payments')).toBe(403)
  await setPolicy('authenticated', 'allowed-client-templates', { 'allowed-client-scopes': ['payments'] })
  expect(await registerWith('payments', 'email')).toBe(201)
  await setPolicy('authenticated', 'allowed-client-templates', {
    'allowed-client-scopes': ['payments'],
    'allow-default-scopes': ['false'],
  })
  expect(await registerWith('payments')).toBe(201)
  expect(await registerWith('email')).toBe(403)
})

test('clients have protocol mappers of permitted types, and keep others that an administrator added', async () => {
  const { path, register, send, find } = await createRegistrationRealm()
  const mapper = (name: string, protocolMapper: string) => ({
    name,
    protocol: 'openid-connect',
    protocolMapper,
    config: { 'claim.name': name },
  })
  const permitted = mapper('full name', 'oidc-full-name-mapper')
  const refused = mapper('claim', 'oidc-hardcoded-claim-mapper')
  expect((await register({ clientId: 'app', protocolMappers: [refused] })).status).toBe(403)
  const { registrationAccessToken, id } = (await register({ clientId: 'app', protocolMappers: [permitted] })).body
  await create(`${path}/clients/${id}/protocol-mappers/models`, refused)
  const { protocolMappers: present } = await find('app')
  const update = (protocolMappers: object[], token = registrationAccessToken) =>
    send('PUT', 'default/app', { token, body: { clientId: 'app', protocolMappers } })
  expect((await update([...present, mapper('second', 'oidc-hardcoded-claim-mapper')])).status).toBe(403)
  const changed = present.map((live: { config: object }) => ({ ...live, config: { ...live.config, x: 'y' } }))
  expect((await update(changed)).status).toBe(403)
  expect((await update(present)).status).toBe(200)
  expect((await find('app')).protocolMappers).toHaveLength(2)
})

test('scripts of the origins in the policy registration-web-origins may register clients', async () => {
  const { setPolicy, trustThisMachine, send } = await createRegistrationRealm()
  await trustThisMachine('app.example.org')
  await setPolicy('anonymous', 'registration-web-origins', { 'web-origins': ['https://page.example.org'] })
  const from = (origin: string) =>
    send('POST', 'openid-connect', { headers: { origin }, body: { redirect_uris: ['https://app.example.org/cb'] } })
  expect((await from('https://page.example.org')).status).toBe(201)
  expect((await from('https://other.example.org')).status).toBe(403)
})
