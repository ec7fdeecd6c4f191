// Fields of a representation: their types, and facts about them that a JSON schema cannot express.
import * as z from 'zod'
import type { Json } from './json.ts'
import { nameSchema } from './json-schema.ts'
import type { KindName } from './kind-name.ts'
import type { TextFormat } from './text-formats.ts'

type Values = Readonly<Record<string, Json>>

/** The facts about a field besides its type. */
export interface FieldFacts {
  /** Set by the server: accepted in a request, but never compared and never written from a document. */
  readonly computed?: true
  /** From an early version of Keycloak: deprecated, and ignored, with a warning if a document declares it. Only for computed fields. */
  readonly legacy?: true
  /** Keycloak: marked as deprecated in its OpenAPI document. */
  readonly deprecated?: true
  /** The format of the text, or of the texts in a list. The definitions of resources refuse others; REST accepts what Keycloak does. */
  readonly format?: TextFormat
  /** The texts that the service accepts on creation. The definitions of resources refuse others. */
  readonly values?: readonly string[]
  /** The name in OpenAPI of the schema of the value, or for a list of objects of an element. */
  readonly schemaName?: string
  /** Masked in plans, logs, events and exports: the whole value, or these keys of a map. */
  readonly secret?: true | readonly string[]
  /** Secrets that may be references to the vault: the whole value, or these keys of a map. */
  readonly vaultSecrets?: true | readonly string[]
  /**
   * For a map with secrets: the destination that its settings send the secrets to, as named parts such as host and port; an absent part
   * is undefined. When a part gets another value, secrets that are not set in the same update are removed.
   */
  readonly destination?: (settings: Values, fields: Values) => Readonly<Record<string, Json | undefined>>
  /** Generated when an object is created without a value: the whole value, or these keys of a map. */
  readonly generated?: true | readonly string[] | ((object: Readonly<Record<string, Json>>) => readonly string[])
  /** The effect of PUT without the field, or without a key of a map. Default: the value is kept. */
  readonly onPut?: 'clear' | 'replace'
  /** The value that creation sets when none is given. */
  readonly default?: Json
  /** The kind that the value refers to, by natural key. */
  readonly refersTo?: KindName
  /** REST refers by id; documents always use the natural key. */
  readonly wire?: 'id'
  /**
   * Set in a second step, after all objects exist, to break cycles between kinds. `afterTarget`: as soon as the referenced kind exists,
   * since objects that are created later depend on the value.
   */
  readonly late?: true | 'afterTarget'
  /** A relation: managed element by element, and stored in a table of its own. */
  readonly relation?: true
  /** For a relation: it refers to objects with the same parent, by name. */
  readonly targetsSiblings?: true
  /** For a relation: an element of it cannot be in this other relation of the object. */
  readonly exclusiveWith?: string
  /** For a relation: it refers only to objects of the realm itself, or only to those of parents of this kind. Default: to both. */
  readonly targetParent?: 'realm' | KindName
  /** For a list of objects: members that are compared only if both values have them. */
  readonly optionalMembers?: readonly string[]
  /** For a list of objects: the member that identifies an element. The order is then ignored. */
  readonly elementKey?: string
  /** Written on creation and when the declared value changes; the live value is not compared. */
  readonly appliedOnChange?: true
  /** Not part of the object's representation in REST: it has operations of its own. */
  readonly isSeparate?: true
  /**
   * For a relation: the object gets the permissions of the roles, groups or client scopes in it. `onUpdate`: only if they are added to an
   * existing object. This fact and the next ones are for service/permissions/privilege-escalation.ts, against privilege escalation.
   */
  readonly grants?: true | 'onUpdate'
  /** For a map: the keys whose values name a role or a group that users get. */
  readonly grantKeys?: { readonly role: readonly string[]; readonly group: readonly string[] }
  /** Setting it lets the caller act as the object: as the account, or as users who log in through it. For a map, these keys. */
  readonly credential?: true | readonly string[]
  /** Setting it controls the login, and lets the caller act as any user. `onUpdate`: only on an existing object. For a map, these keys. */
  readonly loginControl?: true | 'onUpdate' | readonly string[]
  /** For a login control: the value of every new realm, which opens no login. */
  readonly safeValue?: string
  /** Setting it to false removes a requirement of the login. */
  readonly loginRequirement?: true
  /** For clients: it changes neither where tokens are sent nor what is in them. For a map, these keys. See service/objects/client-editors.ts. */
  readonly cannotAffectTokens?: true | readonly string[]
  /** For a map of lists: the order of the lists is ignored. */
  readonly unorderedLists?: true
  /** Stored and compared in lower case. */
  readonly lowerCase?: true
  /** Stored in a table of its own, which the service of the kind writes. */
  readonly storedSeparately?: true
  /** An empty text means that there is no value. Keycloak: attributes of clients. */
  readonly emptyIsAbsent?: true
  /** For a list of objects: it is sorted by this numeric member, 0 if absent. */
  readonly orderedBy?: string
}

