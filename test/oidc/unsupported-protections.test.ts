// What a client or a client policy requires for its protection, and Regent does not enforce, makes the protected operation fail.
import { describe, expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call, createRealm } = await testServer()

interface Protection {
  readonly client?: object
  readonly settings?: object
}

/** Requests tokens, a login and UserInfo for a client, with and without a protection. Returns the errors. */
async function requestAll({ client = {}, settings = {} }: Protection) {
  const { name, path, logInAddress } = await createLoginRealm()
  const [web] = (await call('GET', `${path}/clients?clientId=web`)).body
  const protectedClient = { directAccessGrantsEnabled: true, ...client }
  const requestTokens = () =>
    call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=password&client_id=web&username=ann&password=pw&scope=openid',
    })
  const openLogin = () => testBrowser(app).open(logInAddress().address)
  expect((await call('PUT', `${path}/clients/${web.id}`, { body: { directAccessGrantsEnabled: true } })).status).toBe(
    204,
  )
  const before = await requestTokens()
  expect([before.status, (await openLogin()).status]).toEqual([200, 200])
  const update = await call('PUT', `${path}/clients/${web.id}`, { body: protectedClient })
  expect(update.status).toBe(204)
  expect((await call('PUT', path, { body: settings })).status).toBe(204)
  const tokens = await requestTokens()
  const login = await openLogin()
  const userInfo = await call('GET', `/realms/${name}/protocol/openid-connect/userinfo`, {
    token: before.body.access_token,
  })
  return {
    tokens: tokens.status === 200 ? undefined : [tokens.status, tokens.body.error, tokens.body.error_description],
    login: login.response?.get('error') ?? undefined,
    userInfo: userInfo.status,
  }
}

const policySettings = (executor: string, condition: object, enabled = true) => ({
  clientProfiles: { profiles: [{ name: 'strict', executors: [{ executor, configuration: {} }] }] },
  clientPolicies: { policies: [{ name: 'all', enabled, conditions: [condition], profiles: ['strict'] }] },
})
const anyClient = { condition: 'any-client', configuration: {} }
const ofType = (type: string) => ({ condition: 'client-access-type', configuration: { type: [type] } })

describe('a client policy', () => {
  test.each([
    ['of any client', anyClient],
    ['of public clients', ofType('public')],
    ['with a condition that is not evaluated', { condition: 'acme-hours', configuration: {} }],
  ])('%s refuses tokens and logins if its executor is not enforced', async (_name, condition) => {
    const { tokens, login } = await requestAll({ settings: policySettings('intent-client-bind-checker', condition) })
    const reason = 'A client policy requires intent-client-bind-checker, which this server does not support'
    expect([tokens, login]).toEqual([[400, 'unauthorized_client', reason], 'unauthorized_client'])
  })

  test('with a custom executor of a realm file refuses tokens', async () => {
    const realm = {
      ...policySettings('acme-audit', anyClient),
      clients: [{ clientId: 'cli', secret: 's', serviceAccountsEnabled: true }],
    }
    const name = (await createRealm(realm)).split('/').at(-1)
    const { status, body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials&client_id=cli&client_secret=s',
    })
    expect([status, body.error]).toEqual([400, 'unauthorized_client'])
  })

  test.each([
    ['of other clients', policySettings('intent-client-bind-checker', ofType('confidential'))],
    ['that is disabled', policySettings('intent-client-bind-checker', anyClient, false)],
    ['with an executor that is enforced', policySettings('secret-rotation', anyClient)],
    ['with an executor for SAML', policySettings('saml-signature-enforcer', anyClient)],
  ])('%s refuses nothing', async (_name, settings) => {
    const { tokens, login } = await requestAll({ settings })
    expect([tokens, login]).toEqual([undefined, undefined])
  })
})

test('lightweight access tokens get UserInfo only if the client allows it', async () => {
  const light = { 'client.use.lightweight.access.token.enabled': 'true' }
  const allowed = { ...light, 'allow.userinfo.with.lightweight.access.token': 'true' }
  expect((await requestAll({ client: { attributes: light } })).userInfo).toBe(401)
  expect((await requestAll({ client: { attributes: allowed } })).userInfo).toBe(200)
})
