// Executes a plan, once, through the service: creations in dependency order, then changes, late fields, deletions.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { resolve } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { relationValue } from '../../kinds/relations.ts'
import { address, describe } from '../../kinds/tree.ts'
import { chunks } from '../../lib/chunks.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Problem } from '../../realm-file/yaml/problem.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { failure, isOfAll, ServiceError } from '../../service/context/errors.ts'
import { CHUNK } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import { type LiveObject, versionsOf } from '../../service/objects/live.ts'
import type { NewObject, Update } from '../../service/objects/writers.ts'
import { type Action, type FieldChange, isRelationChange, type RealmPlan, type ValueChange } from '../model/action.ts'
import type { DeclaredObject } from '../model/plan-input.ts'
import { formerKey } from '../model/renames.ts'
import { inDependencyOrder } from './dependencies.ts'

/** What a plan was made from: the stated objects, and the secrets that the plan shows as digests only. */
export interface Statement {
  readonly objects: ReadonlyMap<string, Pick<DeclaredObject, 'kind' | 'key' | 'renamedFrom'>>
  readonly secret: (address: string, path: string) => Json | undefined
}

/** An action that could not be done. */
export class ActionError extends Error {
  readonly action: Action
  constructor(action: Action, cause: unknown) {
    const reason = cause instanceof ServiceError ? cause.reason : undefined
    super(reason ?? messageOf(cause), { cause })
    this.action = action
  }

  /** What was to be done, and why it could not be, at its place in the documents. */
  get problems(): Problem[] {
    const { operation, kind, key, position } = this.action
    const message = `${operation} ${describe(kind, key)}: ${this.message}; nothing was changed`
    return position ? [{ position, message }] : []
  }
}

/** The objects that a plan's execution made or found, by address. */
export type Applied = ReadonlyMap<string, LiveObject>

/**
 * Executes the plan in the context's transaction. `stepwise`: one action at a time, so that a failure names it.
 * Throws `changed` where something that the plan knows is not as it was; ActionError when stepwise.
 */
export async function apply(
  context: WriteContext,
  plan: RealmPlan,
  statement: Statement,
  stepwise = false,
): Promise<Applied> {
  const live = await load(context, plan, statement)
  const known = new Map<string, string>()
  const knowing: WriteContext = { ...context, made: known }
  const run = async (
    actions: readonly Action[],
    work: (actions: readonly Action[]) => Promise<void>,
    size = actions.length,
  ): Promise<void> => {
    if (!stepwise) {
      for (const chunk of chunks(actions, size)) await work(chunk)
      return
    }
    for (const action of actions) {
      try {
        await work([action])
      } catch (error) {
        throw isOfAll(error) ? error : new ActionError(action, error)
      }
    }
  }
  const grouped = Map.groupBy(plan.actions, ({ operation, kind }) => `${operation} ${kind}`)
  const of = (operation: Action['operation'], kind: KindName) => grouped.get(`${operation} ${kind}`) ?? []
  const unfinished = creationOrder.filter(isFinishedLate).map((kind) => {
    const all = [...of('create', kind), ...of('update', kind)]
    return { kind, late: all.filter((action) => action.changes.some((one) => lateOf(action, one).late !== undefined)) }
  })
  const finish = async (which: (action: Action, change: FieldChange) => boolean) => {
    for (const { kind, late } of unfinished) {
      const due = late.filter((action) => action.changes.some((one) => which(action, one)))
      await run(due, (actions) => change(knowing, kind, actions, live, statement, which))
    }
  }
  for (const kind of creationOrder) {
    // A name that an object has by mistake may be wanted for a new one.
    const renamed = of('update', kind).filter((action) => action.changes.some((one) => isRename(action, one)))
    await run(renamed, (actions) => change(knowing, kind, actions, live, statement, isRename))
    const alone = !namesItsOwn(kind)
    const whole = isFinishedLate(kind) || eventsAreKept(context, plan, live)
    const created = of('create', kind)
    const create = async (actions: readonly Action[]) => {
      const made = await writers[kind].create(
        knowing,
        actions.map((action) => newObject(action, live, statement)),
      )
      for (const [at, object] of made.entries()) {
        const { key } = actions[at]!
        const id = address(kind, key)
        live.set(id, whole ? object : { ...object, key, representation: NOTHING, references: NONE })
        // People are many, and hardly anything names them.
        if (!kinds[kind].people) known.set(id, object.id)
      }
    }
    // Those who name each other are made together; of others, what a chunk takes is free when the next one begins.
    await run(alone ? created : inDependencyOrder(created), create, alone ? CHUNK : undefined)
    await run(of('update', kind), (actions) => change(knowing, kind, actions, live, statement, isEarly))
    await finish((action, one) => lateOf(action, one).late === 'soon' && lateOf(action, one).refersTo === kind)
  }
  await finish((action, one) => lateOf(action, one).late === true)
  for (const kind of creationOrder.toReversed()) {
    await run(of('delete', kind), (actions) =>
      writers[kind].delete(
        knowing,
        actions.map((action) => live.get(addressOf(action))!),
      ),
    )
  }
  return live
}

