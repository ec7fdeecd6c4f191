// Converts JSON schemas to structural schemas, which CRDs require: without references, and with one type for each value.
import { isJsonSchema, type JsonSchema, readJsonSchema } from '../../kinds/json-schema.ts'

/** Accepts any value, which the operator validates itself. */
export const ANY_VALUE = { 'x-kubernetes-preserve-unknown-fields': true } as const

/** A member with the type of a value in words, where a structural schema cannot express it. It is appended to the description. */
export const TYPE_TEXT = 'x-type-text'

type Definitions = Readonly<Record<string, JsonSchema>>

/** The definitions by name, and the names of those that contain the schema. */
interface Scope {
  readonly definitions: Definitions
  readonly path: readonly string[]
}

/**
 * Converts a schema. References to definitions are replaced by the definitions themselves. A definition within itself, such as groups
 * in groups, is expanded once; further levels accept any value.
 */
export function toStructuralSchema(schema: JsonSchema, definitions: Definitions): JsonSchema {
  return convert(schema, { definitions, path: [] })
}

function convert(schema: JsonSchema, scope: Scope): JsonSchema {
  const { [TYPE_TEXT]: typeText, description, ...rest } = resolve(schema, scope)
  if (description === undefined) return rest
  return { description: typeText === undefined ? description : `${description} (${typeText})`, ...rest }
}

/** Resolves references and choices of types. */
function resolve(schema: JsonSchema, scope: Scope): JsonSchema {
  const { $ref, allOf, anyOf, description, ...members } = schema
  const ownDescription = description === undefined ? {} : { description }
  // A reference with a description of its own is wrapped in `allOf`.
  if (Array.isArray(allOf)) return { ...resolve(readJsonSchema(allOf[0]), scope), ...ownDescription }
  if ($ref !== undefined) return { ...resolveReference(String($ref), scope), ...ownDescription }
  if (Array.isArray(anyOf)) return { ...resolveChoice(anyOf.filter(isJsonSchema), scope), ...ownDescription }
  if (Array.isArray(members.type)) {
    const choices = members.type.map((type) => ({ ...members, type }))
    return { ...resolveChoice(choices, scope), ...ownDescription }
  }
  return { ...ownDescription, ...convertMembers(members, scope) }
}

function resolveReference(name: string, { definitions, path }: Scope): JsonSchema {
  const definition = definitions[name]
  if (!definition) throw new Error(`There is no schema ${name}.`)
  if (path.includes(name)) return { description: definition.description, type: 'object', ...ANY_VALUE }
  return resolve(definition, { definitions, path: [...path, name] })
}

function resolveChoice(choices: readonly JsonSchema[], scope: Scope): JsonSchema {
  const nonNull = choices.filter(({ type }) => type !== 'null')
  const schema = nonNull.length === 1 ? resolve(nonNull[0]!, scope) : mergeChoices(nonNull)
  return nonNull.length < choices.length ? makeNullable(schema) : schema
}

/** Merges choices among texts into one enum. Other choices accept any value. */
function mergeChoices(choices: readonly JsonSchema[]): JsonSchema {
  const texts = choices.map((choice) => (choice.const === undefined ? choice.enum : [choice.const]))
  return texts.every(Array.isArray) ? { type: 'string', enum: texts.flat() } : ANY_VALUE
}

/** Makes a schema accept null. An enum becomes a pattern, since Kubernetes refuses null even if an enum contains it. */
function makeNullable({ enum: values, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(values)) return { ...schema, nullable: true }
  const texts = values.map(String)
  const pattern = `^(${texts.map((text) => text.replaceAll(/[^\w-]/g, '\\$&')).join('|')})$`
  return { ...schema, pattern, nullable: true, [TYPE_TEXT]: `one of ${texts.map((text) => text || '""').join(', ')}` }
}

function convertMembers({ type, ...members }: JsonSchema, scope: Scope): JsonSchema {
  if (type === undefined) return Object.keys(members).length ? members : { ...ANY_VALUE, nullable: true }
  const { properties, additionalProperties, propertyNames: _, items, ...rest } = members
  if (type === 'array') return { type, ...rest, items: convert(readJsonSchema(items), scope) }
  if (type !== 'object') return { type, ...rest }
  if (!properties && isJsonSchema(additionalProperties) && Object.keys(additionalProperties).length)
    return { type, ...rest, additionalProperties: convert(additionalProperties, scope) }
  const fields = Object.entries(readJsonSchema(properties))
  return {
    type,
    ...rest,
    ...(additionalProperties !== false && ANY_VALUE),
    ...(fields.length && {
      properties: Object.fromEntries(fields.map(([key, field]) => [key, convert(readJsonSchema(field), scope)])),
    }),
  }
}
