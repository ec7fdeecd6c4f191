// What REST does with the objects of a kind: the verbs, and how addresses lead to objects.

import type { Representation } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { type ErrorCode, failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import type { NewObject } from '../../objects/writers.ts'
import type { Permission } from '../../permissions/administrators.ts'

/** Which object is meant: its name in the address, and that of the object that it belongs to. */
export interface Place {
  readonly id: string
  readonly owner?: string
}

/** What an address leads through: what it has of a place. */
export type Way = { readonly [field in keyof Place]?: string | undefined }

/** Parameters of a list, as texts; each resource knows its own. */
export type Query = Readonly<Record<string, unknown>>

/** The verbs of REST for the objects of a kind. Each demands its permission and throws not_found in the words of the kind. */
export interface Resource {
  readonly kind: KindName
  readonly view: Permission
  readonly manage: Permission
  /** Who may ask for a list, of which they see what they may view. Absent: who may view. */
  readonly search?: Permission
  /** Throws unless the objects are there that an address leads through. Absent: it leads through none. */
  reach?(context: Context, way: Way): Promise<void>
  list(context: Context, place: Omit<Place, 'id'>, query: Query): Promise<Representation[]>
  get(context: Context, place: Place): Promise<Representation>
  /** Gives what the new object is called in its address. */
  create(context: WriteContext, place: Omit<Place, 'id'>, body: Representation): Promise<string>
  replace(context: WriteContext, place: Place, body: Representation): Promise<void>
  delete(context: WriteContext, place: Place): Promise<void>
}

/** Finds an object of the realm by its id. */
export function byId(kind: KindName, notFound: string) {
  return (context: Context, { id }: Place): Promise<LiveObject> => getObject(context, kind, id, notFound)
}

/** Finds an object by its id under what it belongs to. */
export function byIdIn(
  kind: KindName,
  owner: (context: Context, name: string) => Promise<LiveObject>,
  absent: ErrorCode,
  message: string,
) {
  return async (context: Context, place: Place): Promise<LiveObject> => {
    const found = await findIn(context, await owner(context, place.owner!), kind, place.id)
    if (!found) throw failure(absent, message)
    return found
  }
}

/** The object with that id. Throws not_found. */
export async function getObject(context: Context, kind: KindName, id: string, notFound: string): Promise<LiveObject> {
  const [found] = await writers[kind].list(context, { ids: [id] })
  if (!found) throw failure('not_found', notFound)
  return found
}

/** An object as the parent of something new in it. */
export function parentOf({ kind, id, key }: LiveObject): NonNullable<NewObject['parent']> {
  return { kind, id, key }
}

/** The object with that id that belongs to another; undefined where that has no such one. */
export async function findIn(
  context: Context,
  owner: LiveObject,
  kind: KindName,
  id: string,
): Promise<LiveObject | undefined> {
  const [found] = await writers[kind].list(context, { ids: [id] })
  return found?.parent?.id === owner.id ? found : undefined
}

/** A body as an object to make: an id in it is a wish. */
export function newObject({ id, ...representation }: Representation): NewObject {
  return { ...(typeof id === 'string' && id !== '' && { id }), representation }
}
