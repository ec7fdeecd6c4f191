// A property of saved plans: a change between plan and apply makes the plan stale if and only if the plan depends on it, and an apply
// overwrites no such change.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { settingsStoredAsAttributes } from '../../src/kinds/realm.ts'
import type { RealmOutcome } from '../../src/reconcile/execute/realm-outcome.ts'
import { type Action, isRelationChange } from '../../src/reconcile/model/action.ts'
import { planSources, type RunOutcome } from '../../src/reconcile/run/run.ts'
import { applySavedPlan, planAndSave, type StalePlanError } from '../../src/reconcile/run/saved-plans.ts'
import { digestSecrets } from '../../src/service/context/secrets.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import type { LiveObject } from '../../src/service/objects/live-objects.ts'
import { dumpRows } from '../support/database-rows.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generated-realms.ts'
import { createObject } from '../support/live-objects.ts'
import { isFullRun } from '../support/property-options.ts'
import { listSettableFields, toDocument } from '../support/samples.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const { service } = await testService()

/** The number of changes between plan and apply; a campaign makes more. */
const CHANGES = Number(process.env.REGENT_CHANGES ?? (isFullRun ? 50 : 20))
/** The number of consecutive changes of one realm. */
const CHANGES_PER_REALM = 10

/** A change by an administrator. Numbers select one of the possible objects, fields and values. */
const interferences = fc.record({
  operation: fc.constantFrom(
    'change' as const,
    'change' as const,
    'change' as const,
    'delete' as const,
    'create' as const,
  ),
  object: fc.nat(),
  field: fc.nat(),
  value: fc.constantFrom(0 as const, 1 as const),
  /** Whether an object of the plan is changed. */
  isPlanned: fc.boolean(),
})
type Interference = typeof interferences extends fc.Arbitrary<infer T> ? T : never

/** The attributes of a realm that are written with the settings of which they are a copy. */
const COPIES = new Set(Object.values(settingsStoredAsAttributes).map((name) => `attributes.${name}`))
const kindNames = Object.keys(kinds) as KindName[]

/** Returns all live objects, by kind and id. */
async function listAllLive(realm: string): Promise<Map<string, LiveObject>> {
  return service.read(SYSTEM, realm, async (context) => {
    const objects = new Map<string, LiveObject>()
    for (const kind of kindNames)
      for (const object of await writers[kind].list(context, {})) objects.set(`${kind} ${object.id}`, object)
    return objects
  })
}

const digestFields = ({ kind, representation }: LiveObject) => digestSecrets(service.vault, kinds[kind], representation)

/** Returns the object and the field to change: of the plan, or of any object. */
function chooseTarget(
  { object, field, isPlanned }: Interference,
  before: ReadonlyMap<string, LiveObject>,
  plan: readonly Action[],
): { live: LiveObject; path: string } {
  const touched = plan.flatMap(({ kind, id, changes }) => {
    const live = before.get(`${kind} ${id}`)
    return live ? [{ live, paths: changes.map(({ path }) => path.split('.')[0]!) }] : []
  })
  const all = [...before.values()]
  const any = { live: all[object % all.length]!, paths: [] as string[] }
  const { live, paths } = isPlanned && touched.length ? touched[object % touched.length]! : any
  const names = paths.length ? paths : listSettableFields(live.kind).map(([name]) => name)
  return { live, path: names[field % Math.max(1, names.length)] ?? '' }
}

/** Makes the change, unless it is refused. Returns the ids and paths of changed fields; the path of a created or deleted object is empty. */
async function interfere(
  realm: string,
  interference: Interference,
  plan: readonly Action[],
): Promise<[id: string, path: string][]> {
  const { operation, value, isPlanned } = interference
  const before = await listAllLive(realm)
  const { live, path } = chooseTarget(interference, before, plan)
  const values = listSettableFields(live.kind).find(([name]) => name === path)?.[2]
  const plannedRole = plan.find((action) => action.operation === 'create' && action.kind === 'role')
  const name = isPlanned && plannedRole ? plannedRole.key.at(-1)! : newName('role')
  const work =
    operation === 'create'
      ? createObject(service, ANN, realm, 'role', { name })
      : service.write(ANN, { realm, withMaster: live.kind === 'realm' }, async (context) => {
          if (operation === 'delete' && live.kind !== 'realm') return writers[live.kind].delete(context, [live])
          if (!values || kinds[live.kind].fields[path]?.relation) return undefined
          return writers[live.kind].update(context, [{ live, set: { [path]: values[value] } }])
        })
  await work.catch(() => undefined)
  const after = await listAllLive(realm)
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((id): [string, string][] => {
    const [previous, current] = [before.get(id), after.get(id)]
    if (!previous || !current) return [[id, '']]
    const [oldFields, newFields] = [digestFields(previous), digestFields(current)]
    const paths = new Set([...Object.keys(oldFields), ...Object.keys(newFields)])
    return [...paths]
      .filter((path) => JSON.stringify(oldFields[path]) !== JSON.stringify(newFields[path]))
      .filter((path) => !(previous.kind === 'realm' && COPIES.has(path)))
      .map((path) => [id, path])
  })
}

