// User federation as early versions declare it. Regent has components for the providers and their mappers.
import { formatComponentPath } from '../../kinds/component.ts'
import { LDAP_MAPPER, USER_STORAGE } from '../../kinds/component-types.ts'
import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Reads user federation providers and their mappers as components. */
export const userFederation: FormatConverter = {
  read({ userFederationProviders: providers = null, userFederationMappers: mappers = null, ...realm }, context) {
    if (providers === null && mappers === null) return realm
    const existing = realm.components ?? []
    if (!isList(existing)) return realm
    const components = [...existing]
    const add = (path: DocumentPath, component: Representation) => {
      context.recordMove(['components', components.length], path)
      components.push(component)
    }
    for (const { path, value } of listElements(providers, PROVIDERS, context)) add(path, convertProvider(value))
    for (const { path, value } of listElements(mappers, MAPPERS, context)) {
      const provider = String(value.federationProviderDisplayName ?? '')
      const providerPath = toProviderPath(provider)
      if (components.some((component) => isObject(component) && component.path === providerPath))
        add(path, convertMapper(value, providerPath))
      else {
        const problem = `mapper ${value.name}: user federation provider "${provider}" is not in this document`
        context.report(path, `${problem}: declare it, or correct federationProviderDisplayName`)
      }
    }
    return { ...realm, components }
  },
  write: (realm) => realm,
}

const PROVIDERS = { field: 'userFederationProviders', nameField: 'displayName' }
const MAPPERS = { field: 'userFederationMappers', nameField: 'name' }

function listElements(
  value: Json,
  { field, nameField }: typeof PROVIDERS,
  { report }: ConversionContext,
): { path: DocumentPath; value: Representation }[] {
  if (value === null) return []
  if (!isList(value)) {
    const advice = `begin each element with "- ${nameField}: <name>"`
    report([field], `${field} must be a list, not ${describeType(value)}: ${advice}`)
    return []
  }
  return value.flatMap((element, at) => {
    if (isObject(element) && typeof element[nameField] === 'string') return [{ path: [field, at], value: element }]
    report([field, at], `${field}[${at}] needs a name: add "${nameField}: <name>"`)
    return []
  })
}

function convertProvider(provider: Representation): Representation {
  const { displayName, providerName, config } = provider
  const settings = toLists(config)
  // Keycloak: the default is 0.
  const numbers = ['priority', 'fullSyncPeriod', 'changedSyncPeriod'].map((name) => [
    name,
    [String(provider[name] ?? 0)],
  ])
  return {
    ...getId(provider),
    path: toProviderPath(String(displayName)),
    providerId: providerName ?? null,
    config: isObject(settings) ? { ...settings, ...Object.fromEntries(numbers) } : settings,
  }
}

function convertMapper(mapper: Representation, providerPath: string): Representation {
  const { name, federationMapperType, config } = mapper
  return {
    ...getId(mapper),
    path: formatComponentPath(providerPath, { providerType: LDAP_MAPPER, name: String(name) }),
    providerId: federationMapperType ?? null,
    config: toLists(config),
  }
}

const toProviderPath = (name: string) => formatComponentPath('', { providerType: USER_STORAGE, name })

const getId = ({ id }: Representation): Representation => (id === undefined ? {} : { id })

/** Converts the config of a provider to that of a component, which has lists of values. Returns an invalid config as it is. */
function toLists(config: Json | undefined): Json {
  if (config === undefined || config === null) return {}
  if (!isObject(config)) return config
  const values = Object.entries(config).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(values.map(([name, value]) => [name, [value]]))
}
