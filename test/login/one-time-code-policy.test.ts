// The one-time code policy of a realm: which codes authenticator apps must show.
import { HOTP, Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { loginAddress, testBrowser } from '../support/browser.ts'
import { openTimedServer } from '../support/timed-server.ts'

const { app, createRealm, now, close } = await openTimedServer()
afterAll(close)

/** Logs Ann in up to the page that sets up an authenticator app. */
async function openSetup(settings: object) {
  const realm = await createRealm(settings, { ann: { requiredActions: ['CONFIGURE_TOTP'] } })
  const browser = testBrowser(app)
  let page = await browser.open(loginAddress(realm.name).address)
  page = await browser.send(page, { username: 'ann', password: 'pw' })
  const [, secret = ''] = /<p class="code">([A-Z2-7 ]+)<\/p>/.exec(page.text) ?? []
  return {
    ...realm,
    secret: Secret.fromBase32(secret.replaceAll(' ', '')),
    /** Submits the first code of the app, and returns whether it is accepted. */
    async accepts(totp: string): Promise<boolean> {
      page = await browser.send(page, { totp, userLabel: '' })
      return page.response?.has('code') === true
    },
  }
}

/** Returns the code of an app some steps from now. */
const generateTotp = (options: ConstructorParameters<typeof TOTP>[0], steps = 0) =>
  new TOTP(options).generate({ timestamp: now().getTime() + steps * 30_000 })

test.each([
  ['otpPolicyAlgorithm', { otpPolicyAlgorithm: 'HmacSHA256' }, { algorithm: 'SHA256' }],
  ['otpPolicyDigits', { otpPolicyDigits: 8 }, { digits: 8 }],
  ['otpPolicyPeriod', { otpPolicyPeriod: 60 }, { period: 60 }],
])('%s decides which codes of a new app are accepted', async (_, settings, options) => {
  const { accepts, secret } = await openSetup(settings)
  expect(await accepts(generateTotp({ secret }))).toBe(false)
  expect(await accepts(generateTotp({ secret, ...options }))).toBe(true)
})

test('with otpPolicyType "hotp", a new app counts its codes from otpPolicyInitialCounter', async () => {
  const { accepts, secret } = await openSetup({ otpPolicyType: 'hotp', otpPolicyInitialCounter: 7 })
  expect(await accepts(generateTotp({ secret }))).toBe(false)
  expect(await accepts(new HOTP({ secret }).generate({ counter: 0 }))).toBe(false)
  expect(await accepts(new HOTP({ secret }).generate({ counter: 7 }))).toBe(true)
})

test('a code may deviate by at most otpPolicyLookAheadWindow steps', async () => {
  const { accepts, secret } = await openSetup({ otpPolicyLookAheadWindow: 4 })
  expect(await accepts(generateTotp({ secret }, 5))).toBe(false)
  expect(await accepts(generateTotp({ secret }, 4))).toBe(true)
})

test.each([
  [true, 'accepted'],
  [false, 'refused'],
])('with otpPolicyCodeReusable %s, a code that was used before is %s', async (reusable) => {
  const { accepts, secret, logIn } = await openSetup({ otpPolicyCodeReusable: reusable })
  const code = generateTotp({ secret })
  expect(await accepts(code)).toBe(true)
  expect((await logIn({ totp: code })).access_token !== undefined).toBe(reusable)
})
