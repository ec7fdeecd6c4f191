// Finds the guards that block a plan, with the facts that they need from the store.
import { readKeys, resolveField, subtractKeys } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import {
  countManagedBy,
  type FlowObject,
  findFormerRealm,
  findNamingEntries,
  findUserCreators,
  getRealmSize,
  listFlowObjects,
} from '../../service/sources/guard-queries.ts'
import type { HeldPermissions } from '../execute/realm-outcome.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { SourcePart } from '../merge/merge-parts.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import type { ManagedObject, PlanInput } from '../model/plan-input.ts'
import { findRecreated } from '../plan/binding.ts'
import {
  countNotableDeletions,
  evaluateGuards,
  filterAdoptedUsers,
  findAdoptedObjects,
  type GuardFacts,
  isRealmDeletion,
  type MovedSource,
  type RecreationEvidence,
  type SharedObjects,
} from '../plan/guards.ts'
import { changesFlows, type ImpassableFlow, isFlowObject, listImpassableFlows } from '../plan/impassable-flows.ts'
import { findAdminGrants } from './admin-grants.ts'

/** A plan with its input and its sources. */
interface PlanToGuard {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly parts: readonly SourcePart[]
  /** Of a plan that was already applied: the admin permissions that adopted objects had before. */
  readonly heldPermissions?: HeldPermissions | undefined
  /** Of a plan that was already applied: the bound flows that nobody could pass before. */
  readonly formerlyImpassable?: readonly ImpassableFlow[] | undefined
}

/** The guards that block a plan, and the state without it: admin permissions of the objects it adopts, and flows that nobody can pass. */
export interface EvaluatedGuards {
  readonly guards: Guard[]
  readonly heldPermissions?: HeldPermissions | undefined
  readonly formerlyImpassable?: readonly ImpassableFlow[] | undefined
}

/** Returns the guards that block a plan. `where`: the realm, or the service if the realm is new. No statement for most plans, else a few. */
export async function findGuards(where: Context | Service, guarded: PlanToGuard): Promise<EvaluatedGuards> {
  const { plan, input, parts } = guarded
  const former = plan.creates ? await findFormerRealm(where, plan.realm) : undefined
  const { heldPermissions, ...facts } = 'tx' in where ? await readFacts(where, guarded) : {}
  const settings = parts.map((part) => part.settings)
  const shared = findSharedObjects(parts, input)
  const movedSources = findMovedSources(parts)
  const flowObjects = changesFlows(plan) ? await readFlowObjects(where, guarded) : undefined
  const formerlyImpassable = guarded.formerlyImpassable ?? (flowObjects && listImpassableFlows(flowObjects))
  const allFacts = { former, shared, movedSources, flowObjects, formerlyImpassable, ...facts }
  return { guards: evaluateGuards({ plan, input, settings, facts: allFacts }), heldPermissions, formerlyImpassable }
}

/** Returns the flows of a realm and the objects that bind them; of a new realm, the built-in ones. */
async function readFlowObjects(where: Context | Service, { plan, input }: PlanToGuard): Promise<readonly FlowObject[]> {
  if (!('tx' in where) || plan.creates) return input.live.filter(isFlowObject)
  // Actions name the realm as it is declared, even if an administrator renamed it.
  return (await listFlowObjects(where)).map((object) =>
    object.kind === 'realm' ? { ...object, key: [plan.realm] } : object,
  )
}

/** Returns the objects of which new sources declare what sources manage that are not read in this run. */
function findSharedObjects(parts: readonly SourcePart[], { otherSources, tenants }: PlanInput): SharedObjects[] {
  const newParts = parts.filter(({ isNew }) => isNew)
  const pairs = newParts.flatMap(({ source: newSource, desired }) =>
    otherSources.flatMap((row) => {
      const declaration = desired.objects.get(formatAddress(row.kind, row.key))
      const isShared = declaration && !tenants.has(row.source) && sharesFields(declaration, row)
      return isShared ? [{ newSource, source: row.source }] : []
    }),
  )
  const bySources = Map.groupBy(pairs, ({ newSource, source }) => JSON.stringify([newSource, source]))
  return [...bySources.values()].map((all) => ({ ...all[0]!, count: all.length }))
}