/** What is made and not touched again needs to be known by its id and its key only. */
const NOTHING: Representation = {}
const NONE: LiveObject['references'] = {}

/** Whether the realm keeps admin events, or does so once the plan is carried out: they show each object. */
export function eventsAreKept({ realm }: WriteContext, plan: RealmPlan, live: Applied): boolean {
  const now = live.get(address('realm', [plan.realm]))
  return realm.adminEventsEnabled || now?.representation.adminEventsEnabled === true
}

/** Whether objects of a kind have fields that are set when others are made. */
function isFinishedLate(kind: KindName): boolean {
  return Object.values(kinds[kind].fields).some(({ late }) => late !== undefined)
}

/** Whether objects of a kind may name, or belong to, others of the kind. */
function namesItsOwn(kind: KindName): boolean {
  const { fields, naturalKey, nameField } = kinds[kind]
  const all = Object.values(fields).flatMap((field) => [field, ...Object.values(field.members ?? {})])
  // Whose natural key is a path belongs to what the path begins with.
  return naturalKey !== nameField || all.some(({ refersTo }) => refersTo === kind)
}

/** The live objects that actions are about, by the address under which the plan speaks of them. Two statements per kind. */
async function load(context: WriteContext, plan: RealmPlan, { objects }: Statement): Promise<Map<string, LiveObject>> {
  const live = new Map<string, LiveObject>()
  const stated = Map.groupBy(plan.creates ? objects.values() : [], ({ kind }) => kind)
  for (const kind of creationOrder) {
    const ids = plan.actions.flatMap((one) => (one.kind === kind && one.operation !== 'create' ? (one.id ?? []) : []))
    const parents = plan.actions
      .filter((one) => one.operation === 'create' && one.key[0] === kind && one.key.length > 1)
      .map(({ key }) => key.slice(1, -1))
    // Built-in objects of a realm that was made just now are known by their keys only.
    const keys = (stated.get(kind) ?? []).flatMap(keysOf).filter((key) => isBuiltIn(plan.realm, kind, key))
    const wanted = ids.length + keys.length + parents.length > 0
    const found = wanted ? await writers[kind].list(context, { ids, keys: [...keys, ...parents] }) : []
    for (const object of found) live.set(address(kind, object.key), object)
    for (const one of stated.get(kind) ?? []) {
      const known = keysOf(one).flatMap((key) => live.get(address(kind, key)) ?? [])[0]
      if (known) live.set(address(kind, one.key), known)
    }
    await refuseChanged(context, kind, plan, found)
  }
  // The plan binds to the id: where somebody renamed an object, it speaks of it by the key that it had then.
  const byId = new Map([...live.values()].map((object) => [`${object.kind} ${object.id}`, object]))
  for (const action of plan.actions) {
    const object = byId.get(`${action.kind} ${action.id}`)
    if (object && action.operation !== 'create') live.set(addressOf(action), object)
  }
  return live
}

