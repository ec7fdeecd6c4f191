// Brute force protection: how many guesses are evaluated, and how long a lockout lasts.
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { newDatabase, newName } from '../support/service.ts'

let now = new Date('2030-01-01T12:00:00.250Z')
const service = await openService({ location: await newDatabase(), key: new Uint8Array(32), clock: () => now })
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const app = await createServer(service, { caller: SYSTEM })
afterAll(async () => {
  await app.close()
  await service.close()
})

const WRONG = { error: 'invalid_grant', error_description: 'Invalid user credentials' }
/** Returns realm settings with brute force protection, and without the wait after quick logins. */
const toProtectedRealm = (settings: object) => ({
  enabled: true,
  bruteForceProtected: true,
  quickLoginCheckMilliSeconds: 0,
  minimumQuickLoginWaitSeconds: 60,
  waitIncrementSeconds: 100,
  maxFailureWaitSeconds: 900,
  failureFactor: 3,
  ...settings,
})

/** Creates a realm with the user Ann, whose password is `right`. */
async function createRealmWithAnn(settings: object, credentials: object[] = []) {
  const realm = newName()
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url: `/admin/realms${url}`, ...(payload && { payload }) })
    return response.body === '' ? String(response.headers.location ?? '') : response.json()
  }
  await call('POST', '', { realm, ...toProtectedRealm(settings) })
  const representation = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B' }
  const location = await call('POST', `/${realm}/users`, {
    ...representation,
    credentials: [{ value: 'right' }, ...credentials],
  })
  const user = `/${realm}/users/${location.split('/').at(-1)}`
  const failures = user.replace('/users/', '/attack-detection/brute-force/users/')
  return {
    change: (changed: object) => call('PUT', `/${realm}`, changed),
    user: () => call('GET', user),
    /** Returns the type of each event with its error or number of failures. */
    events: async () => {
      const recorded: { type: string; error?: string; details?: Record<string, string> }[] = await call(
        'GET',
        `/${realm}/events`,
      )
      return recorded.map(({ type, error, details }) => `${type} ${error ?? details?.num_failures}`).sort()
    },
    enable: () => call('PUT', user, { enabled: true }),
    failures: () => call('GET', failures),
    forget: () => call('DELETE', failures),
    async logIn(password: string, username = 'ann', otp = '') {
      const response = await app.inject({
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
      return response.json()
    },
    /** Logs in with a wrong password until an attempt is not counted, and returns the number of counted attempts. */
    async guess(): Promise<number> {
      const before = (await this.failures()).numFailures
      for (let counted = 0; counted < 10; counted++) {
        expect(await this.logIn('wrong')).toEqual(WRONG)
        if ((await this.failures()).numFailures === before + counted) return counted
      }
      throw new Error('10 attempts were counted')
    },
  }
}

const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}
const seconds = () => Math.floor(now.getTime() / 1000)

test('of many concurrent guesses only as many as may fail are evaluated, and the right password is locked out too', async () => {
  const ann = await createRealmWithAnn({ failureFactor: 5 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => ann.logIn('wrong')))
  expect(new Set(answers.map((body) => JSON.stringify(body)))).toEqual(new Set([JSON.stringify(WRONG)]))
  expect(await ann.failures()).toMatchObject({ numFailures: 5, disabled: true, failedLoginNotBefore: seconds() + 100 })
  expect(await ann.logIn('right')).toEqual(WRONG)
  later(99)
  expect(await ann.logIn('right')).toEqual(WRONG)
  later(1)
  expect(await ann.logIn('right')).toHaveProperty('access_token')
  expect(await ann.failures()).toMatchObject({ numFailures: 0, lastFailure: 0, lastIPFailure: 'n/a' })
})

test('concurrent logins with the right password do not cause a lockout', async () => {
  const ann = await createRealmWithAnn({ failureFactor: 3 })
  const answers = await Promise.all(['right', 'wrong', 'right'].map((password) => ann.logIn(password)))
  expect(answers.filter(({ access_token }) => access_token)).toHaveLength(2)
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})

