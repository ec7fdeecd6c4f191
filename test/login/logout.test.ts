// Logout with a browser.
import { expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call, create } = await testServer()

/** Logs Ann in with a browser, and returns the tokens of her client. */
async function createLoggedInBrowser(client: object = {}) {
  const realm = await createLoginRealm({ eventsEnabled: true }, { client })
  const browser = testBrowser(app)
  const { address, verifier } = realm.logInAddress()
  const { response } = await browser.send(await browser.open(address), { username: 'ann', password: 'pw' })
  const tokens = (await realm.redeem(response!.get('code')!, verifier)).body
  const logOut = (parameters: Record<string, string> = {}) =>
    browser.open(`/realms/${realm.name}/protocol/openid-connect/logout?${new URLSearchParams(parameters)}`)
  const isLoggedOut = async () =>
    (await browser.open(realm.logInAddress({ prompt: 'none' }).address)).response?.get('error') === 'login_required'
  return { ...realm, browser, tokens, logOut, isLoggedOut }
}

test('a client with an ID token logs its user out at once, and redirects to a registered URI only', async () => {
  const { path, logOut, tokens, isLoggedOut } = await createLoggedInBrowser()
  const back = { post_logout_redirect_uri: APPLICATION, state: 'bye' }
  const refused = await logOut({
    id_token_hint: tokens.id_token,
    ...back,
    post_logout_redirect_uri: 'http://evil.example/',
  })
  expect([refused.status, await isLoggedOut()]).toEqual([400, false])
  const done = await logOut({ id_token_hint: tokens.id_token, ...back })
  expect(done.headers.location).toBe(`${APPLICATION}?state=bye`)
  expect(await isLoggedOut()).toBe(true)
  const events = (await call('GET', `${path}/events?type=LOGOUT`)).body
  expect(events).toMatchObject([
    { type: 'LOGOUT', sessionId: tokens.session_state, details: { redirect_uri: done.headers.location } },
  ])
})

test('a client redirects to its post-logout redirect URIs, if it has any, instead of its redirect URIs', async () => {
  const uri = 'https://goodbye.example/'
  const client = { attributes: { 'post.logout.redirect.uris': uri } }
  const { logOut, tokens } = await createLoggedInBrowser(client)
  const logOutTo = (address: string) => logOut({ id_token_hint: tokens.id_token, post_logout_redirect_uri: address })
  expect((await logOutTo(APPLICATION)).status).toBe(400)
  expect((await logOutTo(uri)).headers.location).toBe(uri)
})

test('empty parameters of a logout count as absent', async () => {
  const { logOut, tokens, isLoggedOut } = await createLoggedInBrowser()
  const empty = { post_logout_redirect_uri: '', state: '', client_id: '' }
  expect((await logOut({ id_token_hint: '', ...empty })).text).toContain('Do you want to sign out?')
  const done = await logOut({ id_token_hint: tokens.id_token, ...empty })
  expect([done.status, done.text, await isLoggedOut()]).toEqual([200, expect.stringContaining('signed out'), true])
})

test('without an ID token the user must confirm the logout', async () => {
  const { browser, logOut, isLoggedOut } = await createLoggedInBrowser()
  const page = await logOut({ client_id: 'web', post_logout_redirect_uri: APPLICATION })
  expect(page.text).toContain('Do you want to sign out?')
  expect(await isLoggedOut()).toBe(false)
  expect((await browser.send(page, { confirmLogout: 'true' })).headers.location).toBe(APPLICATION)
  expect(await isLoggedOut()).toBe(true)
  expect((await logOut()).text).toContain('You are signed out.')
})

test.each([
  ['sid', (session: string) => session],
  ['azp', () => 'web'],
])(
  'an ID token of another session does not log the user out, whatever a mapper writes into %s',
  async (claim, value) => {
    const ann = await createLoggedInBrowser()
    const config = (text: string) => ({ 'claim.value': text, 'jsonType.label': 'String', 'id.token.claim': 'true' })
    await create(`${ann.path}/clients`, {
      clientId: 'other',
      publicClient: true,
      directAccessGrantsEnabled: true,
      protocolMappers: [
        ['sid', ann.tokens.session_state] as const,
        [claim, value(ann.tokens.session_state)] as const,
      ].map(([name, text], at) => ({
        ...{ name: `m${at}`, protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' },
        config: { ...config(text), 'claim.name': name },
      })),
    })
    const { body } = await call('POST', `/realms/${ann.name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=password&client_id=other&username=ann&password=pw&scope=openid',
    })
    const page = await ann.logOut({ id_token_hint: body.id_token })
    expect(page.text).toContain('Do you want to sign out?')
    const back = await ann.logOut({ id_token_hint: body.id_token, post_logout_redirect_uri: APPLICATION })
    expect([back.status, await ann.isLoggedOut()]).toEqual([400, false])
  },
)

test('a front-channel logout calls the client in a frame', async () => {
  const url = 'https://app.example/over'
  const { logOut, tokens } = await createLoggedInBrowser({
    frontchannelLogout: true,
    attributes: { 'frontchannel.logout.url': url },
  })
  const page = await logOut({ id_token_hint: tokens.id_token, post_logout_redirect_uri: APPLICATION })
  expect(page.text).toContain(`sid=${tokens.session_state}`)
  expect(page.headers['content-security-policy']).toContain("frame-src https://app.example 'self'")
  expect(page.text).toContain(`<a href="${APPLICATION}">`)
})

test('the address of the account, to which an impersonation leads, names the user and links to the logout', async () => {
  const { path, name, browser, logOut } = await createLoggedInBrowser()
  expect(new URL((await call('GET', `/realms/${name}`)).body['account-service']).pathname).toBe(
    `/realms/${name}/account`,
  )
  const signedIn = await browser.open(`/realms/${name}/account`)
  expect(signedIn.status).toBe(200)
  expect(signedIn.text).toContain('You are signed in as ann.')
  expect(signedIn.text).toContain(`/realms/${name}/protocol/openid-connect/logout`)
  await browser.send(await logOut(), { confirmLogout: 'true' })
  expect((await browser.open(`/realms/${name}/account`)).text).toContain('You are not signed in.')
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  const { redirect } = (await call('POST', `${path}/users/${ann.id}/impersonation`)).body
  expect(new URL(redirect).pathname).toBe(`/realms/${name}/account`)
})
