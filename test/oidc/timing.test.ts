// Response times do not reveal whether a user exists. A campaign: it takes minutes on an otherwise idle machine.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const PAIRS = Number(process.env.REGENT_PAIRS ?? 0)
/** The deviation of a fair coin, in standard deviations, that occurs once in sixteen thousand campaigns. */
const SIGMAS = 4

/** No server listens there: emails are sent after the response. */
const SMTP_SERVER = { host: '127.0.0.1', port: '9', from: 'regent@example.org' }

const { app, call, create, createRealm } = await testServer()
const protection = {
  bruteForceProtected: true,
  failureFactor: 5,
  waitIncrementSeconds: 86_400,
  maxFailureWaitSeconds: 86_400,
}

test.runIf(PAIRS).each([
  ['an existing user', {}, {}],
  ['a disabled user', {}, { enabled: false }],
  ['a locked user', protection, {}],
])(
  'the response to a login does not distinguish %s from an unknown user',
  { timeout: 3_600_000 },
  async (_, settings, state) => {
    const path = await createRealm(settings)
    const representation = { enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B', ...state }
    await create(`${path}/users`, { username: 'ann', ...representation, credentials: [{ value: 'right' }] })
    const guess = async (username: string) => {
      const started = process.hrtime.bigint()
      const { status, body } = await call('POST', `/realms/${path.split('/').at(-1)}/protocol/openid-connect/token`, {
        token: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `grant_type=password&client_id=admin-cli&username=${username}&password=wrong`,
      })
      return { took: Number(process.hrtime.bigint() - started), response: JSON.stringify([status, body]) }
    }
    await compare(PAIRS, guess)
  },
)

test.runIf(PAIRS)(
  'the response to a password reset does not distinguish an existing from an unknown user',
  { timeout: 3_600_000 },
  async () => {
    const { logInAddress } = await createLoginRealm({ resetPasswordAllowed: true, smtpServer: SMTP_SERVER })
    const ask = async (username: string) => {
      const browser = testBrowser(app)
      const form = await browser.follow(await browser.open(logInAddress().address), '/reset-credentials')
      const started = process.hrtime.bigint()
      const { status, text } = await browser.send(form, { username })
      const took = Number(process.hrtime.bigint() - started)
      return { took, response: JSON.stringify([status, text.replaceAll(/"[^"]*"/g, '')]) }
    }
    // Each response is delayed.
    await compare(PAIRS / 50, ask)
  },
)

/** Requests an existing and an unknown username in turns, and expects the same responses after the same times. */
async function compare(
  pairs: number,
  ask: (username: string) => Promise<{ took: number; response: string }>,
): Promise<void> {
  const answers = new Set<string>()
  let slower = 0
  for (let at = -Math.min(pairs, 200); at < pairs; at++) {
    // The second request profits from warm caches, so each username is second equally often.
    const names = at % 2 ? ['ann', 'ben'] : ['ben', 'ann']
    const [first, second] = [await ask(names[0]!), await ask(names[1]!)]
    for (const { response } of [first, second]) answers.add(response)
    const [ann, ben] = at % 2 ? [first, second] : [second, first]
    // The first requests only warm up the server.
    if (at >= 0 && ann.took > ben.took) slower++
  }
  expect([...answers]).toHaveLength(1)
  const deviation = (slower - pairs / 2) / Math.sqrt(pairs / 4)
  expect(Math.abs(deviation), `${slower} of ${pairs} times the existing user took longer`).toBeLessThan(SIGMAS)
}
