// Drift is told as it happens: what, by whom, and that it is settled. What people do of themselves is none.
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { APPLICATION, loginAddress, testBrowser } from '../support/browser.ts'
import { listenToDrift } from '../support/drift-listener.ts'
import { newDatabase, newName } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const location = await newDatabase()
let late = 0
const clock = () => new Date(Date.now() + late)
const open = () => openService({ location, key: new Uint8Array(32), clock })
const service = await open()
/** Another process over the same store; PGlite has none. */
const other = location.url ? await open() : service
await bootstrap(service, { user: 'admin', password: 'admin' })
const listening = async (on: typeof service) => {
  const app = await createServer(on, { metrics: true })
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}
const writer = await listening(service)
const listener = await listening(other)

afterAll(async () => {
  for (const { app } of [writer, listener]) await app.close()
  for (const one of new Set([service, other])) await one.close()
})

const form = (url: string, body: Record<string, string>) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(body) })
const logIn = async (realm: string, username: string, password: string) => {
  const url = `${writer.url}/realms/${realm}/protocol/openid-connect/token`
  const answer = await form(url, { grant_type: 'password', client_id: 'admin-cli', username, password })
  return (await answer.json()) as { access_token?: string }
}
const token = async () => (await logIn('master', 'admin', 'admin')).access_token!
const call = async (method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${await token()}`, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(`${writer.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  const text = await answer.text()
  return text ? JSON.parse(text) : undefined
}
const ann = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }

/** A realm of which a source states a client and a person, and somebody who listens to it. */
async function realmAndListener(more: object = {}) {
  const realm = newName()
  const people = [{ ...ann, credentials: [{ type: 'password', value: 'first' }] }]
  const stated = createSource(
    [{ realm, enabled: true, clients: [{ clientId: 'shop', name: 'Web shop' }], users: people, ...more }],
    realm,
  )
  await applySource(service, stated)
  const [client] = await call('GET', `/admin/realms/${realm}/clients?clientId=shop`)
  const [user] = await call('GET', `/admin/realms/${realm}/users?username=ann`)
  const at = { client: `/admin/realms/${realm}/clients/${client.id}`, user: `/admin/realms/${realm}/users/${user.id}` }
  return { realm, stated, at, listener: await listenToDrift(listener.url, await token(), `?realm=${realm}`) }
}

const renamed = (name: string) =>
  expect.objectContaining({ kind: 'client', path: 'name', applied: 'Web shop', live: name })

test('an administrator’s change of a stated field is told with who, through which client and from where, and that it is settled', async () => {
  const { realm, stated, at, listener } = await realmAndListener()
  expect(listener.state).toEqual([])
  await call('PUT', at.client, { name: 'Changed' })
  const { drift } = await listener.until(({ event }) => event === 'drift')
  expect(drift).toMatchObject({
    realm,
    source: realm,
    kind: 'client',
    key: ['shop'],
    path: 'name',
    line: expect.any(Number),
  })
  expect(drift).toMatchObject({ applied: 'Web shop', live: 'Changed', file: `${realm}-1.yaml` })
  expect(drift.by).toMatchObject({ name: 'admin', kind: 'administrator', client: 'admin-cli', address: '127.0.0.1' })
  expect(await call('GET', `/regent/v1/drift?realm=${realm}`)).toEqual([drift])
  // Whoever comes later begins with it.
  const later = await listenToDrift(writer.url, await token())
  expect(later.state).toContainEqual(drift)
  later.stop()
  await call('PUT', at.client, { name: 'Web shop' })
  await listener.untilAll((all) => all.length === 2)
  await call('DELETE', at.client)
  await listener.untilAll((all) => all.length === 3)
  await applySource(service, stated)
  await listener.untilAll((all) => all.length === 4)
  expect(listener.all.map(({ event, drift }) => [event, drift.path])).toEqual([
    ['drift', 'name'],
    ['resolved', 'name'],
    ['drift', undefined],
    ['resolved', undefined],
  ])
  listener.stop()
})

