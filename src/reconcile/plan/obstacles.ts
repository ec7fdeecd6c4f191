// What keeps a plan from being carried out: conflicts with other sources, and references that lead nowhere. Pure.

import { type FlatFields, resolve, same } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address, describe } from '../../kinds/tree.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Position } from '../../lib/position.ts'
import type { RealmPlan } from '../model/action.ts'
import type { DeclaredObject, PlanInput } from '../model/plan-input.ts'
import { isStatedAgain, references } from '../model/references.ts'
import { formerKey } from '../model/renames.ts'

/** Something that stands in the way of a plan. */
export interface Obstacle {
  readonly position: Position
  readonly message: string
}

/** What stands in the way of the plan that was made of the input. */
export function obstacles(input: PlanInput, made: RealmPlan): Obstacle[] {
  const missing = missingRealm(input)
  if (missing) return [missing]
  return [
    ...conflicts(input),
    ...danglings(input, made),
    ...needed(input, made),
    ...onlyNamed(input, made),
    ...statedTwice(input),
  ]
}

/** What was called otherwise is not stated under that name too. */
function statedTwice({ declared: stated }: PlanInput): Obstacle[] {
  return [...stated.values()].flatMap((one): Obstacle[] => {
    const former = formerKey(one)
    if (!former || !stated.has(address(one.kind, former))) return []
    const message = `${describe(one.kind, one.key)}: ${describe(one.kind, former)} is stated too: leave out renamedFrom, or that`
    return [{ position: one.origin.position, message }]
  })
}

/** What belongs to a realm never makes it: its name may be a slip. */
function missingRealm({ exists, named, realm }: PlanInput): Obstacle | undefined {
  if (exists || !named) return undefined
  const message = `realm ${realm} is not there, and no document of this source states it: state it, or correct the name`
  return { position: named, message }
}

/** Fields that another source states differently. It is not read now: it can only veto. */
function conflicts(input: PlanInput): Obstacle[] {
  const others = Map.groupBy(input.otherSources, (one) => address(one.kind, one.key))
  return [...input.declared].flatMap(([id, stated]) =>
    (others.get(id) ?? []).flatMap((other) =>
      [...stated.fields].flatMap(([path, { value, origin }]): Obstacle[] => {
        const kind = kinds[stated.kind]
        const theirs = other.fields[path]
        const { field } = resolve(kind, path)
        // A hash does not tell which password it is of.
        if (theirs === undefined || field.relation || (field.once && field.secret)) return []
        if (same(kind, path, value, theirs)) return []
        const where = `source ${other.source}, ${other.file}:${other.line}`
        const name = describe(stated.kind, stated.key)
        return [
          {
            position: origin.locate(path),
            message: `${name}: ${path} is stated differently by ${where}: state it once, or twice the same; if that is this source where it stood before, name it with --name ${other.source}, or have that one called as this one: regent source rename`,
          },
        ]
      }),
    ),
  )
}

/** What would be deleted, and another source counts on. It is not read now: it can only veto. */
function needed(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  const deleted = new Map(
    actions
      .filter(({ operation }) => operation === 'delete')
      .map(({ kind, key }) => [address(kind, key), { kind, key }]),
  )
  if (!deleted.size) return []
  const stoodAt = new Map(
    input.managed.map((row) => [address(row.kind, row.key), { file: row.file, line: row.line, column: 1 }]),
  )
  return input.otherSources.flatMap((other) =>
    Object.entries(other.fields)
      .flatMap(([path, value]) => references(kinds[other.kind], other.key, path, value))
      .flatMap(({ to, key }): Obstacle[] => {
        if (!deleted.has(address(to, key))) return []
        const who = `${describe(other.kind, other.key)} of source ${other.source}`
        const stood = stoodAt.get(address(to, key))
        return [
          {
            ...(stood && { other: stood }),
            position: { file: other.file, line: other.line, column: 1 },
            message: `${who} needs ${describe(to, key)}, which would be deleted, since no document states it any more: state it again, or change that first`,
          },
        ]
      }),
  )
}

