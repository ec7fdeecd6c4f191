// The language, texts and headers of login pages.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()
const languages = { internationalizationEnabled: true, supportedLocales: ['en', 'de', 'fr'], defaultLocale: 'de' }

const languageOf = (text: string) => /<html lang="([^"]*)"/.exec(text)?.[1]

test('a page is in the selected language, else in one that the browser accepts, else in that of the realm', async () => {
  const { path, logInAddress } = await createLoginRealm(languages)
  const { address } = logInAddress()
  const open = async (wishes: string) =>
    (await app.inject({ url: address, headers: { 'accept-language': wishes } })).body
  expect(languageOf(await open('en-GB,en;q=0.9'))).toBe('en')
  expect(languageOf(await open('ja'))).toBe('de')
  expect(languageOf(await open('de;q=0.1,fr-CA;q=0.8'))).toBe('fr')
  const browser = testBrowser(app)
  const page = await browser.open(address)
  expect([languageOf(page.text), page.text.includes('Anmelden')]).toEqual(['de', true])
  const english = await browser.follow(page, 'kc_locale=en')
  expect(languageOf(english.text)).toBe('en')
  const again = await browser.send(english, { username: 'ann', password: 'wrong' })
  expect(again.text).toContain('Invalid username or password.')
  expect(languageOf((await browser.open(address)).text)).toBe('en')
  await call('PUT', path, { body: { internationalizationEnabled: false } })
  expect(languageOf(await open('de'))).toBe('en')
})

test("the realm's texts replace the built-in ones, and are escaped", async () => {
  const { path, logInAddress } = await createLoginRealm({ ...languages, displayName: 'Acme & Co <b>' })
  const text = { headers: { 'content-type': 'text/plain' } }
  await call('PUT', `${path}/localization/fr/loginAccountTitle`, { ...text, body: "Connexion à l''espace <i>" })
  const page = await app.inject({ url: logInAddress({ ui_locales: 'fr' }).address })
  expect(page.body).toContain('<h1>Connexion à l&#39;espace &#60;i&#62;</h1>')
  expect(page.body).toContain('<header>Acme &#38; Co &#60;b&#62;</header>')
  expect(page.headers['content-language']).toBe('fr')
})

test("pages have the realm's security headers, and are not cached", async () => {
  const { path, logInAddress } = await createLoginRealm()
  const browserSecurityHeaders = {
    contentSecurityPolicy: "default-src 'self'",
    contentSecurityPolicyReportOnly: "img-src 'self'",
    referrerPolicy: 'same-origin',
    strictTransportSecurity: 'max-age=100',
    xContentTypeOptions: 'other',
    xFrameOptions: 'DENY',
    xRobotsTag: 'noindex',
  }
  await call('PUT', path, { body: { browserSecurityHeaders } })
  const { headers } = await app.inject({ url: logInAddress().address })
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'self'",
    'content-security-policy-report-only': "img-src 'self'",
    'referrer-policy': 'same-origin',
    'strict-transport-security': 'max-age=100',
    'x-content-type-options': 'other',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex',
  })
  expect(headers['cache-control']).toContain('no-store')
})

test('remember me keeps the login after the browser is closed', async () => {
  const { logInAddress } = await createLoginRealm({ rememberMe: true, ssoSessionIdleTimeoutRememberMe: 1000 })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  expect(page.text).toContain('name="rememberMe"')
  const { headers } = await browser.send(page, { username: 'ann', password: 'pw', rememberMe: 'on' })
  const identity = [headers['set-cookie']].flat().find((cookie) => String(cookie).startsWith('KEYCLOAK_IDENTITY='))
  expect(identity).toContain('Max-Age=1000;')
})

test('the login page of a disabled realm returns 403', async () => {
  const { path, logInAddress } = await createLoginRealm()
  await call('PUT', path, { body: { enabled: false } })
  const page = await testBrowser(app).open(logInAddress().address)
  expect([page.status, page.text]).toEqual([403, expect.stringContaining('The realm is disabled')])
})
