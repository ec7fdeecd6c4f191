// Guessing passwords: how many guesses are evaluated, and when somebody may try again.
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { newDatabase, newName } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00.250Z')
const service = await openService({ location: await newDatabase(), key: new Uint8Array(32), clock: () => now })
await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const app = await createServer(service, { caller: SYSTEM })
afterAll(async () => {
  await app.close()
  await service.close()
})

const WRONG = { error: 'invalid_grant', error_description: 'Invalid user credentials' }
/** Nothing that comes quickly, unless a test says so. */
const protectedBy = (settings: object) => ({
  enabled: true,
  bruteForceProtected: true,
  quickLoginCheckMilliSeconds: 0,
  minimumQuickLoginWaitSeconds: 60,
  waitIncrementSeconds: 100,
  maxFailureWaitSeconds: 900,
  failureFactor: 3,
  ...settings,
})

/** A realm with a person, and what can be done there. */
async function realmOfAnn(settings: object, others: object[] = []) {
  const realm = newName()
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const answer = await app.inject({ method, url: `/admin/realms${url}`, ...(payload && { payload }) })
    return answer.body === '' ? String(answer.headers.location ?? '') : answer.json()
  }
  await call('POST', '', { realm, ...protectedBy(settings) })
  const person = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B' }
  const made = await call('POST', `/${realm}/users`, { ...person, credentials: [{ value: 'right' }, ...others] })
  const user = `/${realm}/users/${made.split('/').at(-1)}`
  const failures = user.replace('/users/', '/attack-detection/brute-force/users/')
  return {
    change: (changed: object) => call('PUT', `/${realm}`, changed),
    user: () => call('GET', user),
    /** Type, and error or number of failures. */
    events: async () => {
      const found: { type: string; error?: string; details?: Record<string, string> }[] = await call(
        'GET',
        `/${realm}/events`,
      )
      return found.map(({ type, error, details }) => `${type} ${error ?? details?.num_failures}`).sort()
    },
    enable: () => call('PUT', user, { enabled: true }),
    failures: () => call('GET', failures),
    forget: () => call('DELETE', failures),
    async logIn(password: string, username = 'ann', otp = '') {
      const answer = await app.inject({
        method: 'POST',
        url: `/realms/${realm}/protocol/openid-connect/token`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          grant_type: 'password',
          client_id: 'admin-cli',
          username,
          password,
          otp,
        }).toString(),
      })
      return answer.json()
    },
    /** Guesses wrongly until one is refused without being counted; how many were counted. */
    async guess(): Promise<number> {
      const before = (await this.failures()).numFailures
      for (let at = before; ; at++) {
        expect(await this.logIn('wrong')).toEqual(WRONG)
        if ((await this.failures()).numFailures === at) return at - before
      }
    },
  }
}

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}
const seconds = () => Math.floor(now.getTime() / 1000)

test('of many guesses at once as many are evaluated as may fail, and the right password waits like any other', async () => {
  const ann = await realmOfAnn({ failureFactor: 5 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => ann.logIn('wrong')))
  expect(new Set(answers.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(WRONG)]))
  expect(await ann.failures()).toMatchObject({ numFailures: 5, disabled: true, failedLoginNotBefore: seconds() + 100 })
  expect(await ann.logIn('right')).toEqual(WRONG)
  later(99)
  expect(await ann.logIn('right')).toEqual(WRONG)
  later(1)
  expect(await ann.logIn('right')).toHaveProperty('access_token')
  expect(await ann.failures()).toMatchObject({ numFailures: 0, lastFailure: 0, lastIPFailure: 'n/a' })
})

test('people who log in at the same time do not lock each other or themselves out', async () => {
  const ann = await realmOfAnn({ failureFactor: 3 })
  const answers = await Promise.all(['right', 'wrong', 'right'].map((password) => ann.logIn(password)))
  expect(answers.filter((one) => one.access_token)).toHaveLength(2)
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})

test('each further failure waits: by whole rounds, or longer each time, and never longer than the most', async () => {
  const rounds = await realmOfAnn({ failureFactor: 2 })
  const line = await realmOfAnn({ failureFactor: 2, bruteForceStrategy: 'LINEAR', maxFailureWaitSeconds: 250 })
  const waits = async (ann: typeof line) => {
    const { failedLoginNotBefore } = await ann.failures()
    const wait = failedLoginNotBefore - seconds()
    later(wait)
    return wait
  }
  expect([await rounds.guess(), await waits(rounds)]).toEqual([2, 100])
  expect([await rounds.guess(), await waits(rounds)]).toEqual([1, 100])
  expect([await rounds.guess(), await waits(rounds)]).toEqual([1, 200])
  expect([await line.guess(), await waits(line)]).toEqual([2, 100])
  expect([await line.guess(), await waits(line)]).toEqual([1, 200])
  expect([await line.guess(), await waits(line)]).toEqual([1, 250])
  expect(await line.failures()).toMatchObject({ numFailures: 4, numTemporaryLockouts: 3 })
})

