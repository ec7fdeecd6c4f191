import type { Json } from './json.ts'

/** One setting of a provider, for the forms of the reference server's console. */
export type ConfigProperty = {
  readonly name: string
  readonly label?: string
  readonly helpText?: string
  readonly type: string
  readonly defaultValue?: Json
  readonly options?: readonly string[]
  readonly secret?: boolean
  readonly required?: boolean
  readonly readOnly?: boolean
}
