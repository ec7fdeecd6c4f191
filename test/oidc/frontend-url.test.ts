// The attribute `frontendUrl` of a realm is the base URL of everything that users and applications see of the realm.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

const FRONTEND = 'https://login.example.org/sso'

const requestTokens = async (name: string) =>
  call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=password&client_id=web&username=ann&password=pw&scope=openid',
  })

const createRealmWith = (frontendUrl: string) =>
  createLoginRealm({ attributes: { frontendUrl } }, { client: { directAccessGrantsEnabled: true } })

test('the issuer, the metadata and the tokens of a realm have its frontend URL', async () => {
  const { name } = await createRealmWith(`${FRONTEND}/`)
  const issuer = `${FRONTEND}/realms/${name}`
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
  expect(body).toMatchObject({ issuer, token_endpoint: `${issuer}/protocol/openid-connect/token` })
  const tokens = (await requestTokens(name)).body
  expect([decodeJwt(tokens.access_token).iss, decodeJwt(tokens.id_token).iss]).toEqual([issuer, issuer])
  const { status } = await call('GET', `/realms/${name}/protocol/openid-connect/userinfo`, {
    token: tokens.access_token,
  })
  expect(status).toBe(200)
})

test('the login pages of a realm lead to its frontend URL, and the authorization response names it', async () => {
  const { name, logInAddress } = await createRealmWith(FRONTEND)
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  expect(page.text).toContain(`${FRONTEND}/realms/${name}/login-actions/`)
})

test('a realm without frontend URL, or with one that is no web address, has the address of the server', async () => {
  for (const frontendUrl of ['', 'login.example.org', `\${AUTH_URL}`]) {
    const { name } = await createRealmWith(frontendUrl)
    const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
    expect(body.issuer).toMatch(new RegExp(`^http://[^/]+/realms/${name}$`))
  }
})

test('a change of the frontend URL takes effect at once', async () => {
  const { name, path } = await createRealmWith(FRONTEND)
  expect((await call('PUT', path, { body: { attributes: { frontendUrl: 'https://new.example' } } })).status).toBe(204)
  expect(decodeJwt((await requestTokens(name)).body.access_token).iss).toBe(`https://new.example/realms/${name}`)
})
