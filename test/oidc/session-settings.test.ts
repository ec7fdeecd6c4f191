// The settings of realms and clients that end sessions.
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { openTimedServer, type TokenResponse } from '../support/timed-server.ts'

const { service, call, createRealm, later, now, close } = await openTimedServer()
afterAll(close)

/** The settings of a realm and the attributes of its client, with the type of login that they limit. */
interface Limits {
  readonly realm?: object
  readonly client?: Record<string, string>
  readonly login?: 'offline' | 'remembered'
}

/** Logs Ann in, and returns a function that refreshes her tokens and returns whether the session is active. */
async function startSession({ realm = {}, client = {}, login }: Limits) {
  const created = await createRealm({ rememberMe: true, ...realm }, { client: { attributes: client } })
  let tokens: TokenResponse =
    login === 'remembered'
      ? await created.logInOnPage({ rememberMe: 'on' })
      : await created.logIn(login === 'offline' ? { scope: 'offline_access' } : {})
  return {
    ...created,
    isActive: async () => {
      tokens = await created.refresh(tokens)
      return tokens.access_token !== undefined
    },
  }
}

const offlineMax = { offlineSessionMaxLifespanEnabled: true }

const idleTimeouts: readonly [name: string, limits: Limits][] = [
  ['ssoSessionIdleTimeout', { realm: { ssoSessionIdleTimeout: 300 } }],
  ['ssoSessionIdleTimeoutRememberMe', { realm: { ssoSessionIdleTimeoutRememberMe: 300 }, login: 'remembered' }],
  ['offlineSessionIdleTimeout', { realm: { offlineSessionIdleTimeout: 300 }, login: 'offline' }],
  ['clientSessionIdleTimeout', { realm: { clientSessionIdleTimeout: 300 } }],
  ['clientOfflineSessionIdleTimeout', { realm: { clientOfflineSessionIdleTimeout: 300 }, login: 'offline' }],
  ['client.session.idle.timeout', { client: { 'client.session.idle.timeout': '300' } }],
  [
    'client.offline.session.idle.timeout',
    { client: { 'client.offline.session.idle.timeout': '300' }, login: 'offline' },
  ],
]

test.each(idleTimeouts)('%s ends a session that is not used for that time', async (_, limits) => {
  const { isActive } = await startSession(limits)
  later(299)
  expect(await isActive()).toBe(true)
  later(299)
  expect(await isActive()).toBe(true)
  later(301)
  expect(await isActive()).toBe(false)
})

const maxLifespans: readonly [name: string, limits: Limits][] = [
  ['ssoSessionMaxLifespan', { realm: { ssoSessionMaxLifespan: 300 } }],
  ['ssoSessionMaxLifespanRememberMe', { realm: { ssoSessionMaxLifespanRememberMe: 300 }, login: 'remembered' }],
  ['offlineSessionMaxLifespan', { realm: { ...offlineMax, offlineSessionMaxLifespan: 300 }, login: 'offline' }],
  ['clientSessionMaxLifespan', { realm: { clientSessionMaxLifespan: 300 } }],
  [
    'clientOfflineSessionMaxLifespan',
    { realm: { ...offlineMax, clientOfflineSessionMaxLifespan: 300 }, login: 'offline' },
  ],
  ['client.session.max.lifespan', { client: { 'client.session.max.lifespan': '300' } }],
  [
    'client.offline.session.max.lifespan',
    { realm: offlineMax, client: { 'client.offline.session.max.lifespan': '300' }, login: 'offline' },
  ],
]

test.each(maxLifespans)('%s ends a session that is used all the time', async (_, limits) => {
  const { isActive } = await startSession(limits)
  for (const seconds of [150, 149]) {
    later(seconds)
    expect(await isActive()).toBe(true)
  }
  later(2)
  expect(await isActive()).toBe(false)
})

test('no lifespan ends an offline session unless offlineSessionMaxLifespanEnabled is set', async () => {
  const limits = { offlineSessionMaxLifespan: 300, clientOfflineSessionMaxLifespan: 300 }
  const { logIn, isActive } = await startSession({ realm: limits, login: 'offline' })
  expect(decodeJwt((await logIn({ scope: 'offline_access' })).refresh_token)).not.toHaveProperty('exp')
  later(400)
  expect(await isActive()).toBe(true)
})

test.each([
  ['client.session.idle.timeout', 'clientSessionIdleTimeout'],
  ['client.session.max.lifespan', 'clientSessionMaxLifespan'],
])('%s of a client takes precedence over %s of its realm', async (attribute, setting) => {
  const { isActive } = await startSession({ realm: { [setting]: 300 }, client: { [attribute]: '600' } })
  later(400)
  expect(await isActive()).toBe(true)
})

const sweptSettings: readonly [name: string, limits: Limits][] = [
  ...idleTimeouts.slice(0, 3),
  ...maxLifespans.slice(0, 3),
]

test.each(sweptSettings)('%s decides when a session is deleted from the store', async (_, limits) => {
  const { name } = await startSession(limits)
  const countSessions = async () => {
    await sweepExpiredRows(service, now())
    const query = sql<{ count: number }>`/* test */ select count(*)::integer as count
      from user_session s join realm r on r.number = s.realm where r.name = ${name}`
    return (await service.query((db) => query.execute(db))).rows[0]!.count
  }
  later(299)
  expect(await countSessions()).toBe(1)
  later(2)
  expect(await countSessions()).toBe(0)
})

test('the settings of an existing session are those of its realm now', async () => {
  const { path, isActive } = await startSession({})
  later(200)
  await call('PUT', path, { ssoSessionMaxLifespan: 100 })
  expect(await isActive()).toBe(false)
})
