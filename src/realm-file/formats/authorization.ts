// Authorization services: in documents, resources, scopes and policies are in `authorizationSettings` of the client, and policies refer
// to other objects by JSON texts. Regent has children of the client, and relations of policies.
import { listPolicyTargets, type PolicyTarget, parsePolicyElements } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toRelationValue } from '../../kinds/relations.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { describeType } from '../message-words.ts'
import { completeAdminPermissions } from './admin-permissions.ts'
import { authorizationSettingsSchema } from './authorization-schema.ts'
import { settingsLists, writeAuthorizationSettings } from './authorization-settings.ts'
import type { ConversionContext, FormatConverter, Move } from './format-converter.ts'
import { addUmaRoles } from './uma-roles.ts'

const { fields } = kinds.authorizationPolicy

/** Converts the authorization settings of clients to children of them. */
export const authorization: FormatConverter = {
  read(realm, context) {
    if (!isList(realm.clients)) return realm
    const reader = new AuthorizationReader(new ReferenceResolver(realm), context)
    const clients = realm.clients.map((client, at) => {
      if (!isObject(client)) return client
      const path = ['clients', at]
      const converted = isObject(client.authorizationSettings) ? reader.readClient(client, path) : client
      return completeAdminPermissions(converted, { path, realm }, context)
    })
    return addUmaRoles({ ...realm, clients }, context)
  },
  write(realm) {
    if (!isList(realm.clients)) return realm
    return { ...realm, clients: readObjects(realm.clients).map(writeClient) }
  },
  schemas: () => ({ client: { authorizationSettings: authorizationSettingsSchema } }),
}

class AuthorizationReader {
  readonly #references: ReferenceResolver
  readonly #context: ConversionContext

  constructor(references: ReferenceResolver, context: ConversionContext) {
    this.#references = references
    this.#context = context
  }

  readClient(declared: Representation, path: DocumentPath): Representation {
    const client = this.#makeConfidential(declared, path)
    const settings = { ...readObject(client.authorizationSettings) }
    const converted: Representation = { ...client }
    for (const [list, field] of settingsLists) {
      const value = settings[list] ?? null
      delete settings[list]
      if (value === null) continue
      const from = [...path, 'authorizationSettings', list]
      if (!isList(value)) {
        this.#context.report(from, `authorizationSettings.${list} must be a list, not ${describeType(value)}`)
        continue
      }
      const children = isList(converted[field]) ? converted[field] : []
      const convertedElements = value.map((element, at) => {
        const move = { to: [...path, field, children.length + at], from: [...from, at] }
        this.#context.recordMove(move.to, move.from)
        if (!isObject(element)) return element
        if (list === 'policies') return this.#readPolicy(element, move)
        return list === 'resources' ? this.#readResource(element, client, move) : element
      })
      converted[field] = [...children, ...convertedElements]
    }
    // An export of one client contains these fields, which are no settings.
    for (const field of ['id', 'clientId', 'name', 'authorizationSchema']) delete settings[field]
    this.#addResourceScopes(converted, path)
    converted.authorizationSettings = settings
    return converted
  }

