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
} from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { address } from '../../kinds/tree.ts'
import { declaresRoles } from '../../kinds/user.ts'
import type { Attribution, FieldChange, IgnoredDrift } from '../model/action.ts'
import type {
  DeclaredObject,
  DriftPolicy,
  LiveState,
  ManagedObject,
  PlanInput,
  SourcePosition,
} from '../model/plan-input.ts'
import { beyond } from './beyond.ts'

/** The change of a stated field, if there is one. */
export function changesOfField(
  input: PlanInput,
  kind: Kind,
  live: LiveState,
  owned: ManagedObject | undefined,
  path: string,
  value: Json,
  origin: SourcePosition,
): FieldChange[] {
  const current = valueAt(kind, live.fields, path)
  const last = owned?.fields[path]
  if (resolve(kind, path).field.once) {
    // Whoever is there already keeps their secrets: what is stated counts from its first change on.
    const keeps = isSecret(kind, path) && !input.credentialsOf?.has(live.id!)
    const before = last ?? (keeps ? value : current)
    return same(kind, path, value, before)
      ? []
      : [{ path, from: current, to: value, reason: 'declared', position: origin.locate(path) }]
  }
  if (value === null && isWholeMap(kind, path)) {
    // A map that is stated as none loses every key that it has.
    return keysUnder(live.fields, path).map((key) => ({
      path: key,
      from: live.fields[key]!,
      to: null,
      reason: 'declared' as const,
      position: origin.locate(path),
    }))
  }
  if (resolve(kind, path).field.relation)
    return relationChange(input, live, owned, path, keysOf(value), keysOf(current), last, origin)
  if (same(kind, path, value, current) || ignoringPolicy(input, kind, live, owned, path, value)) return []
  const drifted = last !== undefined && !same(kind, path, last, current)
  const by = drifted || last === undefined ? attribution(input, live, path) : undefined
  const why = drifted && same(kind, path, value, last) ? 'drift' : 'declared'
  return [{ path, from: current, to: value, reason: why, ...(by && drifted && { by }), position: origin.locate(path) }]
}

/**
 * Owned element by element: what is stated and missing is added, what was applied and is stated no more is removed; where what is stated
 * is all, so is everything else.
 */
function relationChange(
  input: PlanInput,
  live: LiveState,
  owned: ManagedObject | undefined,
  path: string,
  stated: readonly Key[],
  current: readonly Key[],
  last: Json | undefined,
  origin: SourcePosition,
): FieldChange[] {
  const add = missing(stated, current)
  const dropped = missing(keysOf(last), stated).filter((key) => missing([key], current).length === 0)
  const more = missing(beyond(input, live, owned, path, stated, current), dropped)
  const remove = [...dropped, ...more]
  if (!add.length && !remove.length) return []
  // An element that had been applied and is stated still, but is not there: somebody removed it, as they added what is beyond.
  const drifted = last !== undefined && !dropped.length && missing(add, keysOf(last)).length === 0
  if (drifted && policyThatIgnores(input, live, owned, path, current)) return []
  const by = drifted ? attribution(input, live, path) : undefined
  return [
    { path, add, remove, reason: drifted ? 'drift' : 'declared', ...(by && { by }), position: origin.locate(path) },
  ]
}

/** What of a stated object is not as it was applied, and stays so. */
export function findIgnoredFieldDrift(
  input: PlanInput,
  stated: DeclaredObject,
  live: LiveState,
  owned: ManagedObject | undefined,
): IgnoredDrift[] {
  // Whoever changes an object marks what is owned of it: without a mark, and without what was left before, there is none.
  if (!owned?.marked && !owned?.drifted && !owned?.accepted) return []
  const kind = kinds[live.kind]
  return [...stated.fields].flatMap(([path, { value }]): IgnoredDrift[] => {
    const policy = ignoringPolicy(input, kind, live, owned, path, value)
    if (!policy) return []
    const by = attribution(input, live, path)
    const found = { kind: live.kind, key: stated.key, path, live: valueAt(kind, live.fields, path) }
    return [{ ...found, ...(policy === 'accept' && { accepted: true as const }), ...(by && { by }) }]
  })
}

