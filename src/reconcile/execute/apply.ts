// Applies a plan once, through the service: creations in dependency order, then updates, late fields, deletions.
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import { chunks } from '../../lib/chunks.ts'
import { hasProgressListener, reportProgress } from '../../lib/timing/progress.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { CHUNK_SIZE } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { startWorkflowsOnChanges } from '../../service/workflows/activation.ts'
import type { Action, RealmPlan } from '../model/action.ts'
import type { ObjectDeclaration } from '../model/plan-input.ts'
import { loadObjects } from './load-objects.ts'
import { StepFailures } from './step-failures.ts'
import {
  type AppliedState,
  type ChangeFilter,
  getLateness,
  isEarly,
  isRename,
  sortByDependencies,
  toNewObject,
  writeChanges,
} from './write-objects.ts'

/** The declared objects of a plan by address, and the secrets that the plan contains as digests only. */
export interface DeclaredState {
  readonly objects: ReadonlyMap<string, Pick<ObjectDeclaration, 'kind' | 'key' | 'renamedFrom'>>
  readonly findSecret: (address: string, path: string) => Json | undefined
}

/** The plan to apply. */
export interface ApplyInput {
  readonly plan: RealmPlan
  readonly declared: DeclaredState
  /** Whether to apply one action at a time, so that failures name their actions. The transaction must then be rolled back. */
  readonly isStepwise?: boolean
  /** Whether the transaction will be rolled back, since it only shows the consequences of the plan. */
  readonly isDryRun?: boolean | undefined
}

/** The objects that a plan created, updated or deleted, by address. */
export type AppliedObjects = ReadonlyMap<string, LiveObject>

/**
 * Applies a plan in the context's transaction. Throws `stale` if a precondition of the plan fails, and ActionError if an action
 * fails in a stepwise apply.
 */
export async function apply(context: WriteContext, input: ApplyInput): Promise<AppliedObjects> {
  const run = await startApply(context, input)
  for (const kind of creationOrder) {
    await renameObjects(run, kind)
    await createObjects(run, kind)
    await updateObjects(run, kind)
    await writeFieldsAfterTarget(run, kind)
  }
  await writeLateFields(run)
  for (const kind of creationOrder.toReversed()) await deleteObjects(run, kind)
  run.failures?.throwFirst()
  await startWorkflowsOnChanges(context, { isImport: true })
  return run.live
}

/** An apply in progress. */
interface ApplyRun extends AppliedState {
  readonly plan: RealmPlan
  readonly isDryRun: boolean
  /** The failures of a stepwise apply. */
  readonly failures: StepFailures | undefined
  /** Ids of created objects by address. */
  readonly createdIds: Map<string, string>
  /** The actions by operation and kind. */
  readonly actions: ReadonlyMap<string, readonly Action[]>
  /** The actions with late fields, by kind. */
  readonly lateActions: readonly (readonly Action[])[]
}

async function startApply(
  context: WriteContext,
  { plan, declared, isStepwise = false, isDryRun = false }: ApplyInput,
): Promise<ApplyRun> {
  const live = await loadObjects(context, plan, declared.objects)
  const createdIds = new Map<string, string>()
  const actions = Map.groupBy(plan.actions, ({ operation, kind }) => `${operation} ${kind}`)
  const hasLateChange = (action: Action) =>
    action.changes.some((change) => getLateness(action, change).late !== undefined)
  return {
    context: { ...context, knownIds: createdIds, accountIds: listAccountIds(actions.get('create user')) },
    live,
    findSecret: declared.findSecret,
    plan,
    isDryRun,
    failures: isStepwise ? new StepFailures(context, plan) : undefined,
    createdIds,
    actions,
    lateActions: creationOrder.filter(hasLateFields).map((kind) => {
      const written = [...(actions.get(`create ${kind}`) ?? []), ...(actions.get(`update ${kind}`) ?? [])]
      return written.filter(hasLateChange)
    }),
  }
}

/** Returns the declared ids of service accounts, which their clients create, by username. */
function listAccountIds(creations: readonly Action[] = []): ReadonlyMap<string, string> {
  return new Map(
    creations.flatMap(({ id, key: [username] }) =>
      id !== undefined && username!.startsWith(SERVICE_ACCOUNT_PREFIX) ? [[username!, id]] : [],
    ),
  )
}

/** Renames objects first, since a new object may get a name that another one gives up. */
async function renameObjects(run: ApplyRun, kind: KindName): Promise<void> {
  const renamed = listActions(run, 'update', kind).filter((action) =>
    action.changes.some((change) => isRename(action, change)),
  )
  await execute(run, { phase: 'rename', actions: renamed }, (actions) => writeChanges(run, actions, isRename))
}

