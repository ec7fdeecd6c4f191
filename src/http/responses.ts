// Responses that many operations share, for OpenAPI and the tests.
import * as z from 'zod'
import { kinds } from '../kinds/index.ts'
import type { Kind, KindName } from '../kinds/kind.ts'
import { listNestedChildren, childrenSchema } from '../kinds/nested-schema.ts'
import { profileMetadata } from '../kinds/user-profile.ts'
import { bodySchema, childShapes } from './body.ts'
import type { Response } from './operation.ts'

/** Schemas that have a name in OpenAPI. */
export const components = z.registry<{ id: string }>()

const position = z.object({
  file: z.string().describe('Name of the file.'),
  line: z.number().describe('Line, from 1.'),
  column: z.number().describe('Column, from 1.'),
})

const problem = z.object({
  position: position.describe('Where in the text.'),
  message: z.string().describe('What is wrong, and what would be right.'),
  path: z.string().optional().describe('Where in the document, as a JSON pointer.'),
  other: position.optional().describe('Of a contradiction: the other place.'),
})

const wrongField = {
  errorMessage: z.string().optional().describe('What is wrong, in words for people.'),
  field: z.string().optional().describe('The field that is wrong.'),
  params: z
    .array(z.union([z.string(), z.number(), z.null()]))
    .optional()
    .describe('What the words are about, the field first.'),
}

/** Keycloak: errors have one of several forms. */
export const errorSchema = z
  .object({
    ...wrongField,
    errors: z.array(z.object(wrongField)).optional().describe('The fields that are wrong, where it is more than one.'),
    error: z.string().optional().describe('What is wrong: a code, or words for people.'),
    error_description: z.string().optional().describe('What is wrong, in words for people.'),
    problems: z.array(problem).optional().describe('What is wrong in a document, one by one.'),
  })
  .register(components, { id: 'ErrorRepresentation' })

const error = (description: string): Response => ({ description, schema: errorSchema })

/** Every operation may answer so. */
export const refusals: Readonly<Record<number, Response>> = {
  400: error('The request says something that cannot be.'),
  401: error('There is no valid token.'),
  403: error('The caller may not do this.'),
  404: error('The realm does not exist, or what is named in it.'),
}

/** So answers an operation that takes a body. */
export const badRequest: Readonly<Record<number, Response>> = {
  400: error('The body cannot be read, or says something that cannot be.'),
  409: error('The name or the id is taken.'),
  415: error('The body is of another type than JSON.'),
}

/** So answers an operation that makes something what it may be already. */
export const taken: Readonly<Record<number, Response>> = { 409: error('It is so already, or the name is taken.') }

/** So answers who is asked for what the caller has already. */
export const unchanged: Readonly<Record<number, Response>> = {
  304: { description: 'The tag is one that If-None-Match names: the caller has it already.' },
}

/** So answers who is asked on a condition. */
export const unmatched: Readonly<Record<number, Response>> = {
  412: error('The tag is none that If-Match names: it has changed meanwhile.'),
}

/** Done, and nothing to say. */
export const done: Readonly<Record<number, Response>> = { 204: { description: 'Done.' } }

/** Made; nothing to say but where it is. */
export const made: Readonly<Record<number, Response>> = { 201: { description: 'Made.', located: true } }

/** One object of the kind. */
export function one(kind: Kind): Readonly<Record<number, Response>> {
  return { 200: { description: `The ${kind.title}.`, schema: representationOf(kind) } }
}

/** A list of objects of the kind. */
export function many(kind: Kind): Readonly<Record<number, Response>> {
  return { 200: { description: `Each ${kind.title}.`, schema: z.array(representationOf(kind)) } }
}

/** What stands in a representation and is more than its kind says of it: whole objects, and what only shows. */
const inside: Partial<Record<KindName, (schemaOf: (kind: KindName) => z.ZodType) => Record<string, z.ZodType>>> = {
  realm: (schemaOf) => ({
    ...childShapes(schemaOf),
    defaultRole: schemaOf('role'),
    adminPermissionsClient: schemaOf('client'),
  }),
  group: (schemaOf) => ({ subGroups: z.array(schemaOf('group')) }),
  user: () => ({ userProfileMetadata: profileMetadata }),
}

const representations = new Map<Kind, z.ZodType>()

/** The representation of a kind, registered under Keycloak's name for it. */
export function representationOf(kind: Kind): z.ZodType {
  const known = representations.get(kind)
  if (known) return known
  const children = listNestedChildren(kind).map(([field, child]) => [
    field,
    childrenSchema(child, representationOf(child)).optional().describe(`Each ${child.title} of the ${kind.title}.`),
  ])
  const own = bodySchema(kind).shape
  const whole = Object.entries(inside[kind.name]?.((name) => z.lazy(() => representationOf(kinds[name]))) ?? {})
  const fields = whole.map(([field, one]) => [
    field,
    one.optional().describe(one.description ?? (own[field] as z.ZodType).description ?? ''),
  ])
  const schema = z
    .object({ ...own, ...Object.fromEntries([...children, ...fields]) })
    .describe(`A ${kind.title}.`)
    .register(components, { id: kind.representation })
  representations.set(kind, schema)
  return schema
}
