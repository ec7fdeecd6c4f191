// The settings of a realm that decide how long the links in its emails work.
import { afterAll, expect, test } from 'vitest'
import { loginAddress, testBrowser } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { openTimedServer } from '../support/timed-server.ts'

const mailbox = await openMailbox()
const { app, outbox, call, createRealm, later, close } = await openTimedServer()
afterAll(async () => {
  await close()
  await mailbox.close()
})

type Realm = Awaited<ReturnType<typeof createRealm>>

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' }

/** Sends Ann an email with a link, by the type of its action token: as an administrator, or at her request. */
const senders = {
  'execute-actions': ({ user }: Realm) => call('PUT', `${user}/execute-actions-email`, ['UPDATE_PASSWORD']),
  'verify-email of an administrator': ({ user }: Realm) => call('PUT', `${user}/send-verify-email`, {}),
  async 'verify-email'({ name }: Realm) {
    const browser = testBrowser(app)
    await browser.send(await browser.open(loginAddress(name).address), { username: 'ann', password: 'pw' })
  },
  async 'reset-credentials'({ name }: Realm) {
    const browser = testBrowser(app)
    const page = await browser.follow(await browser.open(loginAddress(name).address), '/reset-credentials')
    await browser.send(page, { username: 'ann' })
  },
}

const byUser = 'actionTokenGeneratedByUserLifespan'

test.each<[type: keyof typeof senders, setting: string, settings: object]>([
  ['execute-actions', 'actionTokenGeneratedByAdminLifespan', { actionTokenGeneratedByAdminLifespan: 100 }],
  [
    'verify-email of an administrator',
    'actionTokenGeneratedByAdminLifespan',
    { actionTokenGeneratedByAdminLifespan: 100 },
  ],
  ['verify-email', byUser, { [byUser]: 100 }],
  ['reset-credentials', byUser, { [byUser]: 100 }],
  ['verify-email', `${byUser}.verify-email`, { [byUser]: 500, attributes: { [`${byUser}.verify-email`]: '100' } }],
  [
    'reset-credentials',
    `${byUser}.reset-credentials`,
    { [byUser]: 500, attributes: { [`${byUser}.reset-credentials`]: '100' } },
  ],
])('a link for %s works for the seconds of %s', async (type, _, settings) => {
  const realm = await createRealm({ smtpServer, verifyEmail: true, resetPasswordAllowed: true, ...settings })
  await senders[type](realm)
  await outbox.whenIdle()
  const { text } = mailbox.emails.pop()!
  const [link] = /https?:\/\/\S+/.exec(text)!
  const open = async () => (await testBrowser(app).open(link)).status
  later(99)
  expect(await open()).toBe(200)
  later(2)
  expect(await open()).toBe(400)
})