test('a person’s own password, a log-in, a lockout and an account at an identity provider are no drift', async () => {
  const identityProviders = [{ alias: 'partner', providerId: 'oidc', config: { clientId: 'x', clientSecret: 'y' } }]
  const clients = [
    { clientId: 'shop', name: 'Web shop' },
    { clientId: 'web', publicClient: true, redirectUris: [APPLICATION] },
  ]
  const protection = { bruteForceProtected: true, failureFactor: 2, identityProviders, clients }
  const { realm, at, listener } = await realmAndListener(protection)
  expect(await logIn(realm, 'ann', 'first')).toHaveProperty('access_token')
  await call('PUT', at.user, { requiredActions: ['UPDATE_PASSWORD'] })
  const browser = testBrowser(writer.app)
  const log = await browser.open(loginAddress(realm).address)
  const choose = await browser.send(log, { username: 'ann', password: 'first' })
  await browser.send(choose, { 'password-new': 'second', 'password-confirm': 'second' })
  expect(await logIn(realm, 'ann', 'second')).toHaveProperty('access_token')
  for (let guess = 0; guess < 3; guess++) expect(await logIn(realm, 'ann', 'wrong')).not.toHaveProperty('access_token')
  expect(await logIn(realm, 'ann', 'second')).not.toHaveProperty('access_token')
  await call('POST', `${at.user}/federated-identity/partner`, { userId: 'ann-there', userName: 'ann' })
  await call('PUT', at.client, { name: 'Changed' })
  await listener.until(({ event }) => event === 'drift')
  expect(listener.all.map(({ drift }) => drift)).toEqual([renamed('Changed')])
  listener.stop()
})

test('nobody hears of a realm that they may not administer, nor when their token or their power has ended', async () => {
  const { realm, at, listener: heard } = await realmAndListener()
  heard.stop()
  const boss = { username: 'boss', enabled: true, email: 'b@example.org', firstName: 'B', lastName: 'B' }
  await call('POST', `/admin/realms/${realm}/users`, { ...boss, credentials: [{ type: 'password', value: 'boss' }] })
  const [user] = await call('GET', `/admin/realms/${realm}/users?username=boss`)
  const [management] = await call('GET', `/admin/realms/${realm}/clients?clientId=realm-management`)
  const role = await call('GET', `/admin/realms/${realm}/clients/${management.id}/roles/realm-admin`)
  const mapping = `/admin/realms/${realm}/users/${user.id}/role-mappings/clients/${management.id}`
  await call('POST', mapping, [role])
  const own = (await logIn(realm, 'boss', 'boss')).access_token!
  const elsewhere = await realmAndListener()
  await expect(listenToDrift(listener.url, own, `?realm=${elsewhere.realm}`)).rejects.toThrow('403')
  await expect(listenToDrift(listener.url, 'none')).rejects.toThrow('401')
  const listened = await listenToDrift(listener.url, own)
  await call('PUT', elsewhere.at.client, { name: 'Elsewhere' })
  await elsewhere.listener.until(({ event }) => event === 'drift')
  await call('PUT', at.client, { name: 'Changed' })
  await listened.until(({ event }) => event === 'drift')
  expect(listened.all.map(({ drift }) => drift)).toEqual([renamed('Changed')])
  await call('DELETE', mapping, [role])
  await call('PUT', at.client, { name: 'Not told' })
  await listened.ended
  expect(listened.all).toHaveLength(1)
  // A token ends as well.
  late += 3_600_000
  await call('PUT', elsewhere.at.client, { name: 'Too late' })
  await elsewhere.listener.ended
  expect(elsewhere.listener.all).toHaveLength(1)
})

test.runIf(inject('databaseUrl'))('a listener whose server lost its connection misses nothing', async () => {
  const { at, listener } = await realmAndListener()
  const client = new pg.Client(location.url)
  await client.connect()
  const running = "from pg_stat_activity where datname = current_database() and application_name = 'regent wake-ups'"
  for (let round = 0; round < 5; round++) {
    await client.query(`select pg_terminate_backend(pid) ${running}`)
    await call('PUT', at.client, { name: `Changed ${round}` })
    await listener.until(({ drift }) => drift.live === `Changed ${round}`)
  }
  await client.end()
  listener.stop()
})

test('who measures learns how much has drifted', async () => {
  const { at, listener: heard } = await realmAndListener()
  const measured = async () => {
    const text = await (await fetch(`${listener.url}/metrics`)).text()
    return [/^regent_drift (\d+)/m, /^regent_drift_events_total\{event="drift"\} (\d+)/m].map((one) =>
      Number(one.exec(text)?.[1] ?? 0),
    )
  }
  const [fields = 0, events = 0] = await measured()
  await call('PUT', at.client, { name: 'Changed', description: 'Nobody states it' })
  await heard.until(({ event }) => event === 'drift')
  expect(await measured()).toEqual([fields + 1, events + 1])
  heard.stop()
})
