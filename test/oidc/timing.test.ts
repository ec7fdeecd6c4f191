// Whether the time of an answer tells who exists. A campaign: it takes minutes, and a machine that does nothing else.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const PAIRS = Number(process.env.REGENT_PAIRS ?? 0)
/** How far a fair coin strays once in sixteen thousand campaigns. */
const SIGMAS = 4

/** Nobody answers there: mails leave afterwards, or not. */
const SMTP_SERVER = { host: '127.0.0.1', port: '9', from: 'regent@example.org' }

const { app, call, make, realm } = await testServer()
const protection = {
  bruteForceProtected: true,
  failureFactor: 5,
  waitIncrementSeconds: 86_400,
  maxFailureWaitSeconds: 86_400,
}

test.runIf(PAIRS).each([
  ['who is there', {}, {}],
  ['who is disabled', {}, { enabled: false }],
  ['who is locked', protection, {}],
])('neither body nor time tells %s from who is not', { timeout: 3_600_000 }, async (_, settings, state) => {
  const path = await realm(settings)
  const person = { enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B', ...state }
  await make(`${path}/users`, { username: 'ann', ...person, credentials: [{ value: 'right' }] })
  const guess = async (username: string) => {
    const started = process.hrtime.bigint()
    const { status, body } = await call('POST', `/realms/${path.split('/').at(-1)}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=password&client_id=admin-cli&username=${username}&password=wrong`,
    })
    return { took: Number(process.hrtime.bigint() - started), answer: JSON.stringify([status, body]) }
  }
  await compare(PAIRS, guess)
})

test.runIf(PAIRS)(
  'neither the page nor time tells whose password may be forgotten',
  { timeout: 3_600_000 },
  async () => {
    const { logInAddress } = await realmWithPeople({ resetPasswordAllowed: true, smtpServer: SMTP_SERVER })
    const ask = async (username: string) => {
      const browser = testBrowser(app)
      const form = await browser.follow(await browser.open(logInAddress().address), '/reset-credentials')
      const started = process.hrtime.bigint()
      const { status, text } = await browser.send(form, { username })
      const took = Number(process.hrtime.bigint() - started)
      return { took, answer: JSON.stringify([status, text.replaceAll(/"[^"]*"/g, '')]) }
    }
    // Each answer waits a while.
    await compare(PAIRS / 50, ask)
  },
)

/** Asks about somebody who is there and somebody who is not, in turns: answers are the same, and none comes sooner. */
async function compare(
  pairs: number,
  ask: (username: string) => Promise<{ took: number; answer: string }>,
): Promise<void> {
  const answers = new Set<string>()
  let slower = 0
  for (let at = -Math.min(pairs, 200); at < pairs; at++) {
    // Who comes second finds everything warm: each is second as often.
    const names = at % 2 ? ['ann', 'ben'] : ['ben', 'ann']
    const [first, second] = [await ask(names[0]!), await ask(names[1]!)]
    for (const { answer } of [first, second]) answers.add(answer)
    const [ann, ben] = at % 2 ? [first, second] : [second, first]
    // The first are for warming up.
    if (at >= 0 && ann.took > ben.took) slower++
  }
  expect([...answers]).toHaveLength(1)
  const strays = (slower - pairs / 2) / Math.sqrt(pairs / 4)
  expect(Math.abs(strays), `${slower} of ${pairs} times whoever exists took longer`).toBeLessThan(SIGMAS)
}
