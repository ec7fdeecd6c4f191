// The law: plan + consequences = what apply did. And: apply, then plan, is empty, from any state to any other.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { address, type TreeObject } from '../../src/kinds/tree.ts'
import { exportRealm } from '../../src/realm-file/export/render.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { approveSaved } from '../../src/reconcile/run/saved.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { campaign, TIME_LIMIT } from '../support/campaign.ts'
import { change } from '../support/changes.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generate.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { allRows } from '../support/rows.ts'
import { documentOf } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()

/** The addresses of what the journals say about a realm since an entry count. */
async function journaled(realm: string, since: { entries: number; people: number }): Promise<Set<string>> {
  const rows = await service.look(async (db) => {
    const { sql } = await import('kysely')
    const read = (table: string, from: number) =>
      sql<{
        kind: string
        key: string[]
      }>`/* test */ select j.kind, j.key from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm} order by j.number offset ${from}`.execute(
        db,
      )
    return [...(await read('journal', since.entries)).rows, ...(await read('people_journal', since.people)).rows]
  })
  return new Set(rows.map(({ kind, key }) => address(kind as never, key)))
}

async function counts(realm: string): Promise<{ entries: number; people: number }> {
  return service.look(async (db) => {
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
    return { entries: await count('journal'), people: await count('people_journal') }
  })
}

test(
  'plan + consequences = what apply did; what was stated comes back, in whatever order, and from an export',
  async () => {
    await fc.assert(
      fc.asyncProperty(generatedRealms, generatedRealms, fc.nat(1), async (first, second, half) => {
        const realm = newName()
        const state = ({ settings, objects }: GeneratedRealm) => source([documentOf(realm, objects, settings)], realm)
        const exported = (secrets = false) =>
          service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, secrets }))

        await applyAs(service, state(first))
        const asFirst = timeless(await exported())
        const wanted = state(second)
        const planned = await planSources(service, SYSTEM, [wanted])
        const before = await counts(realm)
        const applied = await applyAs(service, wanted)
        expect(applied.realms[0]!.plan).toEqual(planned.realms[0]!.plan)
        const shown = planned.realms[0]!
        const foreseen = new Set(
          [...shown.plan.actions, ...shown.consequences].map(({ kind, key }) => address(kind as never, key)),
        )
        expect(await journaled(realm, before)).toEqual(foreseen)
        expect(await planText(service, wanted)).toContain('Nothing to do.')
        const rows = await allRows(service, realm)
        await applyAs(service, wanted)
        expect(await allRows(service, realm)).toEqual(rows)

        expect(await planText(service, inParts(realm, second, half))).toContain('Nothing to do.')
        await applyAs(service, state(first))
        expect(timeless(await exported())).toEqual(asFirst)

        const full = await exported(true)
        await service.write(
          SYSTEM,
          realm,
          async (context) => writers.realm.delete(context, await writers.realm.list(context, {})),
          {
            master: true,
          },
        )
        // A realm that had people is made again with an approval only.
        const { pendingApproval } = (await applyAs(service, source([full], realm))).realms[0]!
        if (pendingApproval) await approveSaved(service, SYSTEM, pendingApproval.plan)
        expect(await exported(true)).toEqual(full)
      }),
      campaign,
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
  const roots = objects.filter(({ key }) => key.length === 1).map(({ kind, key }) => address(kind, key))
  const rootOf = ({ kind, key }: TreeObject) =>
    roots.indexOf(key.length === 1 ? address(kind, key) : address(key[0] as KindName, key.slice(1, -1)))
  const part = (which: number) => objects.filter((one) => (rootOf(one) + half) % 2 === which)
  return source([documentOf(realm, part(1)), documentOf(realm, part(0), settings)], realm)
}

test('a change between plan and apply makes the plan void: it is made anew, and shows whose change it overwrites', async () => {
  const realm = newName()
  const state = (description: string) =>
    source([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applyAs(service, state('one'))
  let interfered = 0
  const interfering: Service = {
    ...service,
    async snapshot(caller, name, work) {
      const result = await service.snapshot(caller, name, work)
      if (interfered++ === 0) await change(service, ANN, realm, 'clientScope', ['calendar'], { description: 'theirs' })
      return result
    },
  }
  const { realms: outcomes } = await applyAs(interfering, state('two'))
  expect(interfered).toBe(2)
  expect(outcomes[0]!.plan.actions[0]!.changes).toMatchObject([
    { path: 'description', from: 'theirs', to: 'two', by: { name: 'ann' } },
  ])
})

test('an apply that is always overtaken gives up, says so and changes nothing', async () => {
  const realm = newName()
  const state = (description: string) =>
    source([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applyAs(service, state('one'))
  let rows = {}
  let count = 0
  const interfering: Service = {
    ...service,
    async snapshot(caller, name, work) {
      const result = await service.snapshot(caller, name, work)
      await change(service, ANN, realm, 'clientScope', ['calendar'], { description: `theirs ${count++}` })
      rows = await allRows(service)
      return result
    },
  }
  await expect(applyAs(interfering, state('two'))).rejects.toThrow(
    'client scope calendar has changed since the plan was made',
  )
  expect(await allRows(service)).toEqual(rows)
})
