// Settings of providers that the server information lists, recorded from Keycloak.
import recorded from './built-in/provider-settings.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'

type SettingsById = Readonly<Record<string, readonly ConfigProperty[]>>

const { builtInMappers: mappers, ...settings } = recorded

/** Settings by the kind of provider and by its id. Providers without settings are absent. */
export const providerSettings: Readonly<Record<keyof typeof settings, SettingsById>> = settings

/** Protocol mappers that Keycloak offers for clients and client scopes, and that no built-in client scope has. */
export const furtherBuiltInMappers: readonly {
  readonly name: string
  readonly protocol: string
  readonly protocolMapper: string
  readonly config: Readonly<Record<string, string | undefined>>
}[] = mappers