/** References to what is neither stated nor live, or will not be any more. */
function danglings(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  const addressOf = ({ kind, key }: { kind: KindName; key: Key }) => address(kind, key)
  const deleted = new Set(actions.filter(({ operation }) => operation === 'delete').map(addressOf))
  const there = new Set([...input.declared.keys(), ...input.live.map(addressOf).filter((one) => !deleted.has(one))])
  const unmarked = new Map(input.managed.filter(({ marked }) => !marked).map((row) => [addressOf(row), row.fields]))
  // Many objects may miss the same one.
  const advices = new Map<string, string>()
  return [...input.declared].flatMap(([own, stated]) => {
    // What was applied leads somewhere, unless that is to go now.
    const isSettled = input.isSettled(own)
    if (isSettled && !deleted.size) return []
    return referred(stated, unmarked.get(own)).flatMap(({ from, to, key, settled, position }): Obstacle[] => {
      const id = address(to, key)
      if (isSettled || settled ? !deleted.has(id) : there.has(id)) return []
      if (!advices.has(id)) advices.set(id, advice(input, to, key, deleted.has(id)))
      return [{ position: position(), message: `${from}${advices.get(id)}` }]
    })
  })
}

/** What documents name without stating it must be there. */
function onlyNamed(input: PlanInput, { actions }: RealmPlan): Obstacle[] {
  return actions.flatMap(({ operation, kind, key }): Obstacle[] => {
    const stated = input.declared.get(address(kind, key))
    if (operation !== 'create' || !stated?.named) return []
    const message = `${describe(kind, key)} is named here, and is neither stated nor live${instead(input, kind, key)}`
    return [{ position: stated.origin.position, message }]
  })
}

interface Reference {
  /** The beginning of a message about it: what refers. */
  readonly from: string
  readonly to: KindName
  readonly key: Key
  /** It was applied as it is stated, and nobody has changed the object since: what it names is there. */
  readonly settled: boolean
  readonly position: () => Position
}

function referred({ kind, key, fields, origin }: DeclaredObject, applied: FlatFields | undefined): Reference[] {
  const name = describe(kind, key)
  const parent = {
    from: name,
    to: key[0] as KindName,
    key: key.slice(1, -1),
    settled: applied !== undefined,
    position: () => origin.parentPosition,
  }
  const own = [...fields].flatMap(([field, { value, origin }]) => {
    const settled = isStatedAgain(applied, field, value)
    return references(kinds[kind], key, field, value).map((one) => ({
      ...one,
      from: `${name}: ${field}`,
      settled,
      position: () => origin.locate(field, one.key),
    }))
  })
  return key.length > 1 ? [parent, ...own] : own
}

function advice(input: PlanInput, to: KindName, key: Key, deleted: boolean): string {
  if (key.at(-1) === '') return ` names no ${kinds[to].title}: write its name, or null for none`
  const target = ` needs ${describe(to, key)}, which`
  if (deleted) return `${target} no document states any more: state it again, or do without it`
  return `${target} is neither stated nor live${instead(input, to, key)}`
}

/** What to do about a name that nothing has. */
function instead(input: PlanInput, to: KindName, key: Key): string {
  const made = [...input.declared.values()].filter(({ named }) => !named)
  const all = [
    ...[...made, ...input.live].filter(({ kind }) => kind === to).map((one) => one.key),
    ...(input.names.get(to) ?? []),
  ]
  const parent = JSON.stringify(key.slice(0, -1))
  const siblings = all.filter((one) => JSON.stringify(one.slice(0, -1)) === parent).map((one) => one.at(-1)!)
  const near = nearest(key.at(-1)!, siblings)
  return near === undefined ? ': state it, or do without it' : `; did you mean ${near}?`
}
