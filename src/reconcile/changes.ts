// The changes of one object, field by field: three values decide, what is stated, what was applied last, what is live. Pure.
import {
  creation,
  type FlatFields,
  isSecret,
  isWholeMap,
  keysOf,
  keysUnder,
  missing,
  resolve,
  same,
  valueAt,
} from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, Kind, KindName } from '../kinds/kind.ts'
import { address } from '../kinds/tree.ts'
import type { Attribution, Change, LeftAlone } from './action.ts'
import { beyond } from './beyond.ts'
import type { DriftPolicy, LiveState, Owned, Place, PlanInput, Stated } from './plan-input.ts'

/** The change of a stated field, if there is one. */
export function changeOf(
  input: PlanInput,
  kind: Kind,
  live: LiveState,
  owned: Owned | undefined,
  path: string,
  value: Json,
  origin: Place,
): Change[] {
  const current = valueAt(kind, live.fields, path)
  const last = owned?.fields[path]
  if (resolve(kind, path).field.once) {
    // Whoever is there already keeps their secrets: what is stated counts from its first change on.
    const keeps = isSecret(kind, path) && !input.credentialsOf?.has(live.id!)
    const before = last ?? (keeps ? value : current)
    return same(kind, path, value, before)
      ? []
      : [{ path, from: current, to: value, why: 'stated', position: origin.locate(path) }]
  }
  if (value === null && isWholeMap(kind, path)) {
    // A map that is stated as none loses every key that it has.
    return keysUnder(live.fields, path).map((key) => ({
      path: key,
      from: live.fields[key]!,
      to: null,
      why: 'stated' as const,
      position: origin.locate(path),
    }))
  }
  if (resolve(kind, path).field.relation)
    return relationChange(input, live, owned, path, keysOf(value), keysOf(current), last, origin)
  if (same(kind, path, value, current) || whyLeftAlone(input, kind, live, owned, path, value)) return []
  const drifted = last !== undefined && !same(kind, path, last, current)
  const by = drifted || last === undefined ? attribution(input, live, path) : undefined
  const why = drifted && same(kind, path, value, last) ? 'drift' : 'stated'
  return [{ path, from: current, to: value, why, ...(by && drifted && { by }), position: origin.locate(path) }]
}

/**
 * Owned element by element: what is stated and missing is added, what was applied and is stated no more is removed; where what is stated
 * is all, so is everything else.
 */
function relationChange(
  input: PlanInput,
  live: LiveState,
  owned: Owned | undefined,
  path: string,
  stated: readonly Key[],
  current: readonly Key[],
  last: Json | undefined,
  origin: Place,
): Change[] {
  const add = missing(stated, current)
  const dropped = missing(keysOf(last), stated).filter((key) => missing([key], current).length === 0)
  const more = missing(beyond(input, live, owned, path, stated, current), dropped)
  const remove = [...dropped, ...more]
  if (!add.length && !remove.length) return []
  // An element that had been applied and is stated still, but is not there: somebody removed it, as they added what is beyond.
  const drifted = last !== undefined && !dropped.length && missing(add, keysOf(last)).length === 0
  if (drifted && staysAsItIs(input, live, owned, path, current as unknown as Json)) return []
  const by = drifted ? attribution(input, live, path) : undefined
  return [{ path, add, remove, why: drifted ? 'drift' : 'stated', ...(by && { by }), position: origin.locate(path) }]
}

/** What of a stated object is not as it was applied, and stays so. */
export function fieldsLeftAlone(
  input: PlanInput,
  stated: Stated,
  live: LiveState,
  owned: Owned | undefined,
): LeftAlone[] {
  // Whoever changes an object marks what is owned of it: without a mark, and without what was left before, there is none.
  if (!owned?.marked && !owned?.drifted && !owned?.adopted) return []
  const kind = kinds[live.kind]
  return [...stated.fields].flatMap(([path, { value }]): LeftAlone[] => {
    const policy = whyLeftAlone(input, kind, live, owned, path, value)
    if (!policy) return []
    const by = attribution(input, live, path)
    const found = { kind: live.kind, key: stated.key, path, live: valueAt(kind, live.fields, path) }
    return [{ ...found, ...(policy === 'adopt' && { adopted: true as const }), ...(by && { by }) }]
  })
}

