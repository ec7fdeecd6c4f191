// Live objects: what the store contains, in the form that the service and all layers above it use.
import { resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { toRelationValue } from '../../kinds/relations.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import { type StoredObject, selectAllRealms, selectKeys, selectObjects } from '../../store/objects.ts'
import type { RealmRow } from '../../store/realms.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { cacheLargeValues, getUserValue } from '../context/realm-values.ts'

/** An object in the store. */
export interface LiveObject {
  readonly kind: KindName
  readonly id: string
  /** Number of the journal entry that last changed it. */
  readonly version: number
  readonly key: Key
  readonly parent?: { readonly kind: KindName; readonly id: string }
  /** Nested; references by natural key, relations as on the wire, secrets sealed. */
  readonly representation: Representation
  /** Ids of the referenced objects, by path. */
  readonly references: Readonly<Record<string, string>>
}

/** The representation of an object with its kind and key, whether the object is live or only declared. */
export type ObjectRepresentation = Pick<LiveObject, 'kind' | 'key' | 'representation'>

/** Lists of objects of the configuration. */
const getCachedObjects = cacheLargeValues<readonly LiveObject[]>(({ length }) => length)

/** Returns the objects of a kind that match a filter, by natural key. One statement, or none where a read finds them in the cache. */
export async function listObjects(context: Context, kind: KindName, filter: ObjectFilter): Promise<LiveObject[]> {
  const load = async () => {
    const stored = await selectObjects(context.tx, context.realm.number, { kind, filter })
    return stored.map((object) => toLiveObject(kinds[kind], object))
  }
  if (!context.cached) return load()
  if (kinds[kind].isUserData) return kind === 'user' ? listUsers(context, filter, load) : load()
  return [...(await getCachedObjects(context, `${kind} ${JSON.stringify(filter)}`, load))]
}

/** Returns users. A user by id is cached; changes of users do not change the revision of the realm, but are announced. */
async function listUsers(
  context: Context,
  filter: ObjectFilter,
  load: () => Promise<LiveObject[]>,
): Promise<LiveObject[]> {
  const { ids, ...otherFilters } = filter
  const [id, ...otherIds] = ids ?? []
  if (id === undefined || otherIds.length || Object.keys(otherFilters).length) return load()
  const user = await getUserValue(context, { user: id, value: 'object' }, async () => (await load())[0])
  return user ? [user] : []
}

/** Realms by the rows that their contexts have, which are read again when a realm has changed. */
const realms = new WeakMap<RealmRow, LiveObject>()

/** Returns the realm of the context with its settings; undefined if it has just been deleted. One statement for all calls of a write. */
export async function findLiveRealm(context: Context | WriteContext): Promise<LiveObject | undefined> {
  const isChanged = 'entries' in context && (context.flushedEntries > 0 || context.entries.some(isAboutRealm))
  const cached = isChanged ? undefined : realms.get(context.realm)
  if (cached) return cached
  const [realm] = await listObjects(context, 'realm', {})
  if (realm && !isChanged) realms.set(context.realm, realm)
  return realm
}

const isAboutRealm = ({ kind }: { readonly kind: string }): boolean => kind === 'realm'

/** Returns every realm of the store, by name: for lists of realms only. One statement. */
export async function listEveryRealm({ tx }: Context): Promise<LiveObject[]> {
  return (await selectAllRealms(tx)).map((stored) => toLiveObject(kinds.realm, stored))
}

/** Returns the versions and natural keys of objects, by id. One statement. */
export async function getVersions(
  context: Context,
  kind: KindName,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly version: number; readonly key: Key }>> {
  const rows = await selectKeys(context.tx, context.realm.number, { kind, filter: { ids } })
  return new Map(rows.map(({ id, ...versionAndKey }) => [id, versionAndKey]))
}

function toLiveObject(kind: Kind, stored: StoredObject): LiveObject {
  const { id, version, key, parent, body, references, relations } = stored
  return {
    kind: kind.name,
    id,
    version,
    key,
    ...(parent && { parent }),
    representation: {
      [kind.naturalKey]: key.at(-1)!,
      ...body,
      ...toReferenceFields(kind, references),
      ...toRelationFields(kind, relations),
    },
    references: Object.fromEntries(Object.entries(references).map(([path, target]) => [path, target.id])),
  }
}

/** Returns the fields of an object that name other objects, nested. */
function toReferenceFields(kind: Kind, references: StoredObject['references']): Representation {
  const fields: Representation = {}
  for (const [path, target] of Object.entries(references)) {
    const { name, key: member } = resolveField(kind, path)
    const targetName = target.key.at(-1)!
    fields[name] = member === undefined ? targetName : { ...readObject(fields[name]), [member]: targetName }
  }
  return fields
}

/** Keycloak: a role without composites has no such member, whereas a client without client scopes has an empty list. */
function toRelationFields(kind: Kind, relations: StoredObject['relations']): Representation {
  const present = Object.entries(relations).filter(([name, keys]) => keys.length || kind.fields[name]!.type === 'set')
  return Object.fromEntries(present.map(([name, keys]) => [name, toRelationValue(kind.fields[name]!, keys)]))
}
