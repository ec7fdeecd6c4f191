// The number of statements does not depend on the amount of data, and a run without changes writes nothing.
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows } from '../support/database-rows.ts'
import { updateObject } from '../support/live-objects.ts'
import { isFullRun } from '../support/property-options.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

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

test.runIf(isFullRun)(
  'planning and applying 4,000 objects, within one chunk of each kind, cost as many statements as 50',
  async () => {
    const counts: Record<string, number[]> = { plan: [], apply: [], change: [], prune: [] }
    for (const size of [10, 800]) {
      const realm = newName()
      const full = createSource([documents(realm, size)], realm)
      const changed = createSource(
        [
          {
            ...documents(realm, size),
            clients: documents(realm, size).clients.map((client) => ({ ...client, name: 'Changed' })),
          },
        ],
        realm,
      )
      counts.plan!.push((await statements(() => planSources(service, SYSTEM, [full]))).length)
      counts.apply!.push((await statements(() => applySources(service, SYSTEM, [full]))).length)
      counts.change!.push((await statements(() => applySources(service, SYSTEM, [changed]))).length)
      counts.prune!.push(
        (await statements(() => applySources(service, SYSTEM, [createSource([{ realm }], realm)]))).length,
      )
    }
    for (const [operation, [few, many]] of Object.entries(counts)) expect(many, operation).toBe(few)
  },
)

test('creating a realm costs the same, however many realms exist', async () => {
  const create = () =>
    statements(() => service.createRealm(SYSTEM, { representation: { realm: newName() } }, async () => {}))
  const first = (await create()).length
  expect((await create()).length).toBe(first)
})

test('a run without changes costs at most two statements and writes nothing', async () => {
  const realm = newName()
  const state = createSource([documents(realm, 10)], realm)
  await applySources(service, SYSTEM, [state])
  const before = await dumpRows(service)
  const executed = await statements(() => applySources(service, SYSTEM, [state]), { keepsCaches: true })
  expect(executed.length).toBeLessThanOrEqual(2)
  expect(executed.filter(isWrite)).toEqual([])
  expect(await dumpRows(service)).toEqual(before)
})

test('after a change by another caller, an apply of the unchanged source corrects it', async () => {
  const realm = newName()
  const state = createSource([documents(realm, 3)], realm)
  await applySources(service, SYSTEM, [state])
  await updateObject(service, ANN, realm, 'client', ['client-1'], { name: 'Theirs' })
  const { realms } = await applySources(service, SYSTEM, [state])
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['client-1'] }])
  expect((await statements(() => applySources(service, SYSTEM, [state]))).length).toBeLessThanOrEqual(2)
})

test('an update of one field writes its row, a journal entry and the record of the run', async () => {
  const realm = newName()
  await applySources(service, SYSTEM, [createSource([documents(realm, 100)], realm)])
  const before = await dumpRows(service)
  const executed = await statements(
    () => applySources(service, SYSTEM, [createSource([documents(realm, 100, 'Changed')], realm)]),
    { keepsCaches: true },
  )
  const after = await dumpRows(service)
  const changed = Object.entries(after).flatMap(([name, rows]) => {
    const previous = new Set(before[name])
    const count = rows.filter((row) => !previous.has(row)).length
    return count ? [[name, count]] : []
  })
  expect(Object.fromEntries(changed)).toEqual({ client: 1, journal: 1, inventory: 1, source_realm: 1, history: 1 })
  expect(executed.length).toBeLessThanOrEqual(10)
})

test('an inventory without digests is read, and gets them with the next change', async () => {
  const realm = newName()
  await applySources(service, SYSTEM, [createSource([documents(realm, 3)], realm)])
  const countWithoutDigest = () =>
    service.query(async (db) => {
      const result = await sql<{ count: number }>`/* test */ select count(*)::integer as count
        from inventory i join realm r on r.number = i.realm where r.name = ${realm} and i.declared_digest is null`.execute(
        db,
      )
      return result.rows[0]!.count
    })
  await service.query((db) =>
    sql`/* test */ update inventory i set declared_digest = null from realm r where r.number = i.realm and r.name = ${realm}`.execute(
      db,
    ),
  )
  expect(await countWithoutDigest()).toBeGreaterThan(10)
  const { realms } = await applySources(service, SYSTEM, [createSource([documents(realm, 3, 'Changed')], realm)])
  expect(realms[0]!.plan.actions).toMatchObject([{ operation: 'update', key: ['client-0'] }])
  expect(await countWithoutDigest()).toBe(0)
})
