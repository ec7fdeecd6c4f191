// JSON schemas as Kubernetes wants them: structural, that is with nothing that refers elsewhere, and no choice of types.
import type { JsonSchema } from '../../kinds/json-schema.ts'

/** Anything: whoever reads it says what is wrong. */
export const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true } as const

/** The member that says in words what a value is whose type Kubernetes cannot say; it joins the description. */
export const WORDS = 'x-words'

type Definitions = Readonly<Record<string, JsonSchema>>
type Write = (schema: JsonSchema) => JsonSchema

/**
 * The schema with everything in its place that it refers to, by name among the definitions. What stands in itself, such as
 * groups in groups, is said once; below that, anything is let pass.
 */
export function structural(schema: JsonSchema, definitions: Definitions): JsonSchema {
  return written(schema, definitions, [])
}

function written(schema: JsonSchema, definitions: Definitions, around: readonly string[]): JsonSchema {
  const { [WORDS]: words, description, ...rest } = resolved(schema, definitions, around)
  if (description === undefined) return rest
  return { description: words === undefined ? description : `${description} (${words})`, ...rest }
}

function resolved(schema: JsonSchema, definitions: Definitions, around: readonly string[]): JsonSchema {
  const { $ref, allOf, anyOf, description, ...own } = schema
  const said = description === undefined ? {} : { description }
  const resolve: Write = (one) => resolved(one, definitions, around)
  // A reference stands in there that is described otherwise.
  if (allOf) return { ...resolve((allOf as JsonSchema[])[0]!), ...said }
  if ($ref !== undefined) return { ...referred(String($ref), definitions, around), ...said }
  if (anyOf) return { ...choice(anyOf as JsonSchema[], resolve), ...said }
  if (Array.isArray(own.type))
    return {
      ...choice(
        own.type.map((type) => ({ ...own, type })),
        resolve,
      ),
      ...said,
    }
  return { ...said, ...typed(own, (one) => written(one, definitions, around)) }
}

function referred(name: string, definitions: Definitions, around: readonly string[]): JsonSchema {
  const known = definitions[name]
  if (!known) throw new Error(`there is no schema ${name}`)
  if (around.includes(name)) return { description: known.description, type: 'object', ...ANYTHING }
  return resolved(known, definitions, [...around, name])
}

function choice(choices: readonly JsonSchema[], resolve: Write): JsonSchema {
  const some = choices.filter(({ type }) => type !== 'null')
  const one = some.length === 1 ? resolve(some[0]!) : textsOf(some)
  return some.length < choices.length ? orNull(one) : one
}

/** Choices among texts, as one. */
function textsOf(choices: readonly JsonSchema[]): JsonSchema {
  const texts = choices.map((one) => (one.const === undefined ? one.enum : [one.const]))
  return texts.every(Array.isArray) ? { type: 'string', enum: texts.flat() } : ANYTHING
}

/** Kubernetes takes null for none of the values of an `enum`, also where it stands among them. */
function orNull({ enum: texts, ...schema }: JsonSchema): JsonSchema {
  if (!texts) return { ...schema, nullable: true }
  const all = texts as string[]
  const pattern = `^(${all.map((text) => text.replaceAll(/[^\w-]/g, '\\$&')).join('|')})$`
  return { ...schema, pattern, nullable: true, [WORDS]: `one of ${all.map((text) => text || '""').join(', ')}` }
}

function typed({ type, ...own }: JsonSchema, write: Write): JsonSchema {
  if (type === undefined) return Object.keys(own).length ? own : { ...ANYTHING, nullable: true }
  const { properties, additionalProperties, propertyNames: _, items, ...rest } = own
  if (type === 'array') return { type, ...rest, items: write(items as JsonSchema) }
  if (type !== 'object') return { type, ...rest }
  if (!properties && additionalProperties && Object.keys(additionalProperties).length)
    return { type, ...rest, additionalProperties: write(additionalProperties as JsonSchema) }
  const fields = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
  return {
    type,
    ...rest,
    ...(additionalProperties !== false && ANYTHING),
    ...(fields.length && { properties: Object.fromEntries(fields.map(([key, one]) => [key, write(one)])) }),
  }
}