test('lockouts grow by multiples of the failure factor or linearly, up to the maximum', async () => {
  const rounds = await createRealmWithAnn({ failureFactor: 2 })
  const linear = await createRealmWithAnn({
    failureFactor: 2,
    bruteForceStrategy: 'LINEAR',
    maxFailureWaitSeconds: 250,
  })
  const waits = async (ann: typeof linear) => {
    const { failedLoginNotBefore } = await ann.failures()
    const wait = failedLoginNotBefore - seconds()
    later(wait)
    return wait
  }
  expect([await rounds.guess(), await waits(rounds)]).toEqual([2, 100])
  expect([await rounds.guess(), await waits(rounds)]).toEqual([1, 100])
  expect([await rounds.guess(), await waits(rounds)]).toEqual([1, 200])
  expect([await linear.guess(), await waits(linear)]).toEqual([2, 100])
  expect([await linear.guess(), await waits(linear)]).toEqual([1, 200])
  expect([await linear.guess(), await waits(linear)]).toEqual([1, 250])
  expect(await linear.failures()).toMatchObject({ numFailures: 4, numTemporaryLockouts: 3 })
})

test('failures are reset after the failure reset time', async () => {
  const ann = await createRealmWithAnn({ maxDeltaTimeSeconds: 1000 })
  await ann.logIn('wrong')
  await ann.logIn('wrong')
  later(1001)
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ numFailures: 1, disabled: false })
})

test('a failure shortly after another one causes a quick login wait, which is not a temporary lockout', async () => {
  const ann = await createRealmWithAnn({
    failureFactor: 30,
    quickLoginCheckMilliSeconds: 3000,
    minimumQuickLoginWaitSeconds: 70,
  })
  await ann.logIn('wrong')
  later(4)
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ numFailures: 2, disabled: false })
  later(2)
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({
    disabled: true,
    numTemporaryLockouts: 0,
    failedLoginNotBefore: seconds() + 70,
  })
})

test('a permanent lockout disables the user with a reason until an administrator enables them', async () => {
  const ann = await createRealmWithAnn({ permanentLockout: true, maxTemporaryLockouts: 1 })
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

test('failed one-time codes cause a lockout even if the password is right', async () => {
  const secret = 'ABCDEFGHIJKLMNOPQRST'
  const data = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }
  const app = { type: 'otp', secretData: JSON.stringify({ value: secret }), credentialData: JSON.stringify(data) }
  const code = () => new TOTP({ secret: Secret.fromUTF8(secret) }).generate({ timestamp: now.getTime() })
  const ann = await createRealmWithAnn({ failureFactor: 3, maxSecondaryAuthFailures: 4 }, [app])
  const logInWithWrongCode = () => ann.logIn('right', 'ann', '000000')
  for (let at = 0; at < 5; at++) expect(await logInWithWrongCode()).toEqual(WRONG)
  expect(await ann.failures()).toMatchObject({ numFailures: 3, numSecondaryAuthFailures: 3, disabled: true })
  expect(await ann.logIn('right', 'ann', code())).toEqual(WRONG)
  later(100)
  expect(await ann.logIn('right', 'ann', code())).toHaveProperty('access_token')
  expect(await ann.failures()).toMatchObject({ numFailures: 0, numSecondaryAuthFailures: 0 })
  for (let wait = 0; wait < 1000; wait += 200) {
    await logInWithWrongCode()
    later(200)
  }
  expect(await ann.failures()).toMatchObject({ numSecondaryAuthFailures: 5 })
  expect(await ann.user()).toMatchObject({ enabled: false, attributes: { disabledReason: ['permanentLockout'] } })
})

test('events contain the reason of each failure, and each lockout', async () => {
  const ann = await createRealmWithAnn({
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

test('enabling a user ends their temporary lockout', async () => {
  const ann = await createRealmWithAnn({ failureFactor: 1 })
  await ann.logIn('wrong')
  expect(await ann.failures()).toMatchObject({ disabled: true })
  await ann.enable()
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})

test('logins with an unknown username return the same error and do not lock other users', async () => {
  const ann = await createRealmWithAnn({ failureFactor: 1 })
  const answers = await Promise.all(Array.from({ length: 5 }, () => ann.logIn('right', 'nobody')))
  expect(answers).toEqual(Array.from({ length: 5 }, () => WRONG))
  expect(await ann.logIn('right')).toHaveProperty('access_token')
})
