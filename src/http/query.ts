// Query parameters. Keycloak: they are parsed as RESTEasy does.
import * as z from 'zod'

/** Keycloak: true in any case is true, anything else is false. */
export const queryFlag = z
  .string()
  .transform((text) => text.toLowerCase() === 'true')
  .optional()
  .meta({ wire: { type: 'boolean' } })

/** Keycloak: what is no number of 32 bits makes an address that does not exist; an empty text is as absent. */
export const queryNumber = z
  .string()
  .regex(/^([+-]?\d+)?$/)
  .transform((text) => (text === '' ? undefined : Number(text)))
  .pipe(z.int32().optional())
  .optional()
  .meta({ wire: { type: 'integer', format: 'int32' } })

/** A repeatable parameter. Empty values count as absent. */
export const queryTexts = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().filter((value) => value !== ''))
  .optional()
  .meta({ wire: { type: 'array', items: { type: 'string' } } })

/** Whether a parameter is repeatable. Otherwise only its first value counts. */
export function isRepeatable(schema: z.core.$ZodType | undefined): boolean {
  const wire = schema && (z.globalRegistry.get(schema)?.wire as { type: string } | undefined)
  return wire?.type === 'array'
}

/** The parameters for pages of a list. */
export const page = {
  first: queryNumber.describe('Number of elements to skip; a negative number counts as absent.'),
  max: queryNumber.describe('The most elements to return; a negative number counts as absent.'),
}