/** `scalar`: one value; `list`: ordered; `set`: unordered; `map`: compared and managed key by key; `json`: compared as a whole. */
export type FieldType = 'scalar' | 'list' | 'set' | 'map' | 'json'

/** A field of a representation, with values of type `T`. */
export interface Field<T = unknown> extends FieldFacts {
  readonly type: FieldType
  /** For a list of objects: the fields of an element. */
  readonly members?: Readonly<Record<string, Field>>
  /** Parses a value. Accepts what Jackson accepts: a number for a text, "True" or 1 for a boolean. */
  readonly schema: z.ZodType<T>
  /** The description in OpenAPI, CRDs and documentation. */
  readonly description: string
}

/** The values of fields by name. Each may be absent. */
export type FieldValues<F extends Readonly<Record<string, Field>>> = {
  readonly [Name in keyof F]?: F[Name] extends Field<infer T> ? T : never
}

// `wire` is the schema in OpenAPI of a value that is accepted in several forms.
const asText = z
  .union([z.string(), z.number(), z.boolean()])
  .transform(String)
  .refine(isStorable, 'must not contain NUL or a lone surrogate')
  .meta({ wire: { type: 'string' } })
/** A text without characters. Jackson reads it as null where a number or a boolean is expected. */
const blankAsNull = z
  .string()
  .regex(/^\s*$/)
  .transform(() => null)
const asFlag = z
  .union([
    z.boolean(),
    z.int().transform((value) => value !== 0),
    z
      .string()
      .regex(/^\s*(?:true|True|TRUE|false|False|FALSE)\s*$/)
      .transform((value) => value.trim().toLowerCase() === 'true'),
    blankAsNull,
  ])
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
      blankAsNull,
    ])
    .meta({ wire: { type: 'integer', format } })
const asInteger = asNumber(z.int32(), 'int32')
/** Years 1 to 9999. */
const asTimestamp = asNumber(z.int().min(-62_135_596_800_000).max(253_402_300_799_999), 'int64')
const asTexts = z.array(asText)
const asTextsOrOne = z
  .union([asTexts, asText.transform((text) => [text])])
  .meta({ wire: { type: 'array', items: { type: 'string' } } })

/** PHP writes an empty map as an empty list. */
const readEmptyMap = (value: unknown): unknown => (Array.isArray(value) && value.length === 0 ? {} : value)

/** Whether PostgreSQL can store the text: it accepts neither NUL nor lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Creates a field with a text. */
export const text = (description: string, facts: FieldFacts = {}): Field<string> =>
  field('scalar', asText, { description, ...facts })
/** Creates a field with one of these texts. */
export const choice = <const V extends readonly [string, ...string[]]>(
  values: V,
  description: string,
  facts: FieldFacts = {},
): Field<V[number]> => field('scalar', registerName(z.enum(values), facts), { description, ...facts })
/** Creates a boolean field. */
export const flag = (description: string, facts: FieldFacts = {}): Field<boolean> =>
  field('scalar', asFlag, { description, ...facts })
