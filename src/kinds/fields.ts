// Fields of a representation, and the facts about them that a JSON schema cannot say.
import * as z from 'zod'
import type { Json } from './json.ts'
import type { KindName } from './kind-name.ts'

type Values = Readonly<Record<string, Json>>

/** What is true of a field besides its type. */
export interface Facts {
  /** The server sets it: taken on input, never compared, never written from a document. */
  readonly computed?: true
  /** Of an earlier form: let pass, without effect; of a computed field. A document that states one is told so. */
  readonly earlier?: true
  /** Never shown in plans, logs, events and exports: the whole value, or these keys of a map. */
  readonly secret?: true | readonly string[]
  /**
   * Of a map with secrets: where its settings, in an object with these fields, send them, one value for each part that decides that; absent is
   * nowhere. Where a part gets a new value, a secret that is not stated anew is removed.
   */
  readonly destination?: (settings: Values, fields: Values) => Readonly<Record<string, Json | undefined>>
  /** Made up for an object that states none: the whole value, or these keys of a map, which may depend on the object. */
  readonly generated?: true | readonly string[] | ((object: Readonly<Record<string, Json>>) => readonly string[])
  /** What PUT does with what the body does not state; in a map also per key. Absent: `keep`. */
  readonly onPut?: 'clear' | 'replace'
  /** What creation gives where nothing is stated; absent means that the field stays absent. */
  readonly default?: Json
  /** The kind that the value names: by natural key, or by id on the wire (documents always name). */
  readonly refersTo?: KindName
  /** How a reference is written on the wire; a document's form is always the natural key. */
  readonly wire?: 'id'
  /**
   * Set in a second pass, after everything else exists: breaks cycles between kinds. `soon`: as soon as what it refers to is
   * made, since it counts for what is made after that.
   */
  readonly late?: true | 'soon'
  /** Owned element by element, kept in a table of its own. */
  readonly relation?: true
  /** Of a relation: its names are those of objects that belong to the same parent. */
  readonly siblings?: true
  /** Of a relation: what is in it is not in that other field of the object. */
  readonly excludes?: string
  /** Of a relation: it names only objects of the realm itself, or only those of parents of this kind, grouped by parent. */
  readonly among?: 'realm' | KindName
  /** Members of the elements of a list that are compared only where they are stated. */
  readonly optionalMembers?: readonly string[]
  /** The member that tells the elements of a list apart: their order does not matter then. */
  readonly elementKey?: string
  /** Written when the object is made and when what is stated changes; what is live is not compared. */
  readonly once?: true
  /** Not a part of the object on the wire: it has operations, or a place in documents, of its own. */
  readonly elsewhere?: true
  /**
   * Of a relation: its owner gets what the named roles, groups or client scopes give; `later`: once it is there. See
   * service/permissions/privilege.ts, also for the next ones.
   */
  readonly gives?: true | 'later'
  /** Of a map: under these keys stand a role, or a group, that is given to people. */
  readonly namesGiven?: { readonly role: readonly string[]; readonly group: readonly string[] }
  /** Who sets it can act in place of the object: of its account, or of those who log in by it. In a map, these keys. */
  readonly proves?: true | readonly string[]
  /** Who sets it decides who gets in, and can act in place of anybody in the realm; `later`: once the object is there. */
  readonly admits?: true | 'later' | readonly string[]
  /** Of a client: it neither decides where tokens go nor what they carry. See service/objects/client-editors.ts. */
  readonly harmless?: true
  /** Of a way in: the value that every new realm has, with which nobody gets in who would not otherwise. */
  readonly usual?: string
  /** Who switches it off lets people in without what it demands of them. */
  readonly demands?: true
  /** Of a map of lists: their order does not matter. */
  readonly setValues?: true
  /** Kept and compared in lower case. */
  readonly folded?: true
  /** Kept in a table of its own, which the service of the kind writes. */
  readonly apart?: true
  /** An empty text says that there is none. Keycloak: attributes of clients. */
  readonly emptyIsAbsent?: true
  /** Of a list of objects: they stand in the order of this member; absent is 0. */
  readonly orderedBy?: string
  /** The value names a provider. One that Regent does not have is kept, and a plan says so. */
  readonly provider?: ProviderFacts
}

/** Which providers there are, and what is said of others: `Regent does not have the <what> foo; <otherwise>`. */
export interface ProviderFacts {
  readonly what: string
  readonly known: { has(provider: string): boolean }
  readonly otherwise: string
}

/** `scalar`: one value; `list`: ordered; `set`: unordered; `map`: compared and owned key by key; `json`: one opaque value. */
export type FieldType = 'scalar' | 'list' | 'set' | 'map' | 'json'

