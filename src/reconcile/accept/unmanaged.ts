// What nobody states: live objects that are no source's and did not come with the realm.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { creationOrder } from '../../kinds/order.ts'
import { address } from '../../kinds/tree.ts'
import { following } from '../../realm-file/export/following.ts'
import { minimal, type WrittenObject } from '../../realm-file/export/minimal.ts'
import { writtenOf } from '../../realm-file/export/render.ts'
import type { Context } from '../../service/context/context.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { entriesOf } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { demand, may } from '../../service/permissions/administrators.ts'
import { ownedObjects, peopleOfNobody } from '../../service/sources/sources.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'

/** An object that nobody states. */
export interface UnmanagedObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string
  /** Who made it, where the journal still knows. */
  readonly by?: Attribution
}

/** Objects of a realm that no source declares. */
export interface Unmanaged {
  readonly realm: string
  /** Without the children of objects that are in the list. */
  readonly objects: readonly UnmanagedObject[]
  /** The number of users that no source declares; `objects` has them only where the caller asks for users. */
  readonly users: number
}

/** Returns the objects that no source declares, of one realm or of all that the caller may see. A few statements per kind and realm. */
export async function findUnmanaged(
  service: Service,
  caller: Caller,
  { realm, users = false }: { realm?: string | undefined; users?: boolean | undefined },
): Promise<Unmanaged[]> {
  const found: Unmanaged[] = []
  if (realm !== undefined) found.push(await service.read(caller, realm, (context) => unmanagedIn(context, users)))
  else
    for (const { name } of await service.realms()) found.push(...(await mayBeUnmanaged(service, caller, name, users)))
  return found.filter((one) => one.objects.length || one.users)
}

/** Nothing where the caller may not see it. */
async function mayBeUnmanaged(service: Service, caller: Caller, realm: string, users: boolean): Promise<Unmanaged[]> {
  return service.read(caller, realm, async (context) =>
    may(context, 'administer-realm') ? [await unmanagedIn(context, users)] : [],
  )
}

async function unmanagedIn(context: Context, users: boolean): Promise<Unmanaged> {
  const { live, of } = await ofNobody(context, users)
  const all = new Set(of.map(({ kind, key }) => address(kind, key)))
  const tops = of.filter(({ kind, key }) => key.length === 1 || !all.has(parentOf(key)) || kinds[kind].people)
  const objects = tops.map(({ kind, key }) => ({ kind, key, id: live.get(address(kind, key))!.id }))
  const made = (
    await entriesOf(
      context,
      objects.map(({ kind, id }) => ({ kind, object: id })),
    )
  ).filter(({ operation }) => operation === 'create')
  const maker = blame(made)
  return {
    realm: context.realm.name,
    objects: objects.map((one) => {
      const by = maker(one.kind, one.id)
      return { ...one, ...(by && { by }) }
    }),
    users: await peopleOfNobody(context),
  }
}

/** What is live, as its creation would need it, and what of it nobody states. */
export interface OfNobody {
  readonly live: ReadonlyMap<string, LiveObject>
  /** Every object, with all of its fields. */
  readonly written: ReadonlyMap<string, WrittenObject>
  /** What must be stated to have the realm again. */
  readonly needed: readonly WrittenObject[]
  readonly of: readonly WrittenObject[]
}

/** Reads the realm, with its users or without. A few statements per kind. */
export async function ofNobody(context: Context, users: boolean): Promise<OfNobody> {
  demand(context, 'administer-realm')
  const read = creationOrder.filter((kind) => users || !kinds[kind].people)
  const objects: LiveObject[] = []
  for (const kind of read) objects.push(...(await writers[kind].list(context, {})))
  const owned = new Set((await ownedObjects(context, read)).map(({ kind, object }) => `${kind} ${object}`))
  const live = new Map(objects.map((one) => [address(one.kind, one.key), one]))
  const written = objects.map((one) => writtenOf(context, one, {}))
  const needed = minimal(context.realm.name, written, following(objects))
  const says = ({ kind, key, fields }: WrittenObject) =>
    Object.keys(fields).length > 1 || !isBuiltIn(context.realm.name, kind, key)
  return {
    live,
    written: new Map(written.map((one) => [address(one.kind, one.key), one])),
    needed,
    of: needed.filter((one) => says(one) && !owned.has(`${one.kind} ${live.get(address(one.kind, one.key))!.id}`)),
  }
}

/** The address of what an object belongs to, which is not the realm. */
export function parentOf(key: Key): string {
  return address(key[0] as KindName, key.slice(1, -1))
}
