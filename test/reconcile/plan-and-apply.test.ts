// The law: plan + consequences = what apply did. And: apply, then plan, is empty, from any state to any other.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { formatAddress, type TreeObject } from '../../src/kinds/tree.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { approveSavedPlan } from '../../src/reconcile/run/saved-plans.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { dumpRows } from '../support/database-rows.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generated-realms.ts'
import { updateObject } from '../support/live-objects.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { toDocument } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()

/** The addresses of what the journals say about a realm since an entry count. */
async function journaled(realm: string, since: { entries: number; people: number }): Promise<Set<string>> {
  const rows = await service.query(async (db) => {
    const { sql } = await import('kysely')
    const read = (table: string, from: number) =>
      sql<{
        kind: string
        key: string[]
      }>`/* test */ select j.kind, j.key from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm} order by j.number offset ${from}`.execute(
        db,
      )
    return [...(await read('journal', since.entries)).rows, ...(await read('user_journal', since.people)).rows]
  })
  return new Set(rows.map(({ kind, key }) => formatAddress(kind as never, key)))
}

async function counts(realm: string): Promise<{ entries: number; people: number }> {
  return service.query(async (db) => {
    const { sql } = await import('kysely')
    const count = async (table: string) =>
      Number(
        (
          await sql<{
            n: number
          }>`/* test */ select count(*) as n from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm}`.execute(
            db,
          )
        ).rows[0]!.n,
      )
    return { entries: await count('journal'), people: await count('user_journal') }
  })
}

test(
  'plan + consequences = what apply did; what was stated comes back, in whatever order, and from an export',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedRealms, generatedRealms, fc.nat(1), async (first, second, half) => {
        const realm = newName()
        const state = ({ settings, objects }: GeneratedRealm) =>
          createSource([toDocument(realm, objects, settings)], realm)
        const exported = (secrets = false) =>
          service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, secrets }))

        await applySource(service, state(first))
        const asFirst = timeless(await exported())
        const wanted = state(second)
        const planned = await planSources(service, SYSTEM, [wanted])
        const before = await counts(realm)
        const applied = await applySource(service, wanted)
        expect(applied.realms[0]!.plan).toEqual(planned.realms[0]!.plan)
        const shown = planned.realms[0]!
        const foreseen = new Set(
          [...shown.plan.actions, ...shown.consequences].map(({ kind, key }) => formatAddress(kind as never, key)),
        )
        expect(await journaled(realm, before)).toEqual(foreseen)
        expect(await planText(service, wanted)).toContain('Nothing to do.')
        const rows = await dumpRows(service, realm)
        await applySource(service, wanted)
        expect(await dumpRows(service, realm)).toEqual(rows)

        expect(await planText(service, inParts(realm, second, half))).toContain('Nothing to do.')
        await applySource(service, state(first))
        expect(timeless(await exported())).toEqual(asFirst)

        const full = await exported(true)
        await service.write(SYSTEM, { realm, withMaster: true }, async (context) =>
          writers.realm.delete(context, await writers.realm.list(context, {})),
        )
        // A realm that had people is made again with an approval only.
        const { pendingApproval } = (await applySource(service, createSource([full], realm))).realms[0]!
        if (pendingApproval) await approveSavedPlan(service, SYSTEM, { id: pendingApproval.plan })
        expect(await exported(true)).toEqual(full)
      }),
      propertyOptions,
    )
  },
  TIME_LIMIT,
)

/** Without when accounts and secrets of clients were made: those that a setting took away and brought back are others. */
function timeless(exported: Representation): Representation {
  const [users, clients] = [exported.users, exported.clients].map((list) => (list ?? []) as Representation[])
  return {
    ...exported,
    users: users!.map((user) => (user.serviceAccountClientId == null ? user : { ...user, createdTimestamp: null })),
    clients: clients!.map(({ attributes, ...client }) => ({
      ...client,
      attributes: { ...(attributes as Representation), 'client.secret.creation.time': null },
    })),
  }
}

/** The same in two documents, the last objects first. */
function inParts(realm: string, { settings, objects }: GeneratedRealm, half: number) {
  const roots = objects.filter(({ key }) => key.length === 1).map(({ kind, key }) => formatAddress(kind, key))
  const rootOf = ({ kind, key }: TreeObject) =>
    roots.indexOf(key.length === 1 ? formatAddress(kind, key) : formatAddress(key[0] as KindName, key.slice(1, -1)))
  const part = (which: number) => objects.filter((one) => (rootOf(one) + half) % 2 === which)
  return createSource([toDocument(realm, part(1)), toDocument(realm, part(0), settings)], realm)
}

test('a change between plan and apply makes the plan void: it is made anew, and shows whose change it overwrites', async () => {
  const realm = newName()
  const state = (description: string) =>
    createSource([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applySource(service, state('one'))
  let interfered = 0
  const interfering: Service = {
    ...service,
    async readSnapshot(caller, name, work) {
      const result = await service.readSnapshot(caller, name, work)
      if (interfered++ === 0)
        await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: 'theirs' })
      return result
    },
  }
  const { realms: outcomes } = await applySource(interfering, state('two'))
  expect(interfered).toBe(2)
  expect(outcomes[0]!.plan.actions[0]!.changes).toMatchObject([
    { path: 'description', from: 'theirs', to: 'two', by: { name: 'ann' } },
  ])
})

test('an apply that is always overtaken gives up, says so and changes nothing', async () => {
  const realm = newName()
  const state = (description: string) =>
    createSource([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applySource(service, state('one'))
  let rows = {}
  let count = 0
  const interfering: Service = {
    ...service,
    async readSnapshot(caller, name, work) {
      const result = await service.readSnapshot(caller, name, work)
      await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: `theirs ${count++}` })
      rows = await dumpRows(service)
      return result
    },
  }
  await expect(applySource(interfering, state('two'))).rejects.toThrow(
    'client scope calendar has changed since the plan was made',
  )
  expect(await dumpRows(service)).toEqual(rows)
})
