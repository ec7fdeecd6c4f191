// Parameters of queries, as RESTEasy reads them.
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

/** Every value that is given counts; empty ones are as absent. */
export const queryTexts = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().filter((value) => value !== ''))
  .optional()
  .meta({ wire: { type: 'array', items: { type: 'string' } } })

/** Whether every value of a parameter counts, and not only the first. */
export function takesSeveral(schema: z.core.$ZodType | undefined): boolean {
  const wire = schema && (z.globalRegistry.get(schema)?.wire as { type: string } | undefined)
  return wire?.type === 'array'
}

/** The parameters of a page. */
export const page = {
  first: queryNumber.describe('How many to leave out at the beginning; below 0 as absent.'),
  max: queryNumber.describe('How many to give at most; below 0 as absent.'),
}
