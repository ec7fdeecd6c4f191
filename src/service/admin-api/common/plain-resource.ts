// The REST operations of a kind that has no special rules.
import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObjects } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { listNestedChildren } from '../../../kinds/nested-schema.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation, toWireRepresentations } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, resolveReferenceIds, toReplacement } from '../../objects/put-body.ts'
import { getVisibility, type Permission, requirePermissions } from '../../permissions/require-permissions.ts'
import { type AdminResource, type ObjectAddress, type PartialAddress, toNewObject, toParent } from './resource.ts'

/** The kind, the permissions and the lookups of a plain resource. */
export interface PlainResourceDescription {
  readonly kind: KindName
  readonly view: Permission
  readonly search?: Permission
  readonly manage: Permission
  /** Throws forbidden unless the caller may view or manage the objects at an address. Default: the permissions above are required. */
  readonly requireAccess?: (context: Context, purpose: 'view' | 'manage', address: PartialAddress) => Promise<void>
  /** Returns the object at an address. Throws if there is none. */
  readonly getObject: (context: Context, address: ObjectAddress) => Promise<LiveObject>
  /** Returns the owner of the objects at an address, by id or name. Throws if there is none. Absent: the realm owns them. */
  readonly getOwner?: (context: Context, name: string) => Promise<LiveObject>
  /** Returns the fields that a body declares. Throws if they are invalid. Default: the fields that are not null. */
  readonly readBody?: (body: Representation) => Representation
  readonly toWire?: ToWire
  /** Adds details to the admin event of a change. `live`: the object after the change, or before its deletion. */
  readonly describeChange?: (context: WriteContext, live: LiveObject) => void
  /** Returns the fields that a child in the body of a new object declares. Default: the fields that are not null. */
  readonly readChild?: (child: Representation) => Representation
}

/** Creates the REST operations of a kind whose objects belong to the realm or to the owner in the address. */
export function createPlainResource(description: PlainResourceDescription): AdminResource {
  const { kind, view, search, manage, getObject, readBody = omitNulls, describeChange } = description
  const { toWire: presentObject = toWireRepresentation } = description
  const { requireAccess = async (context, purpose) => requirePermissions(context, description[purpose]) } = description
  const findOwner = async (context: Context, { owner }: PartialAddress) => description.getOwner?.(context, owner!)
  return {
    kind,
    view,
    ...(search && { search }),
    manage,
    async checkAccess(context, { owner, id }) {
      await requireAccess(context, 'manage', { owner, id })
      if (owner !== undefined) await findOwner(context, { owner })
      else if (id !== undefined) await getObject(context, { id })
    },
    async list(context, address) {
      if (search) requirePermissions(context, search)
      else await requireAccess(context, 'view', address)
      const owner = await findOwner(context, address)
      const filter = {
        ...(owner && { parents: { kind: owner.kind, ids: [owner.id] } }),
        ...(search && { visible: getVisibility(context, view) }),
      }
      return toWireRepresentations(context, await writers[kind].list(context, filter), presentObject)
    },
    async get(context, address) {
      await requireAccess(context, 'view', address)
      return (await toWireRepresentations(context, [await getObject(context, address)], presentObject))[0]!
    },
    async create(context, address, body) {
      await requireAccess(context, 'manage', address)
      const owner = await findOwner(context, address)
      const object = await createWithChildren(context, description, { body: readBody(body), owner })
      describeChange?.(context, object)
      return object.id
    },
    async replace(context, address, body) {
      await requireAccess(context, 'manage', address)
      const live = await getObject(context, address)
      const set = toReplacement(live, await resolveReferenceIds(context, kind, readBody(body)))
      const [updated] = await writers[kind].update(context, [{ live, set }])
      describeChange?.(context, updated!)
    },
    async delete(context, address) {
      await requireAccess(context, 'manage', address)
      const live = await getObject(context, address)
      await writers[kind].delete(context, [live])
      describeChange?.(context, live)
    },
  }
}

/** Creates an object and the children in its body. A constant number of statements per kind of children. */
async function createWithChildren(
  context: WriteContext,
  { kind, readChild = (child) => child }: PlainResourceDescription,
  { body, owner }: { readonly body: Representation; readonly owner: LiveObject | undefined },
): Promise<LiveObject> {
  const childFields = listNestedChildren(kinds[kind])
  const isChildField = (field: string) => childFields.some(([name]) => name === field)
  const fields = Object.fromEntries(Object.entries(body).filter(([field]) => !isChildField(field)))
  const [object] = await writers[kind].create(context, [
    { ...toNewObject(await resolveReferenceIds(context, kind, fields)), parent: owner && toParent(owner) },
  ])
  const parent = toParent(object!)
  for (const [field, { name: childKind }] of childFields) {
    const children = readObjects(body[field])
    if (!children.length) continue
    await writers[childKind].create(
      context,
      children.map((child) => ({ ...toNewObject(readChild(omitNulls(child))), parent })),
    )
  }
  return object!
}