  /** Keycloak: a client with authorization settings is confidential, whatever it declares. */
  #makeConfidential(client: Representation, path: DocumentPath): Representation {
    const flags = ['bearerOnly', 'publicClient'].filter((flag) => String(client[flag]) === 'true')
    for (const flag of flags)
      this.#context.warn(
        [...path, flag],
        `client ${client.clientId}: ${flag} is ignored, since a client with authorizationSettings is confidential`,
      )
    return { ...client, ...Object.fromEntries(flags.map((flag) => [flag, false])) }
  }

  /** Adds the scopes that resources refer to. Keycloak: creates them, with the fields that the resource declares. */
  #addResourceScopes(client: Representation, path: DocumentPath): void {
    const { resources } = readObject(client.authorizationSettings)
    const scopes = isList(client.authorizationScopes) ? [...client.authorizationScopes] : []
    for (const [at, resource] of (isList(resources) ? resources : []).entries()) {
      if (!isObject(resource) || !isList(resource.scopes)) continue
      for (const [index, reference] of resource.scopes.entries()) {
        const scope = isObject(reference) ? reference : { name: reference }
        if (typeof scope.name !== 'string') continue
        const existing = scopes.findIndex((element) => isObject(element) && element.name === scope.name)
        if (existing >= 0) {
          scopes[existing] = { ...scope, ...readObject(scopes[existing]) }
          continue
        }
        const from = [...path, 'authorizationSettings', 'resources', at, 'scopes', index]
        this.#context.recordMove([...path, 'authorizationScopes', scopes.length], from)
        scopes.push(scope)
      }
    }
    if (scopes.length) client.authorizationScopes = scopes
  }

  #readResource(resource: Representation, client: Representation, { to, from }: Move): Representation {
    const { uri, owner: declaredOwner, scopes, scopesUma, ...rest } = resource
    const owner = isObject(declaredOwner) ? declaredOwner.name : declaredOwner
    const declaredScopes = scopes ?? scopesUma
    const hasLegacyUri = uri != null && rest.uris == null
    if (hasLegacyUri) this.#context.recordMove([...to, 'uris'], [...from, 'uri'])
    return {
      ...rest,
      ...(hasLegacyUri && { uris: [uri] }),
      ...(owner != null && owner !== client.clientId && { owner }),
      ...(declaredScopes !== undefined && {
        scopes: isList(declaredScopes) ? declaredScopes.map(readScopeName) : declaredScopes,
      }),
    }
  }

  #readPolicy(policy: Representation, { to, from }: Move): Representation {
    if (!isObject(policy.config ?? null)) return policy
    const config = { ...readObject(policy.config) }
    const converted: Representation = { ...policy, config }
    for (const target of listPolicyTargets(policy.type)) {
      const value = config[target.configKey]
      delete config[target.configKey]
      if (value === undefined || value === null || value === '') continue
      const path = [...from, 'config', target.configKey]
      const relations = this.#readTarget(target, value)
      if (!relations) {
        const example = target.flagged ? `[{"${target.flagged.names[0]}":"<name>"}]` : '["<name>"]'
        const name = `authorization policy ${policy.name}: config.${target.configKey}`
        this.#context.report(path, `${name} must be a list as JSON, such as ${example}`)
        continue
      }
      Object.assign(converted, relations)
      for (const field of Object.keys(relations)) this.#context.recordMove([...to, field], path)
    }
    return converted
  }

  /** Returns the relations of a policy that a setting declares; undefined if the setting is not a list. */
  #readTarget(target: PolicyTarget, value: Json): Representation | undefined {
    const { field, flagged } = target
    const elements = parsePolicyElements(target, value)
    if (!elements) return undefined
    const readNames = (isFlagged: boolean) =>
      elements.filter((element) => element.flagged === isFlagged).map(({ name }) => name)
    const flaggedNames = flagged ? readNames(true) : []
    return {
      [field]: this.#toRelation(field, readNames(false)),
      ...(flagged && flaggedNames.length && { [flagged.field]: this.#toRelation(flagged.field, flaggedNames) }),
    }
  }

  #toRelation(name: string, texts: readonly string[]): Json {
    const field = fields[name]!
    const { refersTo, targetsSiblings, type } = field
    if (refersTo === 'role')
      return toRelationValue(
        field,
        texts.map((text) => this.#references.resolveRole(text)),
      )
    return targetsSiblings || type !== 'set'
      ? texts
      : texts.map((text) => this.#references.resolveName(refersTo!, text))
  }
}

/** Returns the name of a scope, which may be an object with a name. */
function readScopeName(scope: Json): Json {
  return isObject(scope) ? (scope.name ?? scope) : scope
}

/** Resolves the references of policies, which are natural keys or ids of objects in the document. */
class ReferenceResolver {
  readonly #realmRoles: ReadonlySet<Json | undefined>
  readonly #clientIds: ReadonlySet<Json | undefined>
  readonly #roleKeysById: ReadonlyMap<string, Key>
  readonly #getNames: () => ReadonlyMap<KindName, NamesOfKind>

  constructor(realm: Representation) {
    const { realm: realmRoles = [], client: clientRoles } = readObject(realm.roles)
    this.#realmRoles = listNames(realmRoles, 'name')
    this.#clientIds = listNames(realm.clients ?? [], 'clientId')
    this.#roleKeysById = new Map([
      ...listIds(realmRoles, 'name').map(([id, name]): [string, Key] => [id, [name]]),
      ...Object.entries(readObject(clientRoles)).flatMap(([client, roles]) =>
        listIds(roles, 'name').map(([id, name]): [string, Key] => [id, ['client', client, name]]),
      ),
    ])
    this.#getNames = memoize(() => indexNames(realm))
  }

  /**
   * Returns the key of a role. Keycloak: a client role is `client/role`. Both names may contain slashes: a client in the document decides,
   * otherwise the last slash separates them.
   */
  resolveRole(text: string): Key {
    const slashes = [...text.matchAll(/\//g)].map(({ index }) => index)
    if (this.#realmRoles.has(text)) return [text]
    if (!slashes.length) return this.#roleKeysById.get(text) ?? [text]
    const at = slashes.find((slash) => this.#clientIds.has(text.slice(0, slash))) ?? slashes.at(-1)!
    return ['client', text.slice(0, at), text.slice(at + 1)]
  }

  /** Returns the natural key of an object without a parent. */
  resolveName(kind: KindName, text: string): string {
    const { names, namesById } = this.#getNames().get(kind) ?? {}
    return names?.has(text) ? text : (namesById?.get(text) ?? text)
  }
}

interface NamesOfKind {
  readonly names: ReadonlySet<Json | undefined>
  readonly namesById: ReadonlyMap<string, string>
}

/** The lists of a realm with the other objects that policies refer to, and the natural keys of these. */
const targetLists: readonly [kind: KindName, list: string, naturalKey: string][] = [
  ['user', 'users', 'username'],
  ['client', 'clients', 'clientId'],
  ['group', 'groups', 'path'],
  ['clientScope', 'clientScopes', 'name'],
]

function indexNames(realm: Representation): ReadonlyMap<KindName, NamesOfKind> {
  return new Map(
    targetLists.map(([kind, list, naturalKey]) => {
      const objects = realm[list] ?? []
      return [kind, { names: listNames(objects, naturalKey), namesById: new Map(listIds(objects, naturalKey)) }]
    }),
  )
}

function listNames(list: Json, member: string): ReadonlySet<Json | undefined> {
  return new Set(isList(list) ? list.map((element) => (isObject(element) ? element[member] : undefined)) : [])
}

/** Returns the ids of the objects that have one, with their names. */
function listIds(list: Json, member: string): [id: string, name: string][] {
  return readObjects(list).flatMap(({ id, [member]: name }): [string, string][] =>
    typeof id === 'string' && typeof name === 'string' ? [[id, name]] : [],
  )
}

function writeClient(client: Representation): Representation {
  const otherFields = Object.fromEntries(Object.entries(client).filter(([field]) => !writtenFields.includes(field)))
  const settings = writeAuthorizationSettings(client)
  return settings ? { ...otherFields, authorizationSettings: settings } : otherFields
}

const writtenFields = ['authorizationSettings', ...settingsLists.map(([, field]) => field)]
