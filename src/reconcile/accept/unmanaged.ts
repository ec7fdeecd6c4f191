// Finds unmanaged objects: live objects that no source declares and that are not built in.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { creationOrder } from '../../kinds/creation-order.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { findParent, formatAddress } from '../../kinds/tree.ts'
import { getCreationEffects } from '../../realm-file/export/creation-effects.ts'
import { toExportedObject } from '../../realm-file/export/export-realm.ts'
import { type ExportedObject, minimizeObjects } from '../../realm-file/export/minimize-objects.ts'
import type { Context } from '../../service/context/context.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { listLatestEntries } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { isPermitted, requirePermissions } from '../../service/permissions/require-permissions.ts'
import { countUsersWithoutSource, listManagedObjects } from '../../service/sources/source-records.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'

/** An object that no source declares. */
export interface UnmanagedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string
  /** The creator, if the journal still has the entry. */
  readonly by?: Attribution
}

/** Objects of a realm that no source declares. */
export interface UnmanagedObjects {
  readonly realm: string
  /** Without the children of objects that are in the list. */
  readonly objects: readonly UnmanagedObject[]
  /** The number of users that no source declares; `objects` has them only where the caller requests users. */
  readonly users: number
}

/**
 * Lists the objects that no source declares, of one realm or of all that the caller may see. Realms without such objects are omitted.
 * A few statements per kind and realm.
 */
export async function listUnmanaged(
  service: Service,
  caller: Caller,
  { realm, users = false }: { realm?: string | undefined; users?: boolean | undefined },
): Promise<UnmanagedObjects[]> {
  const realms: UnmanagedObjects[] = []
  if (realm !== undefined)
    realms.push(await service.read(caller, realm, (context) => listUnmanagedInRealm(context, users)))
  else
    for (const { name } of await service.listRealms()) {
      const unmanaged = await service.read(caller, name, async (context) =>
        isPermitted(context, 'administer-realm') ? listUnmanagedInRealm(context, users) : undefined,
      )
      if (unmanaged) realms.push(unmanaged)
    }
  return realms.filter((unmanaged) => unmanaged.objects.length || unmanaged.users)
}

async function listUnmanagedInRealm(context: Context, users: boolean): Promise<UnmanagedObjects> {
  requirePermissions(context, 'administer-realm')
  const { live, unmanaged } = await readRealmContent(context, users)
  const addresses = new Set(unmanaged.map(({ kind, key }) => formatAddress(kind, key)))
  const objects = unmanaged
    .filter(({ kind, key }) => {
      const parent = findParent(key)
      return !parent || !addresses.has(formatAddress(parent.kind, parent.key)) || kinds[kind].isUserData
    })
    .map(({ kind, key }) => ({ kind, key, id: live.get(formatAddress(kind, key))!.id }))
  const entries = await listLatestEntries(
    context,
    objects.map(({ kind, id }) => ({ kind, object: id })),
  )
  const findCreator = blame(entries.filter(({ operation }) => operation === 'create'))
  return {
    realm: context.realm.name,
    objects: objects.map((object) => {
      const by = findCreator(object.kind, object.id)
      return { ...object, ...(by && { by }) }
    }),
    users: await countUsersWithoutSource(context),
  }
}

/** The objects of a realm, live and as an export would write them. The keys of maps are addresses. */
export interface RealmContent {
  readonly live: ReadonlyMap<string, LiveObject>
  /** All objects, with all of their fields. */
  readonly exported: ReadonlyMap<string, ExportedObject>
  /** The objects and fields that a document needs to create the realm again. */
  readonly minimal: readonly ExportedObject[]
  /** The minimal objects that no source declares. */
  readonly unmanaged: readonly ExportedObject[]
}

/** Reads a realm, with its users or without. A few statements per kind. */
export async function readRealmContent(context: Context, users: boolean): Promise<RealmContent> {
  const realm = context.realm.name
  const kindNames = creationOrder.filter((kind) => users || !kinds[kind].isUserData)
  const objects: LiveObject[] = []
  for (const kind of kindNames) objects.push(...(await writers[kind].list(context, {})))
  const managed = new Set((await listManagedObjects(context, kindNames)).map(({ kind, object }) => `${kind} ${object}`))
  const live = new Map(objects.map((object) => [formatAddress(object.kind, object.key), object]))
  const exported = objects.map((object) => toExportedObject(context, object, {}))
  const minimal = minimizeObjects(realm, exported, getCreationEffects(objects))
  return {
    live,
    exported: new Map(exported.map((object) => [formatAddress(object.kind, object.key), object])),
    minimal,
    unmanaged: minimal.filter(({ kind, key, fields }) => {
      // A built-in object with nothing but its name is as every realm has it.
      if (Object.keys(fields).length <= 1 && isBuiltIn(realm, kind, key)) return false
      return !managed.has(`${kind} ${live.get(formatAddress(kind, key))!.id}`)
    }),
  }
}