/** Returns the sources whose files were in another place at their last apply. */
function findMovedSources(parts: readonly SourcePart[]): MovedSource[] {
  return parts.flatMap(({ source, origin, formerOrigin }) =>
    origin !== undefined && formerOrigin !== undefined ? [{ source, from: formerOrigin, to: origin }] : [],
  )
}

/** Whether a source declares a field that another one manages, or both declare nothing but the name of the object. */
function sharesFields({ kind, fields, isReference }: DesiredObject, managed: ManagedObject): boolean {
  if (isReference) return false
  const { naturalKey } = kinds[kind]
  const managedFields = Object.entries(managed.fields).filter(([path]) => path !== naturalKey)
  const hasFields = [...fields].some(([path]) => path !== naturalKey)
  if (kind !== 'realm' && !hasFields && !managedFields.length) return true
  return managedFields.some(([path, value]) => {
    const declared = fields.get(path)
    if (!declared || !resolveField(kinds[kind], path).field.relation) return declared !== undefined
    const elements = readKeys(declared.value)
    return subtractKeys(elements, readKeys(value)).length < elements.length
  })
}

async function readFacts(
  context: Context,
  { plan, input, parts, heldPermissions }: PlanToGuard,
): Promise<GuardFacts & Pick<EvaluatedGuards, 'heldPermissions'>> {
  const sources = parts.map(({ source }) => source)
  const adopted = plan.creates ? [] : findAdoptedObjects(input)
  const users = filterAdoptedUsers(adopted).map(({ live }) => live.id!)
  return {
    ...(await findAdminGrants(context, { plan, input, adopted, heldPermissions })),
    size: isRealmDeletion(plan)
      ? { ...(await getRealmSize(context)), revision: getRevisionBefore(context) }
      : undefined,
    managedCount: countNotableDeletions(plan, input) ? await countManagedBy(context, sources) : undefined,
    recreated: await findRecreatedByOthers(context, input, sources),
    creators: users.length ? await findUserCreators(context, users) : undefined,
  }
}

/** Throws `stale` if a plan is blocked by a guard, or for an object, that did not block it when it was planned. */
export function requireSameGuards(planned: readonly Guard[], current: readonly Guard[]): void {
  const wasPlanned = ({ guard, revision, objects }: Guard) =>
    planned.some((earlier) => {
      const earlierObjects = new Set(earlier.objects)
      const isSame = earlier.guard === guard && earlier.revision === revision
      return isSame && objects.every((object) => earlierObjects.has(object))
    })
  const added = current.find((guard) => !wasPlanned(guard))
  if (added) throw failure('stale', `The plan needs an approval since the realm has changed: it ${added.message}.`)
}

/** Returns the revision of the realm before this transaction. Under the lock of the realm it is exact. */
function getRevisionBefore(context: Context | WriteContext): number {
  return 'version' in context ? context.version - 1 : context.realm.revision
}

/** Returns the recreated objects that none of the sources created. Two statements at most; none if there are none. */
async function findRecreatedByOthers(
  context: Context,
  input: PlanInput,
  sources: readonly string[],
): Promise<RecreationEvidence[]> {
  const recreated = [...findRecreated(input).values()]
  const entries = await findNamingEntries(
    context,
    recreated.map(({ live }) => ({ kind: live.kind, object: live.id! })),
  )
  return recreated
    .map((object) => ({ ...object, entry: entries.get(`${object.live.kind} ${object.live.id}`) }))
    .filter(({ entry }) => entry?.operation !== 'create' || !isOneOf(entry.actor.source, sources))
}

/** Whether a run, whose sources the journal names as a list, included one of these sources. */
function isOneOf(runSources: string | undefined, sources: readonly string[]): boolean {
  return runSources?.split(', ').some((source) => sources.includes(source)) === true
}
