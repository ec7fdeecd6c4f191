// The number of statements does not depend on the data; what has nothing to do, writes nothing.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { everything } from '../support/campaign.ts'
import { change } from '../support/changes.ts'
import { ANN, source } from '../support/reconcile.ts'
import { allRows } from '../support/rows.ts'
import { newName, testService } from '../support/service.ts'

const { service, statements } = await testService()

const documents = (realm: string, count: number, name = 'Client') => ({
  realm,
  enabled: true,
  clientScopes: Array.from({ length: count }, (_, at) => ({
    name: `scope-${at}`,
    protocol: 'openid-connect',
    protocolMappers: [{ name: 'mapper', protocolMapper: 'oidc-usermodel-attribute-mapper' }],
  })),
  clients: Array.from({ length: count }, (_, at) => ({
    clientId: `client-${at}`,
    name: at === 0 ? name : 'Client',
    serviceAccountsEnabled: at % 2 === 0,
    defaultClientScopes: [`scope-${at}`, 'email'],
    protocolMappers: [{ name: 'mapper', protocolMapper: 'oidc-usermodel-attribute-mapper' }],
  })),
  authenticationFlows: Array.from({ length: count }, (_, at) => ({
    alias: `flow-${at}`,
    topLevel: true,
    authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'REQUIRED' }],
  })),
})

const isWrite = ({ sql }: { sql: string }) => /^\s*(insert|update|delete)/i.test(sql)

test.runIf(everything)(
  'planning and applying cost as many statements for 4,000 objects, within one chunk of each kind, as for 50',
  async () => {
    const counts: Record<string, number[]> = { plan: [], apply: [], change: [], prune: [] }
    for (const size of [10, 800]) {
      const realm = newName()
      const full = source([documents(realm, size)], realm)
      const changed = source(
        [
          {
            ...documents(realm, size),
            clients: documents(realm, size).clients.map((one) => ({ ...one, name: 'Changed' })),
          },
        ],
        realm,
      )
      counts.plan!.push((await statements(() => planSources(service, SYSTEM, [full]))).length)
      counts.apply!.push((await statements(() => applySources(service, SYSTEM, [full]))).length)
      counts.change!.push((await statements(() => applySources(service, SYSTEM, [changed]))).length)
      counts.prune!.push((await statements(() => applySources(service, SYSTEM, [source([{ realm }], realm)]))).length)
    }
    for (const [what, [few, many]] of Object.entries(counts)) expect(many, what).toBe(few)
  },
)

test('creating a realm costs the same, whatever realms there are', async () => {
  const create = () =>
    statements(() => service.create(SYSTEM, { representation: { realm: newName() } }, async () => {}))
  const first = (await create()).length
  expect((await create()).length).toBe(first)
})

test('a run that has nothing to do is at most two statements and writes nothing', async () => {
  const realm = newName()
  const state = source([documents(realm, 10)], realm)
  await applySources(service, SYSTEM, [state])
  const before = await allRows(service)
  const executed = await statements(() => applySources(service, SYSTEM, [state]))
  expect(executed.length).toBeLessThanOrEqual(2)
  expect(executed.filter(isWrite)).toEqual([])
  expect(await allRows(service)).toEqual(before)
})

test('after any change by somebody else, the same source has something to do again', async () => {
  const realm = newName()
  const state = source([documents(realm, 3)], realm)
  await applySources(service, SYSTEM, [state])
  await change(service, ANN, realm, 'client', ['client-1'], { name: 'Theirs' })
  const { realms } = await applySources(service, SYSTEM, [state])
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['client-1'] }])
  expect((await statements(() => applySources(service, SYSTEM, [state]))).length).toBeLessThanOrEqual(2)
})

test('one changed field writes that row, its journal entry and the record', async () => {
  const realm = newName()
  await applySources(service, SYSTEM, [source([documents(realm, 100)], realm)])
  const before = await allRows(service)
  const executed = await statements(() =>
    applySources(service, SYSTEM, [source([documents(realm, 100, 'Changed')], realm)]),
  )
  const after = await allRows(service)
  const changed = Object.entries(after).flatMap(([name, rows]) => {
    const known = new Set(before[name])
    const count = rows.filter((row) => !known.has(row)).length
    return count ? [[name, count]] : []
  })
  expect(Object.fromEntries(changed)).toEqual({ client: 1, journal: 1, inventory: 1, source_realm: 1, history: 1 })
  expect(executed.length).toBeLessThanOrEqual(10)
})

test('an inventory that was written before its rows had digests is read, and has them after the next change', async () => {
  const realm = newName()
  await applySources(service, SYSTEM, [source([documents(realm, 3)], realm)])
  const without = () =>
    service.look(async (db) => {
      const found = await sql<{ count: number }>`/* test */ select count(*)::integer as count
        from inventory i join realm r on r.number = i.realm where r.name = ${realm} and i.stated is null`.execute(db)
      return found.rows[0]!.count
    })
  await service.look((db) =>
    sql`/* test */ update inventory i set stated = null from realm r where r.number = i.realm and r.name = ${realm}`.execute(
      db,
    ),
  )
  expect(await without()).toBeGreaterThan(10)
  const { realms } = await applySources(service, SYSTEM, [source([documents(realm, 3, 'Changed')], realm)])
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['client-0'] }])
  expect(await without()).toBe(0)
})