/** What was applied, is gone, and is not made again: it was somebody's own, or the source settles it so. */
export function objectLeftAlone(input: PlanInput, owned: Owned): LeftAlone[] {
  const { kind, key, object } = owned
  const by = input.changedBy(kind, object)
  const policy = by ? staying(input.policyOf(kind, key, undefined, by)) : leftBefore(kind, owned, '', null)
  return policy
    ? [{ kind, key, live: null, ...(policy === 'adopt' && { adopted: true as const }), ...(by && { by }) }]
    : []
}

/** By which policy a field stays that drifted, and is stated as it was applied. */
function whyLeftAlone(
  input: PlanInput,
  kind: Kind,
  live: LiveState,
  owned: Owned | undefined,
  path: string,
  value: Json,
): LeftBy | undefined {
  const { field } = resolve(kind, path)
  const last = owned?.fields[path]
  if (last === undefined || field.once) return undefined
  const current = valueAt(kind, live.fields, path)
  if (field.relation) {
    const differing = [
      ...missing(keysOf(value), keysOf(current)),
      ...beyond(input, live, owned, path, keysOf(value), keysOf(current)),
    ]
    const isNew = missing(keysOf(value), keysOf(last)).length > 0
    return differing.length > 0 && !isNew ? staysAsItIs(input, live, owned, path, current) : undefined
  }
  if (same(kind, path, value, current) || !same(kind, path, value, last)) return undefined
  return staysAsItIs(input, live, owned, path, current)
}

type LeftBy = Extract<DriftPolicy, 'report' | 'adopt'>

/** What was left alone before stays so until somebody changes it again, or the sources settle something else. */
function staysAsItIs(
  input: PlanInput,
  live: LiveState,
  owned: Owned | undefined,
  path: string,
  current: Json,
): LeftBy | undefined {
  if (!owned) return undefined
  const before = leftBefore(live.kind, owned, path, current)
  if (before && !input.resettled) return before
  if (!before && !owned.marked) return undefined
  return staying(input.policyOf(owned.kind, owned.key, path, attribution(input, live, path)))
}

function leftBefore(kind: KindName, { drifted, adopted }: Owned, path: string, current: Json): LeftBy | undefined {
  const isLeft = (values: Owned['drifted']) =>
    values?.[path] !== undefined && (path === '' ? true : same(kinds[kind], path, values[path], current))
  return isLeft(drifted) ? 'report' : isLeft(adopted) ? 'adopt' : undefined
}

function staying(policy: DriftPolicy): LeftBy | undefined {
  return policy === 'report' || policy === 'adopt' ? policy : undefined
}

/** Fields that this source stated and states no more: back to what creation would give, unless somebody changed them since. */
export function releases(
  input: PlanInput,
  kind: Kind,
  stated: Stated | undefined,
  live: LiveState,
  owned: Owned,
): Change[] {
  let known: FlatFields | undefined
  // Most objects state what they stated before, and nobody asks.
  const original = () =>
    (known ??= input.builtIn.get(address(live.kind, live.key)) ?? creationValues(kind, stated, live))
  return Object.entries(owned.fields).flatMap(([path, last]): Change[] => {
    const { field } = resolve(kind, path)
    const current = live.fields[path] ?? null
    if (
      field.once ||
      stated?.fields.has(path) ||
      stated?.masked.includes(path) ||
      path === kind.naturalKey ||
      isSecret(kind, path)
    )
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

function attribution(input: PlanInput, live: LiveState, path: string): Attribution | undefined {
  return live.id === undefined ? undefined : input.changedBy(live.kind, live.id, path)
}

function statedElsewhere(input: PlanInput, { kind, object }: Owned, path: string): boolean {
  return input.others.some((other) => other.kind === kind && other.object === object && path in other.fields)
}
