// Descriptions of kinds: facts without behaviour. What is special about a kind is in a file of its own in service.
import type * as z from 'zod'
import type { EventType } from './admin-events.ts'
import { type Field, type FieldValues, objectSchema } from './fields.ts'
import type { Representation } from './json.ts'
import type { KindName } from './kind-name.ts'

export type { KindName } from './kind-name.ts'

/**
 * The natural key of an object from the realm down: `['email']`, or with the parent's kind and key in front:
 * `['client', 'my-app', 'buyer']`.
 */
export type Key = readonly string[]

/** The names of a kind's objects in admin events. */
export interface AdminEventNames {
  readonly type: EventType
  /** The type for objects with a parent of this kind, if it differs. */
  readonly typeByParent?: Readonly<Partial<Record<KindName, EventType>>>
  /**
   * The path of an object by the kind of its parent, `realm` for objects without one. The variables are `{id}`, `{name}`, `{parentId}`
   * and `{parentName}`. The realm has an empty path.
   */
  readonly paths: Readonly<Partial<Record<KindName, string>>>
  /** The event of a creation has no id in its representation. */
  readonly omitsId?: true
}

/** The description of a kind of object. */
export interface Kind {
  readonly name: KindName
  /** The name in messages: `client scope`. */
  readonly title: string
  /** The name of the representation in Keycloak's OpenAPI document. */
  readonly representation: string
  /** The kind of the Kubernetes resource. Default: `Realm` and the name of the kind. */
  readonly resource?: string
  /** The field that identifies an object within its parent. */
  readonly naturalKey: string
  /** The field that documents name an object by. Default: the natural key. */
  readonly nameField: string
  /** The kinds that a parent can have; empty if objects belong to the realm itself. */
  readonly parents: readonly KindName[]
  /** Objects may also belong to the realm itself. */
  readonly parentOptional?: true
  /** Not part of the parent's representation in REST: it has operations of its own. */
  readonly isSeparate?: true
  /** The field with the natural key of the parent, for objects that are in a list of the realm instead of in their parent. */
  readonly parentField?: string
  /** The field with the id. */
  readonly idField: string
  /** Formats a natural key for messages. Default: the key itself. */
  readonly formatName?: (name: string) => string
  /** The fields of the representation that hold child objects, with their kinds. */
  readonly children: Readonly<Record<string, KindName>>
  readonly fields: Readonly<Record<string, Field>>
  /** Checks the names and types of the fields in a representation, which may be a partial one. */
  readonly schema: z.ZodObject
  /** Returns the values that creation sets, given the declared ones, which take precedence. Pure. */
  readonly defaults: (declared: Representation) => Representation
  /** The messages when a natural key is taken, with `{name}` for it. Keycloak: an update has another message than a creation. */
  readonly conflict: {
    readonly create: string
    readonly update?: string
    /** The messages for other unique fields, by field. */
    readonly fields?: Readonly<Record<string, string>>
  }
  /** Changes are recorded in the users stream of the journal, whose writers take no lock. */
  readonly isUserData?: true
  /** Keycloak: ignores unknown fields in requests. */
  readonly ignoresUnknownFields?: true
  /** Keycloak: the names in admin events. */
  readonly events: AdminEventNames
  /** Keycloak: changes emit no admin event. */
  readonly hasNoAdminEvents?: true
  /** Fields that documents may have instead of others, with their descriptions. See src/realm-file/convert-formats.ts. */
  readonly alternativeFields: Readonly<Record<string, string>>
}

/** Whether the natural key is a path, which contains the names of the ancestors. */
export const hasPathKey = ({ naturalKey }: Kind): boolean => naturalKey === 'path'

type RequiredMember = 'name' | 'title' | 'representation' | 'naturalKey' | 'events' | 'fields'

/** The description of a kind, without what `defineKind` derives from its fields. */
export type KindDescription = Pick<Kind, RequiredMember> & Partial<Omit<Kind, RequiredMember | 'schema'>>

/** Creates a kind from its description. Throws if there is no field for the natural key. */
export function defineKind<const F extends Readonly<Record<string, Field>>>(
  description: KindDescription & { readonly fields: F },
): Omit<Kind, 'fields'> & { readonly fields: F } {
  if (!(description.naturalKey in description.fields))
    throw new Error(`${description.name} has no field ${description.naturalKey}`)
  const defaults = Object.fromEntries(
    Object.entries(description.fields).flatMap(([name, field]) =>
      field.default === undefined ? [] : [[name, field.default]],
    ),
  )
  return {
    nameField: description.naturalKey,
    idField: 'id',
    parents: [],
    children: {},
    alternativeFields: {},
    defaults: () => defaults,
    conflict: { create: `${description.title} {name} already exists` },
    ...description,
    schema: objectSchema(description.fields, description.defaults?.({})),
  }
}

/** The values of a kind's fields by name, such as `ViewOf<typeof client>`. */
export type ViewOf<K extends Kind> = FieldValues<K['fields']>

/** Returns a representation with the types of its kind's fields. It must be a live one, whose values were checked when it was written. */
export function viewOf<K extends Kind>(_kind: K, representation: Representation): ViewOf<K> {
  return representation as ViewOf<K>
}

/** Returns the fields of a kind that are relations. */
export function relationFields(kind: Kind): [name: string, field: Field][] {
  return Object.entries(kind.fields).filter(([, field]) => field.relation)
}

/** Returns the fields of a kind that refer to one object, or in a map to one per key. */
export function referenceFields(kind: Kind): [name: string, field: Field][] {
  return Object.entries(kind.fields).filter(([, field]) => field.refersTo && !field.relation && !field.computed)
}

/** Returns the plural of a kind's name in messages. */
export const getPluralTitle = ({ title }: Pick<Kind, 'title'>): string => `${title.replace(/y$/, 'ie')}s`