/** What was applied, is gone, and is not made again: it was somebody's own, or the source settles it so. */
export function findIgnoredObjectDrift(input: PlanInput, owned: ManagedObject): IgnoredDrift[] {
  const { kind, key, object } = owned
  const by = input.changedBy(kind, object)
  const policy = by ? staying(input.policyOf(kind, key, undefined, by)) : previouslyIgnoredBy(kind, owned, '', null)
  return policy
    ? [{ kind, key, live: null, ...(policy === 'accept' && { accepted: true as const }), ...(by && { by }) }]
    : []
}

/** By which policy a field stays that drifted, and is stated as it was applied. */
function ignoringPolicy(
  input: PlanInput,
  kind: Kind,
  live: LiveState,
  owned: ManagedObject | undefined,
  path: string,
  value: Json,
): IgnoringPolicy | undefined {
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
    return differing.length > 0 && !isNew ? policyThatIgnores(input, live, owned, path, current) : undefined
  }
  if (same(kind, path, value, current) || !same(kind, path, value, last)) return undefined
  return policyThatIgnores(input, live, owned, path, current)
}

type IgnoringPolicy = Extract<DriftPolicy, 'report' | 'accept'>

/** What was left alone before stays so until somebody changes it again, or the sources settle something else. */
function policyThatIgnores(
  input: PlanInput,
  live: LiveState,
  owned: ManagedObject | undefined,
  path: string,
  current: Json,
): IgnoringPolicy | undefined {
  if (!owned) return undefined
  const before = previouslyIgnoredBy(live.kind, owned, path, current)
  if (before && !input.resettled) return before
  if (!before && !owned.marked) return undefined
  return staying(input.policyOf(owned.kind, owned.key, path, attribution(input, live, path)))
}

function previouslyIgnoredBy(
  kind: KindName,
  { drifted, accepted }: ManagedObject,
  path: string,
  current: Json,
): IgnoringPolicy | undefined {
  const isLeft = (values: ManagedObject['drifted']) =>
    values?.[path] !== undefined && (path === '' ? true : same(kinds[kind], path, values[path], current))
  return isLeft(drifted) ? 'report' : isLeft(accepted) ? 'accept' : undefined
}

function staying(policy: DriftPolicy): IgnoringPolicy | undefined {
  return policy === 'report' || policy === 'accept' ? policy : undefined
}

/** Fields that this source stated and states no more: back to what creation would give, unless somebody changed them since. */
export function releases(
  input: PlanInput,
  kind: Kind,
  stated: DeclaredObject | undefined,
  live: LiveState,
  owned: ManagedObject,
): FieldChange[] {
  let known: FlatFields | undefined
  // Most objects state what they stated before, and nobody asks.
  const original = () =>
    (known ??= input.builtIn.get(address(live.kind, live.key)) ?? creationValues(input, kind, stated, live))
  return Object.entries(owned.fields).flatMap(([path, last]): FieldChange[] => {
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
      return remove.length ? [{ path, add: [], remove, reason: 'undeclared' }] : []
    }
    const to = original()[path] ?? null
    return same(kind, path, last, current) && !same(kind, path, to, current)
      ? [{ path, from: current, to, reason: 'undeclared' }]
      : []
  })
}

/** What creation gives with the fields that are still stated. */
function creationValues(
  { defaultRole }: PlanInput,
  kind: Kind,
  stated: DeclaredObject | undefined,
  live: LiveState,
): FlatFields {
  const fields = Object.fromEntries([...(stated?.fields ?? [])].map(([path, { value }]) => [path, value]))
  const getsDefaultRole = kind.name === 'user' && defaultRole !== undefined && !declaresRoles(fields)
  return creation(kind, {
    [kind.naturalKey]: live.key.at(-1)!,
    ...(getsDefaultRole && { realmRoles: [[defaultRole]] }),
    ...fields,
  })
}

function attribution(input: PlanInput, live: LiveState, path: string): Attribution | undefined {
  return live.id === undefined ? undefined : input.changedBy(live.kind, live.id, path)
}

function statedElsewhere(input: PlanInput, { kind, object }: ManagedObject, path: string): boolean {
  return input.otherSources.some((other) => other.kind === kind && other.object === object && path in other.fields)
}
