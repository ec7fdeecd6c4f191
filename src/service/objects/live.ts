// Live objects: what is kept, as the service and everything above it sees it.
import { resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { relationValue } from '../../kinds/relations.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import { type StoredObject, selectEveryRealm, selectKeys, selectObjects } from '../../store/objects.ts'
import type { Context } from '../context/context.ts'

/** An object as it is. */
export interface LiveObject {
  readonly kind: KindName
  readonly id: string
  /** Number of the journal entry that last changed it. */
  readonly version: number
  readonly key: Key
  readonly parent?: { readonly kind: KindName; readonly id: string }
  /** Nested; references by natural key, relations as on the wire, secrets sealed. */
  readonly representation: Representation
  /** Ids of what it refers to, by path. */
  readonly references: Readonly<Record<string, string>>
}

/** What an object says of itself, whether it is kept or only stated. */
export type SaidObject = Pick<LiveObject, 'kind' | 'key' | 'representation'>

/** The objects of a kind, by natural key. */
export async function listObjects(context: Context, kind: KindName, filter: ObjectFilter): Promise<LiveObject[]> {
  return (await selectObjects(context.tx, context.realm.number, { kind, filter })).map((stored) =>
    alive(kinds[kind], stored),
  )
}

/** Every realm of the store, by name: for lists of realms only. One statement. */
export async function listEveryRealm({ tx }: Context): Promise<LiveObject[]> {
  return (await selectEveryRealm(tx)).map((stored) => alive(kinds.realm, stored))
}

/** Versions and natural keys of objects, by id. One statement. */
export async function versionsOf(
  context: Context,
  kind: KindName,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { version: number; key: Key }>> {
  const found = await selectKeys(context.tx, context.realm.number, { kind, filter: { ids } })
  return new Map(found.map(({ id, ...one }) => [id, one]))
}

function alive(kind: Kind, { id, version, key, parent, body, references, relations }: StoredObject): LiveObject {
  const named: Representation = {}
  for (const [path, to] of Object.entries(references)) {
    const { name, key: member } = resolve(kind, path)
    if (member === undefined) named[name] = to.key.at(-1)!
    else named[name] = { ...(named[name] as Representation | undefined), [member]: to.key.at(-1)! }
  }
  for (const [name, keys] of Object.entries(relations)) {
    const field = kind.fields[name]!
    // Keycloak: a role that contains nothing says nothing of it, where a client without client scopes has an empty list.
    if (keys.length || field.type === 'set') named[name] = relationValue(field, keys)
  }
  return {
    kind: kind.name,
    id,
    version,
    key,
    ...(parent && { parent }),
    representation: { [kind.naturalKey]: key.at(-1)!, ...body, ...named },
    references: Object.fromEntries(Object.entries(references).map(([path, to]) => [path, to.id])),
  }
}
