// Applications with OpenID Connect libraries in a real browser: login with code and PKCE, refresh, logout.
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oidc from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, inChromium, startChromium } from '../support/chromium.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const library = new URL('../../node_modules/keycloak-js/lib/keycloak.js', import.meta.url)

/** The page of an application that uses keycloak-js; the test calls it by `keycloak`. */
const applicationPage = (server: string, realm: string) => `<!doctype html><title>Application</title>
<script type="module">
import Keycloak from '/keycloak.js'
window.keycloak = new Keycloak({ url: '${server}', realm: '${realm}', clientId: 'web' })
const checked = { onLoad: 'check-sso', silentCheckSsoRedirectUri: location.origin + '/silent', checkLoginIframeInterval: 1 }
window.ready = window.keycloak.init({ ...checked, pkceMethod: 'S256' })
</script>`

const silentPage = '<script>parent.postMessage(location.href, location.origin)</script>'

describe.skipIf(!chromiumPath)(inChromium, () => {
  let browser: Browser
  let application: Server
  let origin: string
  let page = ''

  beforeAll(async () => {
    browser = await startChromium()
    const script = await readFile(library)
    application = createServer(({ url }, response) => {
      const [type, body] =
        url === '/keycloak.js'
          ? ['text/javascript', script]
          : ['text/html', url?.startsWith('/silent') ? silentPage : page]
      response.setHeader('content-type', type).end(body)
    }).listen(0, '127.0.0.1')
    origin = `http://127.0.0.1:${await getPort(application)}`
  })
  afterAll(async () => {
    await browser.close()
    application.close()
  })

  const createApplicationRealm = async () => {
    const { listen } = await testServer()
    const client = { redirectUris: [`${origin}/*`], webOrigins: ['+'] }
    return { server: await listen(), ...(await createLoginRealm({}, { client })) }
  }
  const logIn = async (tab: Page) => {
    await tab.getByLabel('Username').fill('ann')
    await tab.getByLabel('Password').fill('pw')
    await tab.getByRole('button', { name: 'Sign in' }).click()
  }

  test('keycloak-js logs in, refreshes, finds an existing session, and logs out', async () => {
    const { server, name } = await createApplicationRealm()
    page = applicationPage(server, name)
    const context = await browser.newContext()
    const tab = await context.newPage()
    await tab.goto(origin)
    expect(await tab.evaluate('window.ready')).toBe(false)
    await tab.evaluate('void window.keycloak.login()')
    await logIn(tab)
    await tab.waitForURL(`${origin}/**`)
    expect(await tab.evaluate('window.ready')).toBe(true)
    expect(await tab.evaluate('window.keycloak.idTokenParsed.preferred_username')).toBe('ann')
    const before = await tab.evaluate('window.keycloak.token')
    expect(await tab.evaluate('window.keycloak.updateToken(-1)')).toBe(true)
    expect(await tab.evaluate('window.keycloak.token')).not.toBe(before)
    expect(await tab.evaluate('window.keycloak.loadUserInfo().then(({ email }) => email)')).toBe('ann@example.org')

    const otherTab = await context.newPage()
    await otherTab.goto(origin)
    expect(await otherTab.evaluate('window.ready')).toBe(true)
    const loggedOut = tab.evaluate(
      'new Promise((resolve) => { window.keycloak.onAuthLogout = () => resolve("noticed") })',
    )
    await otherTab.evaluate(`void window.keycloak.logout({ redirectUri: '${origin}/bye' })`)
    await otherTab.waitForURL(`${origin}/bye`)
    expect(await otherTab.evaluate('window.ready')).toBe(false)
    expect(await loggedOut).toBe('noticed')
    await context.close()
  })

  test('openid-client logs in without scripts in the browser, refreshes, reads the user info, and logs out', async () => {
    const { server, name } = await createApplicationRealm()
    const config = await oidc.discovery(new URL(`${server}/realms/${name}`), 'web', undefined, oidc.None(), {
      execute: [oidc.allowInsecureRequests],
    })
    const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()]
    const authorizationUrl = oidc.buildAuthorizationUrl(config, {
      redirect_uri: `${origin}/back`,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const context = await browser.newContext({ javaScriptEnabled: false })
    const tab = await context.newPage()
    await tab.goto(authorizationUrl.href)
    await logIn(tab)
    await tab.waitForURL(`${origin}/back**`)
    const tokens = await oidc.authorizationCodeGrant(config, new URL(tab.url()), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
    })
    const { sub } = tokens.claims()!
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token!)
    expect(await oidc.fetchUserInfo(config, refreshed.access_token, sub)).toMatchObject({ preferred_username: 'ann' })
    const logoutUrl = oidc.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: `${origin}/bye`,
    })
    await tab.goto(logoutUrl.href)
    expect(tab.url()).toBe(`${origin}/bye`)
    await expect(oidc.refreshTokenGrant(config, refreshed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
    await context.close()
  })
})

async function getPort(server: Server): Promise<number> {
  if (!server.listening) await new Promise<void>((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}
