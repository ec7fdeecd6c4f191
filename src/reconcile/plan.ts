// Compares what is stated with what is live. Pure: the same input gives the same plan.
import { creation, type FlatFields, isSecret, missing, resolve, same } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { address, describe } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'

/** Who changed something, and when: from the journal. */
export interface Attribution {
  readonly who: string
  readonly client?: string | undefined
  readonly address?: string | undefined
  readonly at: string
}

/** One field of an action. A relation has `add` and `remove` instead of `from` and `to`. Secrets are digests. */
export interface Change {
  readonly path: string
  readonly from?: Json
  readonly to?: Json
  readonly add?: readonly Key[]
  readonly remove?: readonly Key[]
  /** `stated`: a document says so; `drift`: somebody changed what a document says; `released`: no document says it any more. */
  readonly why: 'stated' | 'drift' | 'released'
  /** Whose change this puts back or overwrites. */
  readonly by?: Attribution
  readonly position?: Position
}

/** What is to be done to one object. */
export interface Action {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly key: Key
  /** The live object; of a creation, the id that is wished. */
  readonly id?: string
  readonly version?: number
  readonly changes: readonly Change[]
  /** Of a creation: it was there, and somebody deleted it. */
  readonly lost?: Attribution
  readonly position?: Position
}

/** Something a person should know that is no change. */
export interface Note {
  readonly message: string
  readonly position?: Position
}

/** The comparison of one realm. */
export interface RealmPlan {
  readonly realm: string
  /** Whether the realm itself is new. */
  readonly creates: boolean
  readonly actions: readonly Action[]
  readonly notes: readonly Note[]
  /** Live objects that the plan counts on, with their versions. */
  readonly knows: readonly { readonly kind: KindName; readonly id: string; readonly version: number }[]
}

/** A live object as it is compared: secrets as digests. */
export interface LiveState {
  readonly kind: KindName
  readonly key: Key
  /** Absent where the object will be there once the realm is made. */
  readonly id?: string
  readonly version?: number
  readonly fields: FlatFields
}

/** What one source owns of one object. */
export interface Owned {
  readonly kind: KindName
  readonly object: string
  readonly key: Key
  readonly fields: FlatFields
  readonly file: string
  readonly line: number
  /** Somebody else has changed the object since. */
  readonly marked: boolean
}

/** A stated object, as `desired.ts` gives it. */
export interface Stated {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  readonly fields: ReadonlyMap<
    string,
    {
      readonly value: Json
      readonly position: Position
      /** Where the value of the path names an object of that key. */
      readonly locate: (path: string, key: Key) => Position
    }
  >
  readonly masked: readonly string[]
  readonly position: Position
}

/** Everything that a plan is made of. */
export interface PlanInput {
  readonly realm: string
  readonly exists: boolean
  readonly stated: ReadonlyMap<string, Stated>
  readonly unmanaged: readonly { readonly field: string; readonly position: Position }[]
  readonly live: readonly LiveState[]
  /** The keys of all live objects of kinds that a reference misses: what may have been meant. */
  readonly names: ReadonlyMap<KindName, readonly Key[]>
  /** What this source owns, and what the others do. */
  readonly owned: readonly Owned[]
  readonly others: readonly (Owned & { readonly source: string })[]
  /** What a new realm has, by address: never pruned, and where released fields go back to. */
  readonly builtIn: ReadonlyMap<string, FlatFields>
  /** Who last changed the path of a live or deleted object. */
  readonly changedBy: (kind: KindName, id: string, path?: string) => Attribution | undefined
}

/** The plan. Actions come in the order in which they stand in the documents. */
export function plan(input: PlanInput): RealmPlan {
  const byId = new Map(input.live.filter((one) => one.id).map((one) => [`${one.kind} ${one.id}`, one]))
  const byAddress = new Map(input.live.map((one) => [address(one.kind, one.key), one]))
  const ownedByAddress = new Map(input.owned.map((one) => [address(one.kind, one.key), one]))
  const bound = new Set<LiveState>()
  const actions: Action[] = []
  for (const [id, stated] of input.stated) {
    const owned = ownedByAddress.get(id)
    const live = (owned && byId.get(`${owned.kind} ${owned.object}`)) ?? byAddress.get(id)
    if (live) bound.add(live)
    const action = live ? update(input, stated, live, owned) : create(input, stated, owned)
    if (action) actions.push(action)
  }
  const gone = input.owned.filter((one) => !input.stated.has(address(one.kind, one.key)))
  actions.push(...gone.flatMap((one) => abandon(input, one, byId.get(`${one.kind} ${one.object}`), bound)))
  return {
    realm: input.realm,
    creates: !input.exists,
    actions,
    notes: notes(input),
    knows: input.live.filter(({ id }) => id).map(({ kind, id, version }) => ({ kind, id: id!, version: version! })),
  }
}

function create(input: PlanInput, stated: Stated, owned: Owned | undefined): Action {
  const kind = kinds[stated.kind]
  const changes = [...stated.fields]
    .filter(([, { value }]) => value !== null)
    .map(([path, { value, position }]): Change => {
      const { field } = resolve(kind, path)
      return field.relation
        ? { path, add: value as unknown as Key[], why: 'stated', position }
        : { path, from: null, to: value, why: 'stated', position }
    })
  const lost = owned && input.changedBy(stated.kind, owned.object)
  return {
    operation: 'create',
    kind: stated.kind,
    key: stated.key,
    ...(stated.id !== undefined && { id: stated.id }),
    changes,
    ...(lost && { lost }),
    position: stated.position,
  }
}

