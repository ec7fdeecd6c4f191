// The REST operations on the objects of a kind, and how URLs lead to objects.
import type { Representation } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { type ErrorForm, failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import type { NewObject } from '../../objects/writers.ts'
import type { Permission } from '../../permissions/require-permissions.ts'

/** The parameters of a URL that name an object: its id (or name), and the id of the object that it belongs to. */
export interface ObjectAddress {
  readonly id: string
  readonly owner?: string
}

/** An address of which parts may be missing, such as that of a list. */
export type PartialAddress = { readonly [field in keyof ObjectAddress]?: string | undefined }

/** The query parameters of a request, as its operation parsed them. */
export type Query = Readonly<Record<string, unknown>>

/** The REST operations on the objects of a kind. Each checks its permission and throws not_found with the message of the kind. */
export interface AdminResource {
  readonly kind: KindName
  readonly view: Permission
  readonly manage: Permission
  /** The permission to list objects; the list holds those that the caller may view. Default: `view`. */
  readonly search?: Permission
  /**
   * Throws unless the caller may manage the objects at the address and they exist. Runs before the body of a request is read.
   * Absent: the body is read first.
   */
  checkAccess?(context: Context, address: PartialAddress): Promise<void>
  list(context: Context, address: Omit<ObjectAddress, 'id'>, query: Query): Promise<Representation[]>
  get(context: Context, address: ObjectAddress): Promise<Representation>
  /** Returns the id (or name) of the new object in its URL. */
  create(context: WriteContext, address: Omit<ObjectAddress, 'id'>, body: Representation): Promise<string>
  replace(context: WriteContext, address: ObjectAddress, body: Representation): Promise<void>
  delete(context: WriteContext, address: ObjectAddress): Promise<void>
}

/** Returns a function that gets an object of the realm by its id, or throws not_found with the message. */
export function createGetter(kind: KindName, notFound: string) {
  return (context: Context, { id }: ObjectAddress): Promise<LiveObject> => getObject(context, kind, { id, notFound })
}

/** A lookup of objects below an owner: their kind, the lookup of the owner, and the error if there is no such object. */
export interface ChildLookup {
  readonly kind: KindName
  readonly getOwner: (context: Context, id: string) => Promise<LiveObject>
  readonly form?: ErrorForm
  readonly notFound: string
}

/** Returns a function that gets an object by its id below its owner, or throws not_found. */
export function createChildGetter({ kind, getOwner, form, notFound }: ChildLookup) {
  return async (context: Context, { owner, id }: ObjectAddress): Promise<LiveObject> => {
    const child = await findChild(context, await getOwner(context, owner!), { kind, id })
    if (!child) throw failure('not_found', notFound, { ...(form && { form }) })
    return child
  }
}

/** Returns the object with that id. Throws not_found with the message. */
export async function getObject(
  context: Context,
  kind: KindName,
  { id, notFound }: { readonly id: string; readonly notFound: string },
): Promise<LiveObject> {
  const [object] = await writers[kind].list(context, { ids: [id] })
  if (!object) throw failure('not_found', notFound)
  return object
}

/** Returns an object as the parent of new objects. */
export function toParent({ kind, id, key }: LiveObject): NonNullable<NewObject['parent']> {
  return { kind, id, key }
}

/** Returns the object with that id if it belongs to the owner. */
export async function findChild(
  context: Context,
  owner: LiveObject,
  { kind, id }: { readonly kind: KindName; readonly id: string },
): Promise<LiveObject | undefined> {
  const [object] = await writers[kind].list(context, { ids: [id] })
  return object?.parent?.id === owner.id ? object : undefined
}

/** Returns a body as an object to create, with the id that it asks for, if any. */
export function toNewObject({ id, ...representation }: Representation): NewObject {
  return { ...(typeof id === 'string' && id !== '' && { id }), representation }
}