/** Creates a field with a time, in milliseconds since 1970. */
export const timestamp = (description: string, facts: FieldFacts = {}): Field<number> =>
  field('scalar', asTimestamp, { description, ...facts })
/** Creates a field with a whole number of 32 bits. */
export const integer = (description: string, facts: FieldFacts = {}): Field<number> =>
  field('scalar', asInteger, { description, ...facts })
/** Creates a field with an ordered list of texts. */
export const textList = (description: string, facts: FieldFacts = {}): Field<readonly string[]> =>
  field('list', asTexts, { description, ...facts })
/** Creates a field with an unordered list of texts. */
export const textSet = (description: string, facts: FieldFacts = {}): Field<readonly string[]> =>
  field('set', asTexts, { description, ...facts })
/** Creates a field with a text that is stored in lower case. */
export const lowerCaseText = (description: string, facts: FieldFacts = {}): Field<string> =>
  field('scalar', asText.transform((text) => text.toLowerCase()).meta({ wire: { type: 'string' } }), {
    description,
    ...facts,
    lowerCase: true,
  })
/** Creates a field with texts by key. */
export const textMap = (description: string, facts: FieldFacts = {}): Field<Readonly<Record<string, string>>> =>
  field('map', z.record(z.string(), asText.nullable()), { description, ...facts })
/** Creates a field with booleans by key. */
export const flagMap = (description: string, facts: FieldFacts = {}): Field<Readonly<Record<string, boolean>>> =>
  field('map', z.record(z.string(), asFlag.nullable()), { description, ...facts })
/** Creates a field with lists of texts by key. */
export const textListMap = (
  description: string,
  facts: FieldFacts = {},
): Field<Readonly<Record<string, readonly string[]>>> =>
  field('map', z.record(z.string(), asTexts.nullable()), { description, ...facts })
/** Creates a field with lists of texts by key. Keycloak: it accepts a text as a list with one element, and an empty list as an empty map. */
export const textOrListMap: typeof textListMap = (description, facts = {}) =>
  field('map', z.preprocess(readEmptyMap, z.record(z.string(), asTextsOrOne.nullable())), { description, ...facts })

/** Creates a field with an ordered list of objects. */
export const objectList = <M extends Readonly<Record<string, Field>>>(
  members: M,
  description: string,
  facts: FieldFacts = {},
): Field<readonly FieldValues<M>[]> => ({
  ...field('list', z.array(registerName(objectSchema(members), facts)), { description, ...facts }),
  members,
})
/** Creates a field with any JSON value. */
export const opaque = (description: string, facts: FieldFacts = {}): Field<Json> =>
  field('json', z.json(), { description, ...facts })
/** Creates a field with a value that this schema parses, compared as a whole. */
export const structured = <T>(schema: z.ZodType<T>, description: string, facts: FieldFacts = {}): Field<T> =>
  field('json', registerName(schema, facts), { description, ...facts })

/**
 * Returns an object schema in which each field may be absent or null. It rejects unknown fields. Descriptions end with the defaults, which
 * are those of the fields unless others are given.
 */
export function objectSchema(fields: Readonly<Record<string, Field>>, defaults: Values = {}): z.ZodObject {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const description = describeDefault(field, defaults[name] ?? field.default)
        return [
          name,
          field.schema.nullish().meta({ description, ...((field.deprecated ?? field.legacy) && { deprecated: true }) }),
        ]
      }),
    ),
  )
}

function describeDefault({ computed, description }: Field, value: Json | undefined): string {
  const isDescribed = computed || value === '' || value === undefined || typeof value === 'object'
  return isDescribed ? description : `${description} Default: ${value}.`
}

function registerName<S extends z.ZodType>(schema: S, { schemaName }: FieldFacts): S {
  return schemaName === undefined ? schema : nameSchema(schemaName, schema)
}

// A cast, since `T` is the type in representations, while the schema also accepts other forms of the value.
function field<T>(type: FieldType, schema: z.ZodType, facts: FieldFacts & { readonly description: string }): Field<T> {
  return { type, schema: schema as z.ZodType<T>, ...facts }
}