/** Throws `changed` where an object that the plan counts on is not as it was. One statement, for those that were not found already. */
async function refuseChanged(
  context: WriteContext,
  kind: KindName,
  plan: RealmPlan,
  found: readonly LiveObject[],
): Promise<void> {
  const known = plan.preconditions.filter((one) => one.kind === kind)
  if (!known.length) return
  const here = new Map(found.map(({ id, version, key }) => [id, { version, key }]))
  const others = known.map(({ id }) => id).filter((id) => !here.has(id))
  const now = new Map([...here, ...(others.length ? await versionsOf(context, kind, others) : [])])
  const moved = known.find(({ id, version }) => now.get(id)?.version !== version)
  if (!moved) return
  const name = now.get(moved.id)?.key.at(-1) ?? moved.id
  throw failure('changed', `${kinds[kind].title} ${name} has changed since the plan was made`)
}

/** The keys under which a built-in object of a new realm may be found: it may be stated as it is to be called. */
const keysOf = (stated: Pick<DeclaredObject, 'kind' | 'key' | 'renamedFrom'>): Key[] => [
  stated.key,
  ...[formerKey(stated) ?? []].filter(({ length }) => length),
]

function newObject(action: Action, live: ReadonlyMap<string, LiveObject>, statement: Statement): NewObject {
  const kind = kinds[action.kind]
  const representation: Representation = { [kind.naturalKey]: action.key.at(-1)! }
  for (const change of action.changes.filter((one) => isEarly(action, one))) {
    const { name, key, field } = resolve(kind, change.path)
    const value = isRelationChange(change) ? relationValue(field, change.add) : secretOr(action, change, statement)
    if (key === undefined) representation[name] = value
    else representation[name] = { ...(representation[name] as Representation | undefined), [key]: value }
  }
  const parent =
    action.key.length > 1 ? live.get(address(action.key[0] as KindName, action.key.slice(1, -1))) : undefined
  return {
    id: action.id,
    representation,
    ...(parent && { parent: { kind: parent.kind, id: parent.id, key: parent.key } }),
  }
}

async function change(
  context: WriteContext,
  kind: KindName,
  actions: readonly Action[],
  live: Map<string, LiveObject>,
  statement: Statement,
  which: (action: Action, change: FieldChange) => boolean,
): Promise<void> {
  const updates = actions.map((action): Update => {
    const changes = action.changes.filter((one) => which(action, one))
    const relations = changes.filter(isRelationChange)
    const values = changes.filter((one): one is ValueChange => !isRelationChange(one))
    return {
      live: live.get(addressOf(action))!,
      set: Object.fromEntries(values.map((one) => [one.path, secretOr(action, one, statement)])),
      relations: Object.fromEntries(relations.map(({ path, add, remove }) => [path, { add, remove }])),
    }
  })
  const written = updates.filter(
    ({ set, relations }) => Object.keys(set).length + Object.keys(relations ?? {}).length > 0,
  )
  const updated = written.length ? await writers[kind].update(context, written) : []
  const byId = new Map(updated.map((object) => [object.id, object]))
  for (const action of actions) {
    const before = live.get(addressOf(action))!
    const object = byId.get(before.id)
    if (!object) continue
    if (before.key.at(-1) !== object.key.at(-1)) renameChildren(live, [kind, ...before.key], [kind, ...object.key])
    // A rename: the plan speaks of the object by its old key, the documents by the new one.
    live.set(addressOf(action), object)
    live.set(address(kind, object.key), object)
  }
}

/** Those that belong to an object that is called otherwise now: what they say of each other is looked up by its name. */
function renameChildren(live: Map<string, LiveObject>, from: Key, to: Key): void {
  for (const [place, { key, ...child }] of live) {
    if (key.length > from.length && from.every((step, at) => key[at] === step))
      live.set(place, { ...child, key: [...to, ...key.slice(from.length)] })
  }
}

function secretOr(action: Action, { path, to }: ValueChange, statement: Statement): Json {
  return statement.secret(addressOf(action), path) ?? to
}

function addressOf({ kind, key }: Action): string {
  return address(kind, key)
}

function lateOf({ kind }: Action, { path }: FieldChange): Pick<Field, 'late' | 'refersTo'> {
  return resolve(kinds[kind], path).field
}

function isRename({ kind }: Action, { path }: FieldChange): boolean {
  return path === kinds[kind].naturalKey
}

function isEarly(action: Action, change: FieldChange): boolean {
  return lateOf(action, change).late === undefined && (action.operation === 'create' || !isRename(action, change))
}