/** Creates the objects of a kind. Objects that refer to each other are created in one call, others chunk by chunk. */
async function createObjects(run: ApplyRun, kind: KindName): Promise<void> {
  const { context, live, createdIds } = run
  const needsContent = hasLateFields(kind) || recordsAdminEvents(context, run.plan, live)
  const create = async (actions: readonly Action[]) => {
    const created = await writers[kind].create(
      context,
      actions.map((action) => toNewObject(run, action)),
    )
    for (const [index, object] of created.entries()) {
      const { key } = actions[index]!
      const id = formatAddress(kind, key)
      live.set(id, needsContent ? object : { ...object, key, representation: NO_FIELDS, references: NO_REFERENCES })
      // Users may be many, and hardly anything refers to them.
      if (!kinds[kind].isUserData) createdIds.set(id, object.id)
    }
  }
  const actions = listActions(run, 'create', kind)
  const batch = refersToItself(kind) ? { actions: sortByDependencies(actions) } : { actions, isChunked: true as const }
  await execute(run, { phase: 'create', ...batch }, create)
}

async function updateObjects(run: ApplyRun, kind: KindName): Promise<void> {
  await execute(run, { phase: 'update', actions: listActions(run, 'update', kind) }, (actions) =>
    writeChanges(run, actions, isEarly),
  )
}

/** Writes the fields that refer to objects of a kind, which exist now, and that later kinds need. */
async function writeFieldsAfterTarget(run: ApplyRun, kind: KindName): Promise<void> {
  await writeLate(run, (action, change) => {
    const { late, refersTo } = getLateness(action, change)
    return late === 'afterTarget' && refersTo === kind
  })
}

/** Writes the remaining late fields, since all objects exist now. */
async function writeLateFields(run: ApplyRun): Promise<void> {
  await writeLate(run, (action, change) => getLateness(action, change).late === true)
}

async function deleteObjects(run: ApplyRun, kind: KindName): Promise<void> {
  await execute(run, { phase: 'delete', actions: listActions(run, 'delete', kind) }, (actions) =>
    writers[kind].delete(
      run.context,
      actions.map((action) => run.live.get(formatAddress(action.kind, action.key))!),
    ),
  )
}

/** Writes the late changes that a filter lets pass. */
async function writeLate(run: ApplyRun, isIncluded: ChangeFilter): Promise<void> {
  for (const lateActions of run.lateActions) {
    const due = lateActions.filter((action) => action.changes.some((change) => isIncluded(action, change)))
    await execute(run, { phase: 'update', actions: due }, (actions) => writeChanges(run, actions, isIncluded))
  }
}

/** Actions on objects of one kind that are executed together. */
interface ActionBatch {
  readonly phase: 'rename' | 'create' | 'update' | 'delete'
  readonly actions: readonly Action[]
  /** Whether they are independent, so that they are executed in chunks. */
  readonly isChunked?: true
}

/** Objects that are written at a time if a listener waits for progress. */
const REPORTED_CHUNK_SIZE = 1_000

/** Executes actions in chunks, and reports progress; in a stepwise apply one by one. */
async function execute(
  { failures, plan, isDryRun }: ApplyRun,
  { phase, actions, isChunked }: ActionBatch,
  work: (actions: readonly Action[]) => Promise<void>,
): Promise<void> {
  const [first] = actions
  if (!first) return
  if (failures) {
    for (const action of actions) await failures.attempt(action, () => work([action]))
    return
  }
  const total = actions.length
  const about = { phase, realm: plan.realm, kind: first.kind, ...(isDryRun && { dryRun: true as const }), total }
  const chunkSize = hasProgressListener() ? REPORTED_CHUNK_SIZE : CHUNK_SIZE
  let done = 0
  for (const chunk of chunks(actions, isChunked ? chunkSize : total)) {
    await reportProgress({ ...about, done })
    await work(chunk)
    done += chunk.length
  }
  await reportProgress({ ...about, done })
}

function listActions({ actions }: ApplyRun, operation: Action['operation'], kind: KindName): readonly Action[] {
  return actions.get(`${operation} ${kind}`) ?? []
}

/** Of created objects that no later step needs, only id and key are retained. */
const NO_FIELDS: Representation = {}
const NO_REFERENCES: LiveObject['references'] = {}

/** Whether the realm records admin events, before or after the plan: they contain each object. */
export function recordsAdminEvents({ realm }: WriteContext, plan: RealmPlan, live: AppliedObjects): boolean {
  const after = live.get(formatAddress('realm', [plan.realm]))
  return realm.adminEventsEnabled || after?.representation.adminEventsEnabled === true
}

/** Whether objects of a kind have fields that are written after other objects. */
function hasLateFields(kind: KindName): boolean {
  return Object.values(kinds[kind].fields).some(({ late }) => late !== undefined)
}

/** Whether objects of a kind may refer to others of the same kind, or be their children, as paths of groups are. */
function refersToItself(kind: KindName): boolean {
  const { fields, naturalKey, nameField } = kinds[kind]
  const all = Object.values(fields).flatMap((field) => [field, ...Object.values(field.members ?? {})])
  return naturalKey !== nameField || all.some(({ refersTo }) => refersTo === kind)
}
