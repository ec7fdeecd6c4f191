// Drift events report each drift with its author, and its resolution. Changes by users to their own accounts are no drift.
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { APPLICATION, loginAddress, testBrowser } from '../support/browser.ts'
import { listenToDrift } from '../support/drift-listener.ts'
import { newName } from '../support/service.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'
import { applySource, createSource } from '../support/sources.ts'

/** Milliseconds by which the clock of the servers is ahead. */
let clockOffset = 0
const { url: databaseUrl, service, other } = await openServiceReplicas(() => new Date(Date.now() + clockOffset))
await bootstrap(service, { user: 'admin', password: 'admin' })
const listen = async (opened: typeof service) => {
  const app = await createServer(opened, { metrics: true })
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}
const writer = await listen(service)
const listener = await listen(other)

afterAll(async () => {
  for (const { app } of [writer, listener]) await app.close()
})

const postForm = (url: string, body: Record<string, string>) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(body) })
const logIn = async (realm: string, username: string, password: string) => {
  const url = `${writer.url}/realms/${realm}/protocol/openid-connect/token`
  const response = await postForm(url, { grant_type: 'password', client_id: 'admin-cli', username, password })
  return (await response.json()) as { access_token?: string }
}
const getToken = async () => (await logIn('master', 'admin', 'admin')).access_token!
const call = async (method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${await getToken()}`, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(`${writer.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  const text = await response.text()
  return text ? JSON.parse(text) : undefined
}
const ann = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }

/** Creates a realm with a declared client and user, and a listener to its drift events. */
async function createRealmAndListener(more: object = {}) {
  const realm = newName()
  const users = [{ ...ann, credentials: [{ type: 'password', value: 'first' }] }]
  const declared = createSource(
    [{ realm, enabled: true, clients: [{ clientId: 'shop', name: 'Web shop' }], users, ...more }],
    realm,
  )
  await applySource(service, declared)
  const [client] = await call('GET', `/admin/realms/${realm}/clients?clientId=shop`)
  const [user] = await call('GET', `/admin/realms/${realm}/users?username=ann`)
  const at = { client: `/admin/realms/${realm}/clients/${client.id}`, user: `/admin/realms/${realm}/users/${user.id}` }
  return { realm, declared, at, listener: await listenToDrift(listener.url, await getToken(), `?realm=${realm}`) }
}

const driftOfName = (name: string) =>
  expect.objectContaining({ kind: 'client', path: 'name', applied: 'Web shop', live: name })

test('an administrator’s change of a declared field is reported with user, client and address, and so is its resolution', async () => {
  const { realm, declared, at, listener } = await createRealmAndListener()
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
  // A new listener begins with the current drift.
  const later = await listenToDrift(writer.url, await getToken())
  expect(later.state).toContainEqual(drift)
  later.stop()
  await call('PUT', at.client, { name: 'Web shop' })
  await listener.untilAll((all) => all.length === 2)
  await call('DELETE', at.client)
  await listener.untilAll((all) => all.length === 3)
  await applySource(service, declared)
  await listener.untilAll((all) => all.length === 4)
  expect(listener.all.map(({ event, drift }) => [event, drift.path])).toEqual([
    ['drift', 'name'],
    ['resolved', 'name'],
    ['drift', undefined],
    ['resolved', undefined],
  ])
  listener.stop()
})

test('a changed password of a user, a login, a lockout and a linked account of an identity provider are no drift', async () => {
  const identityProviders = [{ alias: 'partner', providerId: 'oidc', config: { clientId: 'x', clientSecret: 'y' } }]
  const clients = [
    { clientId: 'shop', name: 'Web shop' },
    { clientId: 'web', publicClient: true, redirectUris: [APPLICATION] },
  ]
  const protection = { bruteForceProtected: true, failureFactor: 2, identityProviders, clients }
  const { realm, at, listener } = await createRealmAndListener(protection)
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
  expect(listener.all.map(({ drift }) => drift)).toEqual([driftOfName('Changed')])
  listener.stop()
})

test('a listener gets no events of realms that it may not administer, and none after its role is removed or its token expires', async () => {
  const { realm, at, listener: first } = await createRealmAndListener()
  first.stop()
  const chief = { username: 'chief', enabled: true, email: 'b@example.org', firstName: 'B', lastName: 'B' }
  await call('POST', `/admin/realms/${realm}/users`, { ...chief, credentials: [{ type: 'password', value: 'chief' }] })
  const [user] = await call('GET', `/admin/realms/${realm}/users?username=chief`)
  const [management] = await call('GET', `/admin/realms/${realm}/clients?clientId=realm-management`)
  const role = await call('GET', `/admin/realms/${realm}/clients/${management.id}/roles/realm-admin`)
  const mapping = `/admin/realms/${realm}/users/${user.id}/role-mappings/clients/${management.id}`
  await call('POST', mapping, [role])
  const chiefToken = (await logIn(realm, 'chief', 'chief')).access_token!
  const unrelated = await createRealmAndListener()
  await expect(listenToDrift(listener.url, chiefToken, `?realm=${unrelated.realm}`)).rejects.toThrow('403')
  await expect(listenToDrift(listener.url, 'none')).rejects.toThrow('401')
  const events = await listenToDrift(listener.url, chiefToken)
  await call('PUT', unrelated.at.client, { name: 'Unrelated' })
  await unrelated.listener.until(({ event }) => event === 'drift')
  await call('PUT', at.client, { name: 'Changed' })
  await events.until(({ event }) => event === 'drift')
  expect(events.all.map(({ drift }) => drift)).toEqual([driftOfName('Changed')])
  await call('DELETE', mapping, [role])
  await call('PUT', at.client, { name: 'Not reported' })
  await events.ended
  expect(events.all).toHaveLength(1)
  // The streams also end when their tokens expire.
  clockOffset += 3_600_000
  await call('PUT', unrelated.at.client, { name: 'Too late' })
  await unrelated.listener.ended
  expect(unrelated.listener.all).toHaveLength(1)
})

test.runIf(inject('databaseUrl'))(
  'a listener misses no event when its server loses the connection to the database',
  async () => {
    const { at, listener } = await createRealmAndListener()
    const client = new pg.Client(databaseUrl)
    await client.connect()
    const running = "from pg_stat_activity where datname = current_database() and application_name = 'regent wake-ups'"
    for (let round = 0; round < 5; round++) {
      await client.query(`select pg_terminate_backend(pid) ${running}`)
      await call('PUT', at.client, { name: `Changed ${round}` })
      await listener.until(({ drift }) => drift.live === `Changed ${round}`)
    }
    await client.end()
    listener.stop()
  },
)

test('the metrics count drifted fields and drift events', async () => {
  const { at, listener: events } = await createRealmAndListener()
  const readMetrics = async () => {
    const text = await (await fetch(`${listener.url}/metrics`)).text()
    return [/^regent_drift (\d+)/m, /^regent_drift_events_total\{event="drift"\} (\d+)/m].map((pattern) =>
      Number(pattern.exec(text)?.[1] ?? 0),
    )
  }
  const [fieldCount = 0, eventCount = 0] = await readMetrics()
  await call('PUT', at.client, { name: 'Changed', description: 'Undeclared' })
  await events.until(({ event }) => event === 'drift')
  expect(await readMetrics()).toEqual([fieldCount + 1, eventCount + 1])
  events.stop()
})
