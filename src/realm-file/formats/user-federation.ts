// User stores as earlier versions list them: kept they are components, as are the mappers, which name their store.
import { componentPath } from '../../kinds/component.ts'
import { LDAP_MAPPER, USER_STORAGE } from '../../kinds/component-types.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** User stores and their mappers as components. */
export const userFederation: FormatConverter = {
  read({ userFederationProviders: stores = null, userFederationMappers: mappers = null, ...realm }, notes) {
    if (stores === null && mappers === null) return realm
    if (!Array.isArray(realm.components ?? [])) return realm
    const components = [...((realm.components ?? []) as Json[])]
    const add = (path: DocumentPath, component: Representation) => {
      notes.recordMove(['components', components.length], path)
      components.push(component)
    }
    for (const [path, store] of elementsOf(stores, 'userFederationProviders', 'displayName', notes))
      add(path, { ...withId(store), ...storeOf(store) })
    for (const [path, mapper] of elementsOf(mappers, 'userFederationMappers', 'name', notes)) {
      const name = String(mapper.federationProviderDisplayName ?? '')
      const owner = pathOfStore(name)
      const isThere = components.some((one) => isObject(one) && one.path === owner)
      if (isThere) add(path, { ...withId(mapper), ...mapperOf(mapper, owner) })
      else {
        const advice = 'state the store, or correct federationProviderDisplayName'
        notes.report(
          path,
          `mapper ${mapper.name} belongs to the user store ${name}, which is not in this document: ${advice}`,
        )
      }
    }
    return { ...realm, components }
  },
  write: (realm) => realm,
}

function elementsOf(
  value: Json,
  field: string,
  naming: string,
  { report }: ConversionContext,
): [DocumentPath, Representation][] {
  if (value === null) return []
  if (!Array.isArray(value)) {
    report(
      [field],
      `${field} must be a list, not ${describeType(value)}: begin each element with "- ${naming}: <name>"`,
    )
    return []
  }
  return value.flatMap((one, at): [DocumentPath, Representation][] => {
    if (isObject(one) && typeof one[naming] === 'string') return [[[field, at], one]]
    report([field, at], `${field}[${at}] needs a name: add "${naming}: <name>"`)
    return []
  })
}

function storeOf({ displayName, providerName, config, ...store }: Representation): Representation {
  // Keycloak: what is not stated is 0.
  const periods = ['priority', 'fullSyncPeriod', 'changedSyncPeriod'].map((name) => [name, String(store[name] ?? 0)])
  return {
    path: pathOfStore(String(displayName)),
    providerId: providerName ?? null,
    config: { ...inLists(config), ...inLists(Object.fromEntries(periods)) },
  }
}

function mapperOf({ name, federationMapperType, config }: Representation, owner: string): Representation {
  return {
    path: componentPath(owner, { providerType: LDAP_MAPPER, name: String(name) }),
    providerId: federationMapperType ?? null,
    config: inLists(config),
  }
}

const pathOfStore = (name: string) => componentPath('', { providerType: USER_STORAGE, name })

function withId({ id }: Representation): Representation {
  return id === undefined ? {} : { id }
}

function inLists(config: Json | undefined): Representation {
  const stated = Object.entries((config ?? {}) as Representation).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(stated.map(([name, value]) => [name, [value]]))
}
