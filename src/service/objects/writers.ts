// The writers of a kind: the functions that list, create, update and delete its objects.
import type { FlatFields } from '../../kinds/compare.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import type { Context, WriteContext } from '../context/context.ts'
import type { LiveObject, ObjectRepresentation } from './live-objects.ts'

/** An object to create. */
export interface NewObject {
  /** A requested id. Absent: a new UUID. */
  readonly id?: string | undefined
  readonly parent?: { readonly kind: KindName; readonly id: string; readonly key: Key } | undefined
  /** The declared fields; the others get their defaults. */
  readonly representation: Representation
}

/** An update of an object. */
export interface ObjectUpdate {
  readonly live: LiveObject
  /** New values by path, except of relations; null removes a value. */
  readonly set: FlatFields
  /** Elements to add to relations and to remove from them, by field. */
  readonly relations?: Readonly<Record<string, { readonly add?: readonly Key[]; readonly remove?: readonly Key[] }>>
}

/** An object that is created and deleted together with another one. */
export interface CreatedObject {
  readonly kind: KindName
  /** Kind and key of the parent. Absent: the realm. */
  readonly parentKey?: Key
  readonly representation: Representation
  /** Fields that are set in a second step. */
  readonly lateFields?: Representation
}

/** The writers of a kind. All take lists; the number of statements does not depend on their length. */
export interface Writers {
  list(context: Context, filter: ObjectFilter): Promise<LiveObject[]>
  create(context: WriteContext, objects: readonly NewObject[]): Promise<LiveObject[]>
  /** Returns the updated objects, in the same order. */
  update(context: WriteContext, updates: readonly ObjectUpdate[]): Promise<LiveObject[]>
  delete(context: WriteContext, objects: readonly LiveObject[]): Promise<void>
  /** Returns the fields that `create` sets in a new realm besides the declared ones. Absent: none. Pure. */
  getCreationDefaults?(realm: ObjectRepresentation): (declared: Representation) => Representation
  /** Returns the objects that are created and deleted with an object. Absent: none. Pure. */
  listCreatedWith?(object: ObjectRepresentation): readonly CreatedObject[]
}
