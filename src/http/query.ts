// Query parameters. Keycloak: they are parsed as RESTEasy does.
import * as z from 'zod'

/** A boolean parameter. Keycloak: `true` in any case is true, any other value is false, and an empty text counts as absent. */
export const queryFlag = z
  .string()
  .transform((text) => (text === '' ? undefined : text.toLowerCase() === 'true'))
  .optional()
  .meta({ wire: { type: 'boolean' } })

/** An integer parameter of 32 bits. Keycloak: any other value gives 404, and an empty text counts as absent. */
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
  first: queryNumber.describe('Number of elements to skip. Default: 0. A negative number counts as absent.'),
  max: queryNumber.describe('Maximum number of elements to return. A negative number counts as absent.'),
}
