// The table of effects has every field, every provider of the server information, and everything in the realm files.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  allStepProviders,
  clientAuthenticators,
  flowTypes,
  requiredActionProviders,
} from '../../src/kinds/authentication-providers.ts'
import { conditions, executors } from '../../src/kinds/client-policies.ts'
import { componentTypes, LDAP_MAPPER, USER_STORAGE } from '../../src/kinds/component-types.ts'
import type { FieldEffect } from '../../src/kinds/effects/field-effect.ts'
import { effects } from '../../src/kinds/effects/index.ts'
import type { Field } from '../../src/kinds/fields.ts'
import { identityProviderTypes } from '../../src/kinds/identity-provider-types.ts'
import { kinds } from '../../src/kinds/index.ts'
import { isList, type Representation, readObject, readObjects } from '../../src/kinds/json.ts'
import type { Kind, KindName } from '../../src/kinds/kind.ts'
import { mapperTypes } from '../../src/kinds/mapper-types.ts'
import { providerSettings } from '../../src/kinds/provider-settings.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'

/** Lists the paths of the fields that callers set, of the members of elements, and of any key of a map. */
function listPaths(fields: Readonly<Record<string, Field>>, prefix = ''): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.computed) return []
    if (field.members) return listPaths(field.members, `${prefix}${name}.`)
    return [field.type === 'map' && prefix === '' ? `${name}.*` : `${prefix}${name}`]
  })
}

const isListed = (kind: KindName, path: string) => Object.hasOwn(effects[kind], path)

/** Maps that have one effect. */
const WHOLE_MAPS = ['authenticationFlowBindingOverrides.*', 'registeredNodes.*']

test.each(Object.values(kinds))('each field of a $name has an effect', (kind: Kind) => {
  const missing = listPaths(kind.fields).filter(
    (path) => !isListed(kind.name, path) && !(WHOLE_MAPS.includes(path) && isListed(kind.name, path.slice(0, -2))),
  )
  expect(missing).toEqual([])
})

test('each effect is that of a field', () => {
  const unknown = Object.entries(effects).flatMap(([kind, kindEffects]) => {
    const paths = new Set(listPaths(kinds[kind as KindName].fields))
    return Object.keys(kindEffects).filter((path) => {
      const map = `${path.slice(0, path.indexOf('.'))}.*`
      return !paths.has(path) && !paths.has(map) && !paths.has(`${path}.*`)
    })
  })
  expect(unknown).toEqual([])
})

test.each<[KindName, string, readonly string[]]>([
  ['authenticationFlow', 'authenticationExecutions.authenticator', [...allStepProviders.keys()]],
  ['authenticationFlow', 'providerId', [...flowTypes.keys()]],
  ['client', 'clientAuthenticatorType', [...clientAuthenticators.keys()]],
  ['requiredAction', 'providerId', [...requiredActionProviders.keys()]],
  ['identityProvider', 'providerId', Object.keys(identityProviderTypes)],
  ['protocolMapper', 'protocolMapper', Object.keys(mapperTypes)],
  ['component', 'providerId', Object.values(componentTypes).flatMap((types) => Object.keys(types))],
  ['realm', 'clientProfiles.executors.executor', [...executors]],
  ['realm', 'clientPolicies.conditions.condition', [...conditions]],
])('each provider of %s %s has an effect', (kind, path, ids) => {
  const effect = effects[kind][path]
  const listed = effect?.effect === 'provider' ? Object.keys(effect.providers) : []
  expect(ids.filter((id) => !listed.includes(id))).toEqual([])
})

test.each<[KindName, string, readonly string[]]>([
  [
    'authenticatorConfig',
    'config',
    [...allStepProviders.values()].flatMap(({ config }) => config.map(({ name }) => name)),
  ],
  [
    'requiredAction',
    'config',
    [...requiredActionProviders.values()].flatMap(({ config = [] }) => config.map(({ name }) => name)),
  ],
  [
    'protocolMapper',
    'config',
    Object.values(providerSettings.protocolMappers).flatMap((settings) => settings.map(({ name }) => name)),
  ],
  [
    'component',
    'config',
    [USER_STORAGE, LDAP_MAPPER]
      .flatMap((type) => Object.values(componentTypes[type]!))
      .flatMap(({ properties }) => properties.map(({ name }) => name)),
  ],
])('each setting of the providers of %s has an effect of its own', (kind, map, names) => {
  expect([...new Set(names)].filter((name) => !name.startsWith('x509-') && !isListed(kind, `${map}.${name}`))).toEqual(
    [],
  )
})

/** All effects with the tests that they name. */
const listEffects = (effect: FieldEffect): FieldEffect[] =>
  effect.effect === 'provider' ? Object.values(effect.providers) : [effect]

test('each enforced or refused value names an existing file of tests', () => {
  const tests = Object.values(effects)
    .flatMap((kindEffects) => Object.values(kindEffects))
    .flatMap(listEffects)
    .flatMap((effect) => (effect.effect === 'enforced' || effect.effect === 'refused' ? [effect.test] : []))
  const root = join(import.meta.dirname, '..', '..')
  expect([...new Set(tests)].filter((file) => file === undefined || !existsSync(join(root, file)))).toEqual([])
})

/** Attributes that extensions of Keycloak read. */
const EXTENSIONS = ['attributes.acme', 'attributes.friendlyCaptcha']

/** The maps of a realm file whose keys have a meaning, by the list that contains their objects. */
const MAPS: readonly (readonly [KindName, string, string])[] = [
  ['client', 'clients', 'attributes'],
  ['clientScope', 'clientScopes', 'attributes'],
  ['requiredAction', 'requiredActions', 'config'],
]

/** Lists the settings in a realm file. */
function listSettings(realm: Representation): [KindName, string][] {
  const toSettings = (kind: KindName, object: Representation, map: string) =>
    Object.keys(readObject(object[map])).map((key): [KindName, string] => [kind, `${map}.${key}`])
  return [
    ...['attributes', 'browserSecurityHeaders', 'smtpServer'].flatMap((map) => toSettings('realm', realm, map)),
    ...MAPS.flatMap(([kind, list, map]) => readObjects(realm[list]).flatMap((object) => toSettings(kind, object, map))),
  ]
}

test.each(globSync('../shared/data/realms/*.{yaml,json}'))('each setting in %s has an effect of its own', (file) => {
  const documents = parseDocuments(file, readFileSync(file, 'utf8')).map(({ value }) => value)
  const settings = documents
    .flatMap((document) => (isList(document) ? readObjects(document) : [readObject(document)]))
    .flatMap(listSettings)
  const keycloakSettings = settings.filter(([, path]) => !EXTENSIONS.some((prefix) => path.startsWith(prefix)))
  expect(keycloakSettings.filter(([kind, path]) => !isListed(kind, path))).toEqual([])
})
