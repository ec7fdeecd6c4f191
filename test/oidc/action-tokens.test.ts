// Links in mails: how long they are good, for whom, and how often.
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { readActionToken } from '../../src/oidc/action-tokens.ts'
import { sendLink } from '../../src/oidc/mail/action-mails.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { users } from '../../src/service/admin-api/users/users.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { useActionToken } from '../../src/service/messages/action-tokens.ts'
import { startOutbox } from '../../src/service/messages/outbox.ts'
import { testBrowser } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { freshService, newRealm } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00Z').getTime()
const mailbox = await openMailbox()
let wasRead = false
const service = await freshService({
  clock: () => new Date(now),
  onStatement({ sql }) {
    wasRead ||= /from single_use.*uses > 0/s.test(sql)
  },
})
const outbox = startOutbox(service, deliverers, (error) => console.error(error))
await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
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

/** The key of a new link for Ann, as her mail has it. */
async function newKey(type: Parameters<typeof sendLink>[2] = 'verify-email'): Promise<string> {
  const errand = { user: ann, base, lifespan: 600 }
  const actions = type === 'execute-actions' ? ['UPDATE_PASSWORD'] : undefined
  await service.write(SYSTEM, realm, (context) => sendLink(context, errand, type, actions))
  await outbox.settled()
  const [address] = /https:\S+/.exec(mailbox.mails.at(-1)!.text)!
  expect(address).toContain(`${base}/realms/${realm}/login-actions/action-token?key=`)
  return new URL(address).searchParams.get('key')!
}

test('a link works once, however many use it at once', async () => {
  const key = await newKey()
  const token = await readActionToken(service, realm, key)
  if (typeof token === 'string') throw new Error(token)
  expect(token).toMatchObject({ typ: 'verify-email', sub: ann, azp: 'account', eml: 'ann@example.org' })
  const use = () => service.runtime(SYSTEM, realm, (context) => useActionToken(context, token))
  expect((await Promise.all([use(), use(), use()])).filter(Boolean)).toEqual([true])
  expect(await readActionToken(service, realm, key)).toBe('used')
})

test('a link works until its time is over, in its realm only', async () => {
  const key = await newKey()
  now += 599_000
  expect(await readActionToken(service, realm, key)).toMatchObject({ sub: ann })
  expect(await readActionToken(service, 'master', key)).toBe('invalid')
  now += 2_000
  expect(await readActionToken(service, realm, key)).toBe('expired')
  expect(await readActionToken(service, realm, 'nothing')).toBe('invalid')
})

test('a link is void for a user whose address changes, or who is disabled, after it was read and before it counts', async () => {
  let meanwhile: (() => Promise<unknown>) | undefined
  /** Makes the change between the transaction that reads a link and the one that uses it. */
  const changedBefore = <Transact extends typeof service.write | typeof service.runtime>(transact: Transact) =>
    (async (...call: Parameters<Transact>) => {
      const work = wasRead ? meanwhile : undefined
      if (work) meanwhile = undefined
      await work?.()
      return (transact as (...call: unknown[]) => unknown)(...call)
    }) as Transact
  const app = await createServer({
    ...service,
    write: changedBefore(service.write),
    runtime: changedBefore(service.runtime),
  })
  const original = { email: 'ann@example.org', enabled: true, emailVerified: false }
  for (const type of ['verify-email', 'execute-actions'] as const) {
    for (const changed of [{ email: 'ceo@example.org' }, { enabled: false }]) {
      await change(original)
      const browser = testBrowser(app)
      const page = await browser.open(`/realms/${realm}/login-actions/action-token?key=${await newKey(type)}`)
      wasRead = false
      meanwhile = () => change({ ...original, ...changed })
      const answer = await browser.send(page, {})
      expect(meanwhile).toBeUndefined()
      expect([type, changed, answer.status, answer.text]).toEqual([
        ...[type, changed, 400],
        expect.stringContaining('no longer valid'),
      ])
      const [kept] = await service.read(SYSTEM, realm, (context) => writers.user.list(context, { ids: [ann] }))
      expect(kept!.representation).toMatchObject({ ...original, ...changed })
    }
  }
  await change(original)
})

test('a link is void for who has another mail address now, or may not log in', async () => {
  const key = await newKey()
  await change({ enabled: false })
  expect(await readActionToken(service, realm, key)).toBe('invalid')
  await change({ enabled: true })
  expect(await readActionToken(service, realm, key)).toMatchObject({ sub: ann })
  await change({ email: 'other@example.org' })
  expect(await readActionToken(service, realm, key)).toBe('invalid')
})
