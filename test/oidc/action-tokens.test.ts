// Action token links in emails: their lifetime, their user, and their single use.
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { readActionToken } from '../../src/oidc/action-tokens.ts'
import { sendActionEmail } from '../../src/oidc/mail/action-emails.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { users } from '../../src/service/admin-api/users/users.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { consumeActionToken } from '../../src/service/messages/action-tokens.ts'
import { startOutbox } from '../../src/service/messages/outbox.ts'
import { testBrowser } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { newRealm, openNewService } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00Z').getTime()
const mailbox = await openMailbox()
let wasRead = false
const service = await openNewService({
  clock: () => new Date(now),
  onStatement({ sql }) {
    wasRead ||= /from single_use.*uses > 0/s.test(sql)
  },
})
const outbox = startOutbox(service, deliverers, (error) => console.error(error))
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const realm = await newRealm(service, {
  smtpServer: { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' },
})
afterAll(async () => {
  await service.close()
  await mailbox.close()
})

const base = 'https://sso.example.org'
const ann = await service.write(SYSTEM, realm, (context) =>
  users.create(context, {}, { username: 'ann', enabled: true, email: 'ann@example.org' }),
)
const change = (body: Record<string, string | boolean>) =>
  service.write(SYSTEM, realm, (context) => users.replace(context, { id: ann }, body))

/** Sends Ann an email with a link, and returns the key of the link. */
async function newKey(type: Parameters<typeof sendActionEmail>[1] = 'verify-email'): Promise<string> {
  const actions = type === 'execute-actions' ? { actions: ['UPDATE_PASSWORD'] } : {}
  const email = { user: ann, base, lifespan: 600, ...actions }
  await service.write(SYSTEM, realm, (context) => sendActionEmail(context, type, email))
  await outbox.whenIdle()
  const [address] = /https:\S+/.exec(mailbox.emails.at(-1)!.text)!
  expect(address).toContain(`${base}/realms/${realm}/login-actions/action-token?key=`)
  return new URL(address).searchParams.get('key')!
}

test('a link works once, even if it is used several times at once', async () => {
  const key = await newKey()
  const token = await readActionToken(service, realm, key)
  if (typeof token === 'string') throw new Error(token)
  expect(token).toMatchObject({ typ: 'verify-email', sub: ann, azp: 'account', eml: 'ann@example.org' })
  const use = () => service.writeRuntime(SYSTEM, realm, (context) => consumeActionToken(context, token))
  expect((await Promise.all([use(), use(), use()])).filter(Boolean)).toEqual([true])
  expect(await readActionToken(service, realm, key)).toBe('used')
})

test('a link works until it expires, and in its realm only', async () => {
  const key = await newKey()
  now += 599_000
  expect(await readActionToken(service, realm, key)).toMatchObject({ sub: ann })
  expect(await readActionToken(service, 'master', key)).toBe('invalid')
  now += 2_000
  expect(await readActionToken(service, realm, key)).toBe('expired')
  expect(await readActionToken(service, realm, 'nothing')).toBe('invalid')
})

test('a link is invalid if its user is disabled or gets another email address between its check and its use', async () => {
  let pendingChange: (() => Promise<unknown>) | undefined
  /** Applies the pending change between the transaction that reads a link and the one that uses it. */
  const applyChangeBefore = <Transact extends typeof service.write | typeof service.writeRuntime>(transact: Transact) =>
    (async (...call: Parameters<Transact>) => {
      const applyChange = wasRead ? pendingChange : undefined
      if (applyChange) pendingChange = undefined
      await applyChange?.()
      return (transact as (...call: unknown[]) => unknown)(...call)
    }) as Transact
  const app = await createServer({
    ...service,
    write: applyChangeBefore(service.write),
    writeRuntime: applyChangeBefore(service.writeRuntime),
  })
  const original = { email: 'ann@example.org', enabled: true, emailVerified: false }
  for (const type of ['verify-email', 'execute-actions'] as const) {
    for (const changed of [{ email: 'ceo@example.org' }, { enabled: false }]) {
      await change(original)
      const browser = testBrowser(app)
      const page = await browser.open(`/realms/${realm}/login-actions/action-token?key=${await newKey(type)}`)
      wasRead = false
      pendingChange = () => change({ ...original, ...changed })
      const response = await browser.send(page, {})
      expect(pendingChange).toBeUndefined()
      expect([type, changed, response.status, response.text]).toEqual([
        ...[type, changed, 400],
        expect.stringContaining('has expired or was already used'),
      ])
      const [stored] = await service.read(SYSTEM, realm, (context) => writers.user.list(context, { ids: [ann] }))
      expect(stored!.representation).toMatchObject({ ...original, ...changed })
    }
  }
  await change(original)
})

test('a link is invalid if its user is disabled or has another email address', async () => {
  const key = await newKey()
  await change({ enabled: false })
  expect(await readActionToken(service, realm, key)).toBe('invalid')
  await change({ enabled: true })
  expect(await readActionToken(service, realm, key)).toMatchObject({ sub: ann })
  await change({ email: 'other@example.org' })
  expect(await readActionToken(service, realm, key)).toBe('invalid')
})