/** Returns the actions and deleted dependents of a plan as texts, sorted. */
const describePlan = ({ plan, consequences }: RealmOutcome): string[] =>
  [
    ...plan.actions.map(({ operation, kind, key, id, version, changes }: Action) =>
      JSON.stringify([
        operation,
        kind,
        key,
        id,
        operation === 'delete' && version,
        changes
          .map((change) => {
            const { path } = change
            return JSON.stringify(
              isRelationChange(change) ? [path, change.add, change.remove] : [path, change.from, change.to],
            )
          })
          .sort(),
      ]),
    ),
    ...consequences.flatMap(({ operation, kind, object, fields }) =>
      operation === 'delete' && !kinds[kind as KindName].isUserData ? [JSON.stringify([kind, object, fields])] : [],
    ),
  ].sort()

test('a saved plan is refused if and only if a later change affects it, and its apply overwrites no later change', async () => {
  const counts = { refused: 0, applied: 0 }
  await fc.assert(
    fc.asyncProperty(
      generatedRealms,
      generatedRealms,
      fc.array(interferences, { minLength: CHANGES_PER_REALM, maxLength: CHANGES_PER_REALM }),
      async (first, second, changes) => {
        const realm = newName()
        const states = [first, second].map(({ settings, objects }: GeneratedRealm) =>
          createSource([toDocument(realm, objects, settings)], realm),
        )
        await applySource(service, states[0]!)
        for (const [at, change] of changes.entries()) {
          const desired = states[(at + 1) % 2]!
          const planned = await planAndSave({ service, caller: SYSTEM, sources: [desired] })
          const changedFields = await interfere(realm, change, planned.realms[0]!.plan.actions)
          const newPlan = await planSources(service, SYSTEM, [desired]).catch(() => undefined)
          const isStale =
            !newPlan ||
            JSON.stringify(newPlan.realms.flatMap(describePlan)) !==
              JSON.stringify(planned.realms.flatMap(describePlan))
          const [before, rows] = [await listAllLive(realm), await dumpRows(service, realm)]
          const outcome = await applySavedPlan(service, SYSTEM, { id: planned.saved.id }).catch(
            (error: unknown) => error,
          )
          counts[isStale ? 'refused' : 'applied']++
          if (isStale) {
            expect(outcome).toBeInstanceOf(Error)
            if (newPlan) expect((outcome as StalePlanError).stale.length).toBeGreaterThan(0)
            expect(await dumpRows(service, realm)).toEqual(rows)
            await applySource(service, desired).catch(() => applySource(service, states[at % 2]!))
            continue
          }
          if (outcome instanceof Error) throw outcome
          expect((outcome as RunOutcome).realms.flatMap(describePlan)).toEqual(planned.realms.flatMap(describePlan))
          const after = await listAllLive(realm)
          for (const [id, path] of changedFields) {
            const [previous, current] = [before.get(id), after.get(id)]
            // A service account is deleted with its client, and plans do not list deleted users.
            if (previous && !current && kinds[previous.kind].isUserData) continue
            const readValue = (live: LiveObject | undefined): unknown =>
              path === '' ? live !== undefined : ((live && (digestFields(live) as Representation)[path]) ?? null)
            expect(readValue(current), `${id} ${path}`).toEqual(readValue(previous))
          }
        }
      },
    ),
    { numRuns: Math.ceil(CHANGES / CHANGES_PER_REALM), endOnFailure: true },
  )
  console.log(counts)
  // With few changes, possibly none is refused.
  if (CHANGES >= 1_000) expect(Math.min(counts.refused, counts.applied)).toBeGreaterThan(0)
}, 3_600_000)
