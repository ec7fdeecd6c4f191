// What REST does with the objects of a kind. A resource that is special takes the verbs of a plain one and adds its own.
import { kinds } from '../../kinds/index.ts'
import type { KindName, Representation } from '../../kinds/kind.ts'
import { childrenInside } from '../../kinds/nested.ts'
import { demand, type Permission } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import { writers } from '../index.ts'
import type { LiveObject } from '../live.ts'
import type { NewObject } from '../objects.ts'
import { type Present, present, presentAll } from '../present.ts'
import { named, replacement, withoutNulls } from '../put.ts'

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
  /** Throws unless the objects are there that an address leads through. Absent: it leads through none. */
  reach?(context: Context, way: Way): Promise<void>
  list(context: Context, place: Omit<Place, 'id'>, query: Query): Promise<Representation[]>
  get(context: Context, place: Place): Promise<Representation>
  /** Gives what the new object is called in its address. */
  create(context: WriteContext, place: Omit<Place, 'id'>, body: Representation): Promise<string>
  replace(context: WriteContext, place: Place, body: Representation): Promise<void>
  delete(context: WriteContext, place: Place): Promise<void>
}

/** What a plain resource needs to know. */
export interface ResourceDescription {
  readonly kind: KindName
  readonly view: Permission
  readonly manage: Permission
  /** The object that an address names. Throws where there is none. */
  readonly find: (context: Context, place: Place) => Promise<LiveObject>
  /** What the objects under an address belong to. Throws where that is not there. Absent: the realm. */
  readonly owner?: (context: Context, name: string) => Promise<LiveObject>
  /** What a body states. Throws where it cannot be. Absent: all but its nulls. */
  readonly read?: (body: Representation) => Representation
  readonly present?: Present
  /** What is made of the children in the body of a new object. */
  readonly nested?: (child: Representation) => Representation
}

/** The resource of a kind, with nothing special about it: its objects belong to the realm, or to what the address says. */
export function plainResource(description: ResourceDescription): Resource {
  const { kind, view, manage, find, read = withoutNulls, present: show = present } = description
  const ownerOf = async (context: Context, { owner }: Way) => description.owner?.(context, owner!)
  return {
    kind,
    view,
    manage,
    async reach(context, { owner, id }) {
      demand(context, manage)
      if (owner !== undefined) await ownerOf(context, { owner })
      else if (id !== undefined) await find(context, { id })
    },
    async list(context, place) {
      demand(context, view)
      const owner = await ownerOf(context, place)
      const filter = owner ? { parents: { kind: owner.kind, ids: [owner.id] } } : {}
      return presentAll(context, kind, await writers[kind].list(context, filter), show)
    },
    async get(context, place) {
      demand(context, view)
      return (await presentAll(context, kind, [await find(context, place)], show))[0]!
    },
    async create(context, place, body) {
      demand(context, manage)
      const owner = await ownerOf(context, place)
      return (await createWithChildren(context, description, read(body), owner)).id
    },
    async replace(context, place, body) {
      demand(context, manage)
      const live = await find(context, place)
      await writers[kind].update(context, [{ live, set: replacement(live, await named(context, kind, read(body))) }])
    },
    async delete(context, place) {
      demand(context, manage)
      await writers[kind].delete(context, [await find(context, place)])
    },
  }
}

/** Finds an object of the realm by its id. */
export function byId(kind: KindName, notFound: string) {
  return (context: Context, { id }: Place): Promise<LiveObject> => getObject(context, kind, id, notFound)
}

/** The object with that id. Throws not_found. */
export async function getObject(context: Context, kind: KindName, id: string, notFound: string): Promise<LiveObject> {
  const [found] = await writers[kind].list(context, { ids: [id] })
  if (!found) throw failure('not_found', notFound)
  return found
}

/** Makes an object and the children that stand in its body. Statements: some per kind of children. */
async function createWithChildren(
  context: WriteContext,
  { kind, nested = (child) => child }: ResourceDescription,
  body: Representation,
  owner: LiveObject | undefined,
): Promise<LiveObject> {
  const children = childrenInside(kinds[kind])
  const isChildren = (field: string) => children.some(([name]) => name === field)
  const own = Object.fromEntries(Object.entries(body).filter(([field]) => !isChildren(field)))
  const [made] = await writers[kind].create(context, [
    { ...newObject(await named(context, kind, own)), parent: owner && parentOf(owner) },
  ])
  const parent = parentOf(made!)
  for (const [field, child] of children) {
    const stated = (body[field] ?? []) as Representation[]
    if (!stated.length) continue
    await writers[child.name].create(
      context,
      stated.map((one) => ({ ...newObject(nested(withoutNulls(one))), parent })),
    )
  }
  return made!
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
