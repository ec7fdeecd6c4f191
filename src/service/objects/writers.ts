// What the writers of a kind take and do.
import type { FlatFields } from '../../kinds/compare.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { ObjectFilter } from '../../store/object-filter.ts'
import type { Context, WriteContext } from '../context/context.ts'
import type { LiveObject, SaidObject } from './live.ts'

/** An object to make. */
export interface NewObject {
  /** A wished id; absent: a new UUID. */
  readonly id?: string | undefined
  readonly parent?: { readonly kind: KindName; readonly id: string; readonly key: Key } | undefined
  /** What is stated; the rest is what creation gives. */
  readonly representation: Representation
}

/** A change of an object. */
export interface Update {
  readonly live: LiveObject
  /** New values by path; null: none. Not for relations. */
  readonly set: FlatFields
  /** Elements to add to relations and to remove from them, by field. */
  readonly relations?: Readonly<Record<string, { readonly add?: readonly Key[]; readonly remove?: readonly Key[] }>>
}

/** What comes with another object. */
export interface Brought {
  readonly kind: KindName
  /** Kind and key of what it belongs to; absent: the realm itself. */
  readonly under?: Key
  /** As it is created. */
  readonly representation: Representation
  /** Fields that are set afterwards. */
  readonly later?: Representation
}

/** The writers of a kind. Each takes a list and costs a number of statements that does not depend on its length. */
export interface Writers {
  list(context: Context, filter: ObjectFilter): Promise<LiveObject[]>
  create(context: WriteContext, objects: readonly NewObject[]): Promise<LiveObject[]>
  /** Gives the objects as they are then, in the same order. */
  update(context: WriteContext, updates: readonly Update[]): Promise<LiveObject[]>
  delete(context: WriteContext, objects: readonly LiveObject[]): Promise<void>
  /** Fields as `create` makes them of an object that states so much, in a realm that is new; absent: as stated. Pure. */
  additions?(realm: SaidObject): (stated: Representation) => Representation
  /** What comes and goes with an object; absent: nothing. Pure. */
  brings?(said: SaidObject): readonly Brought[]
}
