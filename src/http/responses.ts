// Responses that many operations share, for OpenAPI and the tests.
import * as z from 'zod'
import { anyRepresentations, namedSchemas } from '../kinds/json-schema.ts'
import { getPluralTitle, type Kind } from '../kinds/kind.ts'
import type { Response } from './operation.ts'
import { representationOf } from './representations.ts'

const position = z.object({
  file: z.string().describe('Name of the file.'),
  line: z.number().describe('Line, from 1.'),
  column: z.number().describe('Column, from 1.'),
})

const problem = z.object({
  position: position.describe('Position in the text.'),
  message: z.string().describe('Problem, and what to do.'),
  path: z.string().optional().describe('JSON pointer in the document.'),
  otherPosition: position.optional().describe('The position of the other declaration, for a conflict.'),
})

const wrongField = {
  errorMessage: z.string().optional().describe('Error message.'),
  field: z.string().optional().describe('Invalid field.'),
  params: z
    .array(z.union([z.string(), z.number(), z.null()]))
    .optional()
    .describe('Parameters of the message; the field is first.'),
}

/** The schema of errors. Keycloak: they have one of several forms. */
export const errorSchema = z
  .object({
    ...wrongField,
    errors: anyRepresentations('ErrorRepresentation').optional().describe('Invalid fields, if there are several.'),
    error: z.string().optional().describe('Error code, or error message.'),
    error_description: z.string().optional().describe('Error message.'),
    violations: z.array(z.string()).optional().describe('Violated rules, each as field and message.'),
    problems: z.array(problem).optional().describe('Problems of a document.'),
  })
  .register(namedSchemas, { id: 'ErrorRepresentation' })

const error = (description: string): Response => ({ description, schema: errorSchema })

/** The error responses of every operation. */
export const errorResponses: Readonly<Record<number, Response>> = {
  400: error('The request is invalid.'),
  401: error('The access token is missing or invalid.'),
  403: error('The caller lacks a permission.'),
  404: error('The realm or object does not exist.'),
}

/** The error responses of operations with a request body. */
export const badRequest: Readonly<Record<number, Response>> = {
  400: error('The body is invalid.'),
  409: error('The name or id is already in use.'),
  415: error('The media type of the body is not JSON.'),
}

/** The error response of operations that assign something. */
export const alreadySoResponse: Readonly<Record<number, Response>> = {
  409: error('It is assigned already, or the name is in use.'),
}

/** The response 304 to a request with If-None-Match. */
export const notModifiedResponse: Readonly<Record<number, Response>> = {
  304: { description: 'The entity tag is in If-None-Match: the caller has this representation.' },
}

/** The response 412 to a request with If-Match. */
export const preconditionFailedResponse: Readonly<Record<number, Response>> = {
  412: error('The entity tag is not in If-Match: the resource has changed.'),
}

/** The response without a body. */
export const noContentResponse: Readonly<Record<number, Response>> = {
  204: { description: 'Success, without a body.' },
}

/** The response to a creation. */
export const createdResponse: Readonly<Record<number, Response>> = { 201: { description: 'Created.', located: true } }

/** Returns the response with one object of the kind. */
export function objectResponse(kind: Kind): Readonly<Record<number, Response>> {
  return { 200: { description: `The ${kind.title}.`, schema: representationOf(kind) } }
}

/** Returns the response with a list of objects of the kind. */
export function listResponse(kind: Kind): Readonly<Record<number, Response>> {
  return { 200: { description: `The ${getPluralTitle(kind)}.`, schema: z.array(representationOf(kind)) } }
}