/** One field of a representation, whose values have the type `T`. */
export interface Field<T = unknown> extends Facts {
  readonly type: FieldType
  /** Of a list of objects: the fields of an element. */
  readonly members?: Readonly<Record<string, Field>>
  /** What a stated value must look like; reads what Jackson reads (a number for a text, "true" for a flag). */
  readonly schema: z.ZodType<T>
  /** The text of OpenAPI, CRD and documentation. */
  readonly description: string
}

/** The values of fields by name. Each may be absent. */
export type FieldValues<F extends Readonly<Record<string, Field>>> = {
  readonly [Name in keyof F]?: F[Name] extends Field<infer T> ? T : never
}

// `wire` is what OpenAPI says of a value that is read in several forms.
const asText = z
  .union([z.string(), z.number(), z.boolean()])
  .transform(String)
  .refine(isStorable, 'must not hold NUL or a lone surrogate')
  .meta({ wire: { type: 'string' } })
const asFlag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')])
  .meta({ wire: { type: 'boolean' } })
const asNumber = (number: z.ZodNumber, format: string) =>
  z
    .union([
      number,
      z
        .string()
        .regex(/^-?\d{1,15}$/)
        .transform(Number)
        .pipe(number),
    ])
    .meta({ wire: { type: 'integer', format } })
const asInteger = asNumber(z.int32(), 'int32')
/** The years that four digits name. */
const asMoment = asNumber(z.int().min(-62_135_596_800_000).max(253_402_300_799_999), 'int64')
const asTexts = z.array(asText)
const asTextsOrOne = z
  .union([asTexts, asText.transform((one) => [one])])
  .meta({ wire: { type: 'array', items: { type: 'string' } } })

/** Whether PostgreSQL can keep the text: it knows neither NUL nor half a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** A text. */
export const text = (description: string, facts: Facts = {}): Field => field('scalar', asText, description, facts)
/** One of a few texts. */
export const choice = <const V extends readonly [string, ...string[]]>(
  values: V,
  description: string,
  facts: Facts = {},
): Field<V[number]> => field('scalar', z.enum(values), description, facts)
/** True or false. */
export const flag = (description: string, facts: Facts = {}): Field => field('scalar', asFlag, description, facts)
/** Milliseconds since 1970. */
export const moment = (description: string, facts: Facts = {}): Field => field('scalar', asMoment, description, facts)
/** A whole number. Keycloak: of 32 bits. */
export const integer = (description: string, facts: Facts = {}): Field => field('scalar', asInteger, description, facts)
/** Texts whose order matters. */
export const textList = (description: string, facts: Facts = {}): Field => field('list', asTexts, description, facts)
/** Texts whose order does not matter. */
export const textSet = (description: string, facts: Facts = {}): Field => field('set', asTexts, description, facts)
/** A text that counts in any case, and is kept in lower case. */
export const foldedText = (description: string, facts: Facts = {}): Field =>
  field('scalar', asText.transform((one) => one.toLowerCase()).meta({ wire: { type: 'string' } }), description, {
    ...facts,
    folded: true,
  })
/** Texts by key. */
export const textMap = (description: string, facts: Facts = {}): Field =>
  field('map', z.record(z.string(), asText.nullable()), description, facts)
/** True or false by key. */
export const flagMap = (description: string, facts: Facts = {}): Field =>
  field('map', z.record(z.string(), asFlag.nullable()), description, facts)
/** Lists of texts by key. */
export const textListMap = (description: string, facts: Facts = {}): Field =>
  field('map', z.record(z.string(), asTextsOrOne.nullable()), description, facts)
/** Objects whose order matters. */
export const objectList = <M extends Readonly<Record<string, Field>>>(
  members: M,
  description: string,
  facts: Facts = {},
): Field<readonly FieldValues<M>[]> => ({
  ...field('list', z.array(objectOf(members)), description, facts),
  members,
})
/** A value that is kept as it is. */
export const opaque = (description: string, facts: Facts = {}): Field => field('json', z.json(), description, facts)
/** A value of a form of its own. */
export const structured = <T>(schema: z.ZodType<T>, description: string, facts: Facts = {}): Field<T> =>
  field('json', schema, description, facts)

/** An object schema of the fields: each optional and, as clients send it, null for absent; unknown ones refused. */
export function objectOf(fields: Readonly<Record<string, Field>>): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, { schema, description }]) => [name, schema.nullish().describe(description)]),
    ),
  )
}

// The type of a field's values is what representations hold: a schema also reads other forms of it, and null for absent.
function field<T>(type: FieldType, schema: z.ZodType, description: string, facts: Facts): Field<T> {
  return { type, schema: schema as z.ZodType<T>, description, ...facts }
}
