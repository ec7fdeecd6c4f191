// Properties for any two states of a realm: an apply makes exactly the planned changes with their consequences, and the next plan is empty.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { formatAddress, type TreeObject } from '../../src/kinds/tree.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { approveSavedPlan } from '../../src/reconcile/run/saved-plans.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { dumpRows } from '../support/database-rows.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generated-realms.ts'
import { interfereAfterSnapshots } from '../support/interference.ts'
import { updateObject } from '../support/live-objects.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { toDocument } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()

/** The numbers of entries in both journals of a realm. */
interface EntryCounts {
  readonly configuration: number
  readonly users: number
}

/** Returns the addresses of the objects in the journal entries after the given counts. */
async function listJournaled(realm: string, since: EntryCounts): Promise<Set<string>> {
  const rows = await service.query(async (db) => {
    const { sql } = await import('kysely')
    const read = (table: string, from: number) =>
      sql<{
        kind: string
        key: string[]
      }>`/* test */ select j.kind, j.key from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm} order by j.number offset ${from}`.execute(
        db,
      )
    return [...(await read('journal', since.configuration)).rows, ...(await read('user_journal', since.users)).rows]
  })
  return new Set(rows.map(({ kind, key }) => formatAddress(kind as never, key)))
}

async function countEntries(realm: string): Promise<EntryCounts> {
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
    return { configuration: await count('journal'), users: await count('user_journal') }
  })
}

test(
  'an apply makes exactly the planned changes and consequences; a former state and an export restore the realm',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedRealms, generatedRealms, fc.nat(1), async (first, second, half) => {
        const realm = newName()
        const toSource = ({ settings, objects }: GeneratedRealm) =>
          createSource([toDocument(realm, objects, settings)], realm)
        const exportFully = (secrets = false) =>
          service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, secrets }))

        await applySource(service, toSource(first))
        const firstExport = withoutCreationTimes(await exportFully())
        const desired = toSource(second)
        const planned = await planSources(service, SYSTEM, [desired])
        const before = await countEntries(realm)
        const applied = await applySource(service, desired)
        expect(applied.realms[0]!.plan).toEqual(planned.realms[0]!.plan)
        const plannedRealm = planned.realms[0]!
        const expected = new Set(
          [...plannedRealm.plan.actions, ...plannedRealm.consequences].map(({ kind, key }) =>
            formatAddress(kind as never, key),
          ),
        )
        expect(await listJournaled(realm, before)).toEqual(expected)
        expect(await planText(service, desired)).toContain('Nothing to do.')
        const rows = await dumpRows(service, realm)
        await applySource(service, desired)
        expect(await dumpRows(service, realm)).toEqual(rows)

        expect(await planText(service, splitIntoTwo(realm, second, half))).toContain('Nothing to do.')
        await applySource(service, toSource(first))
        expect(withoutCreationTimes(await exportFully())).toEqual(firstExport)

        const full = await exportFully(true)
        await service.write(SYSTEM, { realm, withMaster: true }, async (context) =>
          writers.realm.delete(context, await writers.realm.list(context, {})),
        )
        // Creating a realm again that had users needs an approval.
        const { pendingApproval } = (await applySource(service, createSource([full], realm))).realms[0]!
        if (pendingApproval) await approveSavedPlan(service, SYSTEM, { id: pendingApproval.plan })
        expect(await exportFully(true)).toEqual(full)
      }),
      propertyOptions,
    )
  },
  TIME_LIMIT,
)

/** Removes creation times of service accounts and client secrets, since a setting that is disabled and enabled creates new ones. */
function withoutCreationTimes(exported: Representation): Representation {
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

/** Returns the same declarations as two documents, with the last objects first. */
function splitIntoTwo(realm: string, { settings, objects }: GeneratedRealm, half: number) {
  const roots = objects.filter(({ key }) => key.length === 1).map(({ kind, key }) => formatAddress(kind, key))
  const getRoot = ({ kind, key }: TreeObject) =>
    roots.indexOf(key.length === 1 ? formatAddress(kind, key) : formatAddress(key[0] as KindName, key.slice(1, -1)))
  const part = (remainder: number) => objects.filter((object) => (getRoot(object) + half) % 2 === remainder)
  return createSource([toDocument(realm, part(1)), toDocument(realm, part(0), settings)], realm)
}

test('after a change between plan and apply, the apply plans again, and its plan names the author of the overwritten change', async () => {
  const realm = newName()
  const toSource = (description: string) =>
    createSource([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applySource(service, toSource('one'))
  let snapshots = 0
  const interfering = interfereAfterSnapshots(service, async (count) => {
    snapshots++
    if (count === 0) await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: 'theirs' })
  })
  const { realms: outcomes } = await applySource(interfering, toSource('two'))
  expect(snapshots).toBe(2)
  expect(outcomes[0]!.plan.actions[0]!.changes).toMatchObject([
    { path: 'description', from: 'theirs', to: 'two', by: { name: 'ann' } },
  ])
})

test('an apply whose plans are always stale fails with the changed object, and changes nothing', async () => {
  const realm = newName()
  const toSource = (description: string) =>
    createSource([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applySource(service, toSource('one'))
  let rows = {}
  const interfering = interfereAfterSnapshots(service, async (count) => {
    await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: `theirs ${count}` })
    rows = await dumpRows(service)
  })
  await expect(applySource(interfering, toSource('two'))).rejects.toThrow(
    'client scope calendar has changed since the plan was made',
  )
  expect(await dumpRows(service)).toEqual(rows)
})