test('failures are forgotten when the last is long ago', async () => {
  const ann = await realmOfAnn({ maxDeltaTimeSeconds: 1000 })
  await ann.logIn('wrong')
  await ann.logIn('wrong')
  later(1001)
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ numFailures: 1, disabled: false })
})

test('a failure right after another one waits for a while that is no lockout', async () => {
  const ann = await realmOfAnn({ failureFactor: 30, quickLoginCheckMilliSeconds: 1000 })
  await ann.logIn('wrong')
  later(2)
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ numFailures: 2, disabled: false })
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({
    disabled: true,
    numTemporaryLockouts: 0,
    failedLoginNotBefore: seconds() + 60,
  })
})

test('who is locked out for good is disabled with the reason, until somebody enables them', async () => {
  const ann = await realmOfAnn({ permanentLockout: true, maxTemporaryLockouts: 1 })
  expect(await ann.guess()).toBe(3)
  expect(await ann.user()).toMatchObject({ enabled: true })
  later(100)
  expect(await ann.guess()).toBe(1)
  expect(await ann.user()).toMatchObject({ enabled: false, attributes: { disabledReason: ['permanentLockout'] } })
  expect(await ann.failures()).toMatchObject({ disabled: true, failedLoginNotBefore: 2 ** 63 })
  await ann.forget()
  expect(await ann.logIn('right')).toEqual(WRONG)
  await ann.enable()
  expect(await ann.user()).not.toHaveProperty('attributes')
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})

test('one-time codes are guessed as seldom as passwords, however often the password is right', async () => {
  const secret = 'ABCDEFGHIJKLMNOPQRST'
  const data = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }
  const app = { type: 'otp', secretData: JSON.stringify({ value: secret }), credentialData: JSON.stringify(data) }
  const code = () => new TOTP({ secret: Secret.fromUTF8(secret) }).generate({ timestamp: now.getTime() })
  const ann = await realmOfAnn({ failureFactor: 3, maxSecondaryAuthFailures: 4 }, [app])
  const wrong = () => ann.logIn('right', 'ann', '000000')
  for (let at = 0; at < 5; at++) expect(await wrong()).toEqual(WRONG)
  expect(await ann.failures()).toMatchObject({ numFailures: 3, numSecondaryAuthFailures: 3, disabled: true })
  expect(await ann.logIn('right', 'ann', code())).toEqual(WRONG)
  later(100)
  expect(await ann.logIn('right', 'ann', code())).toHaveProperty('access_token')
  expect(await ann.failures()).toMatchObject({ numFailures: 0, numSecondaryAuthFailures: 0 })
  for (let wait = 0; wait < 1000; wait += 200) {
    await wrong()
    later(200)
  }
  expect(await ann.failures()).toMatchObject({ numSecondaryAuthFailures: 5 })
  expect(await ann.user()).toMatchObject({ enabled: false, attributes: { disabledReason: ['permanentLockout'] } })
})

test('events tell of each guess why it failed, and of each lock', async () => {
  const ann = await realmOfAnn({
    eventsEnabled: true,
    failureFactor: 2,
    maxTemporaryLockouts: 1,
    permanentLockout: true,
  })
  for (const password of ['wrong', 'wrong', 'right']) await ann.logIn(password)
  later(100)
  for (const password of ['wrong', 'right']) await ann.logIn(password)
  await ann.logIn('wrong', 'nobody')
  expect(await ann.events()).toEqual(
    [
      'LOGIN_ERROR invalid_user_credentials',
      'LOGIN_ERROR invalid_user_credentials',
      'LOGIN_ERROR user_disabled',
      'LOGIN_ERROR user_not_found',
      'LOGIN_ERROR user_temporarily_disabled',
      'LOGIN_ERROR invalid_user_credentials',
      'USER_DISABLED_BY_PERMANENT_LOCKOUT 3',
      'USER_DISABLED_BY_TEMPORARY_LOCKOUT 2',
    ].sort(),
  )
})

test('who is enabled while they wait does not wait any longer', async () => {
  const ann = await realmOfAnn({ failureFactor: 1 })
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ disabled: true })
  await ann.enable()
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})

test('names that nobody has are answered the same, and are nobody who could be asked about', async () => {
  const ann = await realmOfAnn({ failureFactor: 1 })
  const answers = await Promise.all(Array.from({ length: 5 }, () => ann.logIn('right', 'nobody')))
  expect(answers).toEqual(Array.from({ length: 5 }, () => WRONG))
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})