function update(input: PlanInput, stated: Stated, live: LiveState, owned: Owned | undefined): Action | undefined {
  const kind = kinds[stated.kind]
  const changes = [
    ...[...stated.fields].flatMap(([path, { value, position }]) =>
      changeOf(input, kind, live, owned, path, value, position),
    ),
    ...(owned ? releases(input, kind, stated, live, owned) : []),
  ]
  if (!changes.length) return undefined
  return { ...actionOn('update', live), changes, position: stated.position }
}

function changeOf(
  input: PlanInput,
  kind: Kind,
  live: LiveState,
  owned: Owned | undefined,
  path: string,
  value: Json,
  position: Position,
): Change[] {
  const current = live.fields[path] ?? null
  const last = owned?.fields[path]
  if (resolve(kind, path).field.relation)
    return relationChange(input, live, path, keysOf(value), keysOf(current), keysOf(last), position)
  if (same(kind, path, value, current)) return []
  const drifted = last !== undefined && !same(kind, path, last, current)
  const by = drifted || last === undefined ? attribution(input, live, path) : undefined
  const why = drifted && same(kind, path, value, last) ? 'drift' : 'stated'
  return [{ path, from: current, to: value, why, ...(by && drifted && { by }), position }]
}

/** Owned element by element: what is stated and missing is added, what was applied and is stated no more is removed. */
function relationChange(
  input: PlanInput,
  live: LiveState,
  path: string,
  stated: readonly Key[],
  current: readonly Key[],
  last: readonly Key[],
  position: Position,
): Change[] {
  const add = missing(stated, current)
  const dropped = missing(last, stated)
  const remove = dropped.filter((key) => missing([key], current).length === 0)
  if (!add.length && !remove.length) return []
  // An element that had been applied and is stated still, but is not there: somebody removed it.
  const drifted = add.length > 0 && !remove.length && missing(add, last).length === 0
  const by = drifted ? attribution(input, live, path) : undefined
  return [{ path, add, remove, why: drifted ? 'drift' : 'stated', ...(by && { by }), position }]
}

/** Fields that this source stated and states no more: back to what creation would give, unless somebody changed them since. */
function releases(input: PlanInput, kind: Kind, stated: Stated | undefined, live: LiveState, owned: Owned): Change[] {
  let known: FlatFields | undefined
  // Most objects state what they stated before, and nobody asks.
  const original = () =>
    (known ??= input.builtIn.get(address(live.kind, live.key)) ?? creationValues(kind, stated, live))
  return Object.entries(owned.fields).flatMap(([path, last]): Change[] => {
    const { field } = resolve(kind, path)
    const current = live.fields[path] ?? null
    if (stated?.fields.has(path) || stated?.masked.includes(path) || path === kind.naturalKey || isSecret(kind, path))
      return []
    if (statedElsewhere(input, owned, path)) return []
    if (field.relation) {
      const remove = keysOf(last).filter(
        (key) => missing([key], keysOf(current)).length === 0 && missing([key], keysOf(original()[path])).length > 0,
      )
      return remove.length ? [{ path, add: [], remove, why: 'released' }] : []
    }
    const to = original()[path] ?? null
    return same(kind, path, last, current) && !same(kind, path, to, current)
      ? [{ path, from: current, to, why: 'released' }]
      : []
  })
}

/** What creation gives with the fields that are still stated. */
function creationValues(kind: Kind, stated: Stated | undefined, live: LiveState): FlatFields {
  const fields = Object.fromEntries([...(stated?.fields ?? [])].map(([path, { value }]) => [path, value]))
  return creation(kind, { [kind.naturalKey]: live.key.at(-1)!, ...fields })
}

/** An object that this source stated and states no more. */
function abandon(input: PlanInput, owned: Owned, live: LiveState | undefined, bound: ReadonlySet<LiveState>): Action[] {
  if (!live || bound.has(live)) return []
  if (input.others.some((other) => other.kind === owned.kind && other.object === owned.object)) return []
  if (owned.kind === 'realm' || input.builtIn.has(address(live.kind, live.key))) {
    const changes = releases(input, kinds[owned.kind], undefined, live, owned)
    return changes.length ? [{ ...actionOn('update', live), changes }] : []
  }
  return [{ ...actionOn('delete', live), changes: [] }]
}

function actionOn(operation: 'update' | 'delete', live: LiveState): Omit<Action, 'changes'> {
  const { kind, key, id, version } = live
  return { operation, kind, key, ...(id !== undefined && { id }), ...(version !== undefined && { version }) }
}

function attribution(input: PlanInput, live: LiveState, path: string): Attribution | undefined {
  return live.id === undefined ? undefined : input.changedBy(live.kind, live.id, path)
}

function statedElsewhere(input: PlanInput, { kind, object }: Owned, path: string): boolean {
  return input.others.some((other) => other.kind === kind && other.object === object && path in other.fields)
}

function keysOf(value: Json | undefined): Key[] {
  return (value ?? []) as unknown as Key[]
}

function notes({ unmanaged, stated }: PlanInput): Note[] {
  const masked = [...stated.values()].flatMap((one) =>
    one.masked
      .filter((path) => !one.fields.has(path))
      .map((path) => ({
        message: `${describe(one.kind, one.key)}: ${path} is masked; what is there stays`,
        position: one.position,
      })),
  )
  return [
    ...unmanaged.map(({ field, position }) => ({
      message: `${field} is not managed by this version and left alone`,
      position,
    })),
    ...masked,
  ]
}
