// The effect of an update on an object: new and previous values, and changed elements of relations. Pure.
import {
  type FlatFields,
  findDifferences,
  flatten,
  lowerCaseTexts,
  readKeys,
  subtractKeys,
  unflatten,
} from '../../kinds/compare.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, Kind } from '../../kinds/kind.ts'
import type { Context } from '../context/context.ts'
import { mapSecrets, sealSecrets } from '../context/secrets.ts'
import type { LiveObject } from './live-objects.ts'
import { type ReferenceIds, toReferenceIds } from './references.ts'
import type { ObjectUpdate } from './writers.ts'

/** An update reduced to what it changes in the object. */
export interface ResolvedUpdate {
  readonly live: LiveObject
  /** The new values of changed fields, except of relations. */
  readonly set: FlatFields
  /** All fields after the update, secrets sealed. */
  readonly fields: FlatFields
  /** The previous values of changed fields, secrets as digests. */
  readonly before: FlatFields
  /** The new values of the same fields, secrets as digests. */
  readonly after: FlatFields
  readonly relations: readonly RelationUpdate[]
  readonly hasChanges: boolean
}

/** The change of a relation. */
interface RelationUpdate {
  readonly field: string
  readonly before: readonly Key[]
  readonly add: readonly Key[]
  readonly remove: readonly Key[]
}

/** Reduces an update to what it changes in the live object. */
export function resolveUpdate(
  { vault }: Context,
  kind: Kind,
  { live, set, relations = {} }: ObjectUpdate,
): ResolvedUpdate {
  const stored = flatten(kind, live.representation)
  const current = mapSecrets(kind, stored, (secret) => vault.open(secret))
  const differences = findDifferences(kind, current, lowerCaseTexts(kind, set))
  const newValues = Object.fromEntries(differences.map(({ path, to }) => [path, to]))
  const relationUpdates = resolveRelations(kind, current, relations)
  const relationsBefore = Object.fromEntries(relationUpdates.map(({ field, before }) => [field, before]))
  const relationsAfter = Object.fromEntries(relationUpdates.map((update) => [update.field, applyTo(update)]))
  const oldValues = Object.fromEntries(differences.map(({ path, from }) => [path, from]))
  const withDigests = (fields: FlatFields) => mapSecrets(kind, fields, (secret) => vault.digest(secret))
  return {
    live,
    set: newValues,
    fields: { ...stored, ...sealSecrets(vault, kind, newValues), ...relationsAfter },
    before: withDigests({ ...oldValues, ...relationsBefore }),
    after: withDigests({ ...newValues, ...relationsAfter }),
    relations: relationUpdates,
    hasChanges: differences.length + relationUpdates.length > 0,
  }
}

/** Returns the relations that lose or get elements. */
function resolveRelations(
  kind: Kind,
  current: FlatFields,
  relations: NonNullable<ObjectUpdate['relations']>,
): RelationUpdate[] {
  return Object.entries(withExclusions(kind, relations))
    .map(([field, { add = [], remove = [] }]) => {
      const before = readKeys(current[field])
      return {
        field,
        before,
        // A document may declare an element that the service adds as well.
        add: subtractKeys(distinct(add), before),
        remove: remove.filter((key) => subtractKeys([key], before).length === 0),
      }
    })
    .filter(({ add, remove }) => add.length || remove.length)
}

function applyTo({ before, add, remove }: RelationUpdate): Json {
  return [...subtractKeys(before, remove), ...add]
}

function distinct(keys: readonly Key[]): Key[] {
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()]
}

/** Removes elements that are added to a relation from the one that is exclusive with it. */
function withExclusions(
  kind: Kind,
  relations: NonNullable<ObjectUpdate['relations']>,
): NonNullable<ObjectUpdate['relations']> {
  const complete: Record<string, { add?: readonly Key[]; remove?: readonly Key[] }> = { ...relations }
  for (const [field, { add = [] }] of Object.entries(relations)) {
    const exclusive = kind.fields[field]!.exclusiveWith
    if (exclusive === undefined || !add.length) continue
    complete[exclusive] = { ...complete[exclusive], remove: [...(complete[exclusive]?.remove ?? []), ...add] }
  }
  return complete
}

/** Returns the object after an update that has this version. */
export function toUpdatedObject(
  kind: Kind,
  update: ResolvedUpdate,
  { version, ids }: { readonly version: number; readonly ids: ReferenceIds },
): LiveObject {
  const { live, fields } = update
  const key = [...live.key.slice(0, -1), String(fields[kind.naturalKey])]
  const references = toUpdatedReferences(kind, update, ids)
  return { ...live, version, key, representation: unflatten(kind, fields), references }
}

/** Returns the ids of referenced objects after an update, by path. */
export function toUpdatedReferences(
  kind: Kind,
  { live, set }: ResolvedUpdate,
  ids: ReferenceIds,
): Record<string, string> {
  const unchanged = Object.entries(live.references).filter(([path]) => !(path in set))
  return { ...Object.fromEntries(unchanged), ...toReferenceIds(kind, set, ids) }
}
