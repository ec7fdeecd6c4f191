// Renders the schema of the chart's values, whose settings are those of the server.
import { readFileSync } from 'node:fs'
import { type Setting, settings } from '../src/config.ts'
import { type JsonSchema, readJsonSchema } from '../src/kinds/json-schema.ts'

const FILE = 'charts/regent/values.schema.json'

/** Returns the schema with one property for each setting. Those that the chart sets itself stay false. */
export function renderChartSchema(): string {
  const schema: JsonSchema = JSON.parse(readFileSync(FILE, 'utf8'))
  const values = readJsonSchema(schema.properties)
  const chart = readJsonSchema(values.settings)
  const forbidden = Object.entries(readJsonSchema(chart.properties)).filter(([, property]) => property === false)
  const names = new Set(forbidden.map(([name]) => name))
  const table: Readonly<Record<string, Setting>> = settings
  const properties = Object.entries(table)
    .filter(([name]) => !names.has(name))
    .map(([name, { placeholder, description }]) => [
      name,
      {
        description,
        ...(placeholder === undefined
          ? { type: 'boolean' }
          : { type: ['string', 'number', 'array'], items: { type: 'string' } }),
      },
    ])
  const settingsSchema = {
    ...chart,
    properties: Object.fromEntries([...forbidden, ...properties]),
    additionalProperties: false,
  }
  return `${JSON.stringify({ ...schema, properties: { ...values, settings: settingsSchema } }, null, 2)}\n`
}
