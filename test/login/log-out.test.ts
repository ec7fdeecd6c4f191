// Log-out with a browser.
import { expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call, make } = await testServer()

/** A browser in which Ann is logged in, and what her application got. */
async function loggedIn(client: object = {}) {
  const realm = await realmWithPeople({ eventsEnabled: true }, { client })
  const browser = testBrowser(app)
  const { address, verifier } = realm.logInAddress()
  const { answer } = await browser.send(await browser.open(address), { username: 'ann', password: 'pw' })
  const tokens = (await realm.redeem(answer!.get('code')!, verifier)).body
  const logOut = (parameters: Record<string, string> = {}) =>
    browser.open(`/realms/${realm.name}/protocol/openid-connect/logout?${new URLSearchParams(parameters)}`)
  const isOver = async () =>
    (await browser.open(realm.logInAddress({ prompt: 'none' }).address)).answer?.get('error') === 'login_required'
  return { ...realm, browser, tokens, logOut, isOver }
}

test('an application that shows its ID token logs its person out at once, and goes on where it may', async () => {
  const { path, logOut, tokens, isOver } = await loggedIn()
  const back = { post_logout_redirect_uri: APPLICATION, state: 'bye' }
  const wrong = await logOut({
    id_token_hint: tokens.id_token,
    ...back,
    post_logout_redirect_uri: 'http://evil.example/',
  })
  expect([wrong.status, await isOver()]).toEqual([400, false])
  const done = await logOut({ id_token_hint: tokens.id_token, ...back })
  expect(done.headers.location).toBe(`${APPLICATION}?state=bye`)
  expect(await isOver()).toBe(true)
  const events = (await call('GET', `${path}/events?type=LOGOUT`)).body
  expect(events).toMatchObject([
    { type: 'LOGOUT', sessionId: tokens.session_state, details: { redirect_uri: done.headers.location } },
  ])
})

test('without an ID token the person is asked', async () => {
  const { browser, logOut, isOver } = await loggedIn()
  const page = await logOut({ client_id: 'web', post_logout_redirect_uri: APPLICATION })
  expect(page.text).toContain('Do you want to sign out?')
  expect(await isOver()).toBe(false)
  expect((await browser.send(page, { confirmLogout: 'true' })).headers.location).toBe(APPLICATION)
  expect(await isOver()).toBe(true)
  expect((await logOut()).text).toContain('You are signed out.')
})

test.each([
  ['sid', (session: string) => session],
  ['azp', () => 'web'],
])(
  'an ID token of another session does not log its person out, whatever a mapper writes into %s',
  async (claim, value) => {
    const ann = await loggedIn()
    const config = (text: string) => ({ 'claim.value': text, 'jsonType.label': 'String', 'id.token.claim': 'true' })
    await make(`${ann.path}/clients`, {
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
    expect([back.status, await ann.isOver()]).toEqual([400, false])
  },
)

test('an application that wants to know of it in the browser is told in a frame', async () => {
  const url = 'https://app.example/over'
  const { logOut, tokens } = await loggedIn({
    frontchannelLogout: true,
    attributes: { 'frontchannel.logout.url': url },
  })
  const page = await logOut({ id_token_hint: tokens.id_token, post_logout_redirect_uri: APPLICATION })
  expect(page.text).toContain(`sid=${tokens.session_state}`)
  expect(page.headers['content-security-policy']).toContain("frame-src https://app.example 'self'")
  expect(page.text).toContain(`<a href="${APPLICATION}">`)
})
