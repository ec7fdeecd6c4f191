import type { Json } from './json.ts'

/** A setting of a provider. Keycloak: ConfigPropertyRepresentation, for forms of the admin console. */
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
