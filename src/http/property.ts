// The configuration properties of providers.
import * as z from 'zod'
import type { ConfigProperty } from '../kinds/config-property.ts'
import { namedSchemas } from '../kinds/json-schema.ts'

/** The schema of a configuration property. */
export const propertySchema = z
  .object({
    name: z.string().describe('Name of the property.'),
    label: z.string().optional().describe('Display name.'),
    helpText: z.string().optional().describe('Help text.'),
    type: z.string().describe('Type of the value, such as String or boolean.'),
    defaultValue: z.json().optional().describe('Default value.'),
    options: z.array(z.string()).optional().describe('Permitted values.'),
    secret: z.boolean().describe('Whether the value is a secret.'),
    required: z.boolean().describe('Whether a value is required.'),
    readOnly: z.boolean().describe('Whether the value cannot be changed.'),
  })
  .register(namedSchemas, { id: 'ConfigPropertyRepresentation' })

/** Returns a property in the form of the API, with its flags present. */
export function toProperty(setting: ConfigProperty): object {
  return { secret: false, required: false, readOnly: false, ...setting }
}
