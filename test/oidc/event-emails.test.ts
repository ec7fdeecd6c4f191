// The event listener `email`, which notifies users of events of their account.
import { afterAll, expect, test } from 'vitest'
import type { UserEvent } from '../../src/service/context/context.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { recordUserEvent } from '../../src/service/messages/user-events.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(mailbox.close)

const path = await createRealm({
  smtpServer: { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' },
  eventsListeners: ['email'],
})
const createUser = async (username: string, emailVerified: boolean) => {
  const email = `${username}@events.example.org`
  return (await create(`${path}/users`, { username, enabled: true, email, emailVerified })).split('/').at(-1)!
}

/** Records events, and waits until the outbox is empty. */
async function recordAndDeliver(...events: UserEvent[]): Promise<void> {
  await service.writeRuntime(SYSTEM, path.split('/').at(-1)!, async (context) => {
    for (const event of events) recordUserEvent(context, event)
  })
  await service.outboxWorker!.whenIdle()
}

test('users with a verified email address are notified if the realm enables the listener', async () => {
  const [ann, bob] = [await createUser('ann', true), await createUser('bob', false)]
  const failure = { type: 'LOGIN', error: 'invalid_user_credentials', address: '203.0.113.7' } as const
  await recordAndDeliver({ type: 'LOGIN', user: ann }, { ...failure, user: ann }, { ...failure, user: bob }, failure)
  expect(mailbox.emails.map(({ to, subject }) => [...to, subject])).toEqual([['ann@events.example.org', 'Login error']])
  expect(mailbox.emails[0]!.text).toMatch(
    /^A failed login to your account was detected on .* UTC from 203\.0\.113\.7\./,
  )
  await recordAndDeliver({ type: 'UPDATE_CREDENTIAL', user: ann, details: { credential_type: '<otp>' } })
  expect(mailbox.emails[1]!.text).toContain('A credential of your account (<otp>) was changed on')
  expect(mailbox.emails[1]!.html).toContain('(&#60;otp&#62;) was changed on')
  await call('PUT', path, { body: { eventsListeners: [] } })
  await recordAndDeliver({ ...failure, user: ann })
  expect(mailbox.emails).toHaveLength(2)
})
