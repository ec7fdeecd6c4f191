// What a kind is: facts only, no behaviour. The engine reads these; what is special about a kind is in service/<kind>s.ts.
import type * as z from 'zod'
import type { EventType } from './admin-events.ts'
import { type Field, type FieldValues, objectOf } from './fields.ts'
import type { Representation } from './json.ts'
import type { KindName } from './kind-name.ts'

export type { KindName } from './kind-name.ts'

/**
 * The natural key of an object from the realm down: `['email']`, or with the parent's kind and key in front:
 * `['client', 'my-app', 'buyer']`.
 */
export type Key = readonly string[]

/** What admin events call the objects of a kind. */
export interface EventName {
  readonly type: EventType
  /** The type of those that belong to an object of another kind, where it is another one. */
  readonly typeOf?: Readonly<Partial<Record<KindName, EventType>>>
  /**
   * Their path by the kind of what they belong to, `realm` for the realm itself; `{id}`, `{name}`, `{parentId}` and
   * `{parentName}` are filled in. The realm's own is empty.
   */
  readonly paths: Readonly<Partial<Record<KindName, string>>>
  /** The event of a creation shows what was sent, without the new id. */
  readonly withoutId?: true
}

/** One kind, described once. */
export interface Kind {
  readonly name: KindName
  /** How people call it: `client scope`. */
  readonly title: string
  /** Keycloak's name for its representation, as in its OpenAPI document. */
  readonly representation: string
  /** Name of the resource that holds one object, where it is not `Realm` and the name of the kind. */
  readonly resource?: string
  /** The field that names an object in a file. */
  readonly naturalKey: string
  /** The field that names an object in documents, where they do not state the natural key. */
  readonly nameField: string
  /** Kinds that an object may belong to; empty: it belongs to the realm itself. */
  readonly parents: readonly KindName[]
  /** An object may also belong to the realm itself. */
  readonly parentOptional?: true
  /** Its objects do not stand inside their parent on the wire: they have operations of their own. */
  readonly elsewhere?: true
  /** The field that names the parent, by natural key, where objects stand in a list of the realm and not in their parent. */
  readonly parentField?: string
  /** The field that holds the id. */
  readonly idField: string
  /** What messages call an object of that natural key, where it is not the key itself. */
  readonly called?: (name: string) => string
  /** Kinds whose objects stand inside this one's representation, by field. */
  readonly children: Readonly<Record<string, KindName>>
  readonly fields: Readonly<Record<string, Field>>
  /** Checks a representation, or the stated part of one: types and names of fields. */
  readonly schema: z.ZodObject
  /** What creation gives to the fields that are not stated, given those that are. Pure. */
  readonly defaults: (stated: Representation) => Representation
  /** What is said when a natural key is taken, `{name}` for it. Keycloak: an update says so in the words of its database. */
  readonly conflict: {
    readonly create: string
    readonly update?: string
    /** The same by unique field, for fields besides the natural key. */
    readonly fields?: Readonly<Record<string, string>>
  }
  /** Its changes are in the journal of people, whose writers take no lock. */
  readonly people?: true
  /** Keycloak: fields that it does not know are let pass on input. */
  readonly lenient?: true
  /** Keycloak: what admin events call its objects. */
  readonly events: EventName
  /** Keycloak: changes of its objects leave no admin event. */
  readonly silent?: true
  /** Fields of documents that say in another form what a kind says: see src/realm-file/reshape.ts. */
  readonly forms: Readonly<Record<string, string>>
}

/** Whether the natural key of its objects is a path, which holds those of what they belong to. */
export const isKnownByPath = ({ naturalKey }: Kind): boolean => naturalKey === 'path'

/** What `defineKind` takes: a kind less what follows from its fields. */
export type KindDescription = Pick<Kind, 'name' | 'title' | 'representation' | 'naturalKey' | 'events' | 'fields'> &
  Partial<
    Pick<
      Kind,
      | 'resource'
      | 'nameField'
      | 'parents'
      | 'parentOptional'
      | 'elsewhere'
      | 'parentField'
      | 'idField'
      | 'people'
      | 'called'
      | 'silent'
      | 'children'
      | 'lenient'
      | 'forms'
      | 'defaults'
      | 'conflict'
    >
  >

/** A kind from its description. Throws when the natural key is not among the fields. */
export function defineKind<const F extends Readonly<Record<string, Field>>>(
  description: KindDescription & { readonly fields: F },
): Kind & { readonly fields: F } {
  if (!(description.naturalKey in description.fields))
    throw new Error(`${description.name} has no field ${description.naturalKey}`)
  const constant = Object.fromEntries(
    Object.entries(description.fields).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default]],
    ),
  )
  return {
    nameField: description.naturalKey,
    idField: 'id',
    parents: [],
    children: {},
    forms: {},
    defaults: () => constant,
    conflict: { create: `${description.title} {name} already exists` },
    ...description,
    schema: objectOf({ ...description.fields }),
  }
}

/** The values of a kind's fields by name, such as `ViewOf<typeof client>`. */
export type ViewOf<K extends Kind> = FieldValues<K['fields']>

/**
 * Returns a representation with the types of its kind's fields. It must be a live one: its values were checked when they
 * were written.
 */
export function viewOf<K extends Kind>(_kind: K, representation: Representation): ViewOf<K> {
  return representation as ViewOf<K>
}

/** The fields of a kind that are kept in relation tables. */
export function relationFields(kind: Kind): [name: string, field: Field][] {
  return Object.entries(kind.fields).filter(([, field]) => field.relation)
}

/** The fields of a kind that name one object of another kind: `[path, field]`; a map gives a path per key. */
export function referenceFields(kind: Kind): [name: string, field: Field][] {
  return Object.entries(kind.fields).filter(([, field]) => field.refersTo && !field.relation && !field.computed)
}
