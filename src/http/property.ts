// Settings of providers, as several operations show them.
import * as z from 'zod'
import type { ConfigProperty } from '../kinds/config-property.ts'
import { components } from './responses.ts'

/** One setting of a provider. */
export const property = z
  .object({
    name: z.string().describe('Name of the setting.'),
    label: z.string().optional().describe('Name of the setting as people see it.'),
    helpText: z.string().optional().describe('What the setting means.'),
    type: z.string().describe('Type of the value, such as String or boolean.'),
    defaultValue: z.json().optional().describe('What counts where nothing is set.'),
    options: z.array(z.string()).optional().describe('What can be chosen.'),
    secret: z.boolean().describe('Whether the value is a secret.'),
    required: z.boolean().describe('Whether a value is needed.'),
    readOnly: z.boolean().describe('Whether the value cannot be changed.'),
  })
  .register(components, { id: 'ConfigPropertyRepresentation' })

/** A setting as it shows: of what is not said of it, it is nothing. */
export function shown(setting: ConfigProperty): object {
  return { secret: false, required: false, readOnly: false, ...setting }
}
