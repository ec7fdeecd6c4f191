// What REST does with the objects of a kind that nothing is special about.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { childrenInside } from '../../../kinds/nested.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import { type Present, present, presentAll } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { named, replacement, withoutNulls } from '../../objects/put.ts'
import { demand, type Permission, visibleTo } from '../../permissions/administrators.ts'
import { newObject, type Place, parentOf, type Resource, type Way } from './resource.ts'

/** What a plain resource needs to know. */
export interface ResourceDescription {
  readonly kind: KindName
  readonly view: Permission
  readonly search?: Permission
  readonly manage: Permission
  /** The object that an address names. Throws where there is none. */
  readonly find: (context: Context, place: Place) => Promise<LiveObject>
  /** What the objects under an address belong to. Throws where that is not there. Absent: the realm. */
  readonly owner?: (context: Context, name: string) => Promise<LiveObject>
  /** What a body states. Throws where it cannot be. Absent: all but its nulls. */
  readonly read?: (body: Representation) => Representation
  readonly present?: Present
  /** Says more of a change than was sent; `live`: the object as it is then, deleted, as it was. */
  readonly tell?: (context: WriteContext, live: LiveObject) => void
  /** What is made of the children in the body of a new object. */
  readonly nested?: (child: Representation) => Representation
}

/** The resource of a kind, with nothing special about it: its objects belong to the realm, or to what the address says. */
export function plainResource(description: ResourceDescription): Resource {
  const { kind, view, search, manage, find, read = withoutNulls, present: show = present, tell } = description
  const ownerOf = async (context: Context, { owner }: Way) => description.owner?.(context, owner!)
  return {
    kind,
    view,
    ...(search && { search }),
    manage,
    async reach(context, { owner, id }) {
      demand(context, manage)
      if (owner !== undefined) await ownerOf(context, { owner })
      else if (id !== undefined) await find(context, { id })
    },
    async list(context, place) {
      demand(context, search ?? view)
      const owner = await ownerOf(context, place)
      const filter = owner ? { parents: { kind: owner.kind, ids: [owner.id] } } : {}
      const seen = { ...filter, visible: visibleTo(context, view) }
      return presentAll(context, kind, await writers[kind].list(context, seen), show)
    },
    async get(context, place) {
      demand(context, view)
      return (await presentAll(context, kind, [await find(context, place)], show))[0]!
    },
    async create(context, place, body) {
      demand(context, manage)
      const owner = await ownerOf(context, place)
      const made = await createWithChildren(context, description, read(body), owner)
      tell?.(context, made)
      return made.id
    },
    async replace(context, place, body) {
      demand(context, manage)
      const live = await find(context, place)
      const set = replacement(live, await named(context, kind, read(body)))
      const [updated] = await writers[kind].update(context, [{ live, set }])
      tell?.(context, updated!)
    },
    async delete(context, place) {
      demand(context, manage)
      const live = await find(context, place)
      await writers[kind].delete(context, [live])
      tell?.(context, live)
    },
  }
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
