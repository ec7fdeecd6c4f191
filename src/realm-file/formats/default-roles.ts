// Default roles: legacy lists of default roles are read as composites of the default role, which may also have another name.
import { isDeepStrictEqual } from 'node:util'
import { ANY_REALM, builtInObjects, getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { isList, isObject, type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { RENAMED_FROM } from '../../kinds/tree.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Reads default roles of the realm and of clients, the name of the default role, and application roles of users. */
export const defaultRoles: FormatConverter = {
  read: (realm, context) => renameDefaultRole(convertDefaultRoles(convertApplicationRoles(realm, context), context)),
  write: (realm) => realm,
}

/** Declares the default role as renamed if it has another name than in a new realm, such as in a copied realm. */
function renameDefaultRole(realm: Representation): Representation {
  const { defaultRole = null, roles = null } = realm
  const builtInName = getDefaultRoleName(String(realm.realm))
  if (!isObject(defaultRole) || !isObject(roles) || !isList(roles.realm)) return realm
  const { name } = defaultRole
  if (typeof name !== 'string' || name === builtInName) return realm
  const realmRoles = roles.realm.map((role) =>
    isObject(role) && role.name === name ? { [RENAMED_FROM]: builtInName, ...role } : role,
  )
  return { ...realm, roles: { ...roles, realm: realmRoles } }
}

/** Keycloak: uses the application roles of a user if the user has no client roles. */
function convertApplicationRoles(realm: Representation, { recordMove }: ConversionContext): Representation {
  if (!isList(realm.users)) return realm
  const users = realm.users.map((user, at) => {
    if (!isObject(user) || (user.applicationRoles ?? null) === null || (user.clientRoles ?? null) !== null) return user
    recordMove(['users', at, 'clientRoles'], ['users', at, 'applicationRoles'])
    const { applicationRoles, ...rest } = user
    return { ...rest, clientRoles: applicationRoles! }
  })
  return { ...realm, users }
}

/** A default role of the realm or of a client, with its path in the document. */
interface DefaultRole {
  readonly name: string
  readonly client: string | undefined
  readonly from: DocumentPath
}

/** Keycloak: creates default roles that are not declared, and adds all of them to the composites of the default role. */
function convertDefaultRoles(realm: Representation, context: ConversionContext): Representation {
  const { defaultRoles: names = null, ...rest } = realm
  const collected = [...readDefaultRoles(names, { from: ['defaultRoles'], client: undefined }, context)]
  if (!isList(realm.clients)) return collected.length ? addComposites(rest, collected, context) : rest
  const clients = realm.clients.map((client, at) => {
    if (!isObject(client) || client.defaultRoles === undefined) return client
    const { defaultRoles: clientNames, ...fields } = client
    const owner = { from: ['clients', at, 'defaultRoles'], client: String(client.clientId) }
    collected.push(...readDefaultRoles(clientNames ?? null, owner, context))
    return fields
  })
  return collected.length ? addComposites({ ...rest, clients }, collected, context) : { ...rest, clients }
}

function readDefaultRoles(
  names: Json,
  { from, client }: Pick<DefaultRole, 'from' | 'client'>,
  { report }: ConversionContext,
): DefaultRole[] {
  if (names === null) return []
  if (isList(names) && names.every((name) => typeof name === 'string'))
    return readTexts(names).map((name, at) => ({ name, client, from: [...from, at] }))
  report(from, `defaultRoles must be a list of names of roles, not ${describeType(names)}`)
  return []
}

/** Declares the roles, and adds them to the composites of the default role. */
function addComposites(
  realm: Representation,
  roles: readonly DefaultRole[],
  { recordMove, markReference }: ConversionContext,
): Representation {
  const { realm: realmRoles = [], client: clientRoles = {}, ...otherFields } = readObject(realm.roles)
  if (!isObject(realm.roles ?? {}) || !isList(realmRoles) || !isObject(clientRoles)) return realm
  const declared = new DeclaredRoles(realmRoles, clientRoles)
  for (const role of roles) {
    const path = declared.add(role)
    if (path) recordMove(path, role.from)
  }
  const name = getDefaultRoleName(String(realm.realm))
  const existing = declared.realm.findIndex((role) => isObject(role) && role.name === name)
  const at = existing < 0 ? declared.realm.length : existing
  if (existing < 0) {
    recordMove(['roles', 'realm', at], roles[0]!.from)
    markReference(['roles', 'realm', at])
  }
  const role = existing < 0 ? { name } : readObject(declared.realm[existing])
  declared.realm[at] = { ...role, composites: mergeComposites(role.composites ?? {}, roles) }
  return { ...realm, roles: { ...otherFields, realm: declared.realm, client: declared.client } }
}

/** The declared roles of a realm and of its clients. */
class DeclaredRoles {
  readonly realm: Json[]
  readonly client: Representation

  constructor(realm: readonly Json[], client: Representation) {
    this.realm = [...realm]
    this.client = { ...client }
  }

  /** Declares a role. Returns its path, or undefined if it is declared already. */
  add({ name, client }: DefaultRole): DocumentPath | undefined {
    const list = client === undefined ? this.realm : (this.client[client] ?? [])
    // An invalid list is reported when the realm is checked.
    if (!isList(list) || list.some((role) => isObject(role) && role.name === name)) return undefined
    const path = ['roles', ...(client === undefined ? ['realm'] : ['client', client]), list.length]
    if (client === undefined) this.realm.push({ name })
    else this.client[client] = [...list, { name, ...(isBuiltInComposite(client, name) && { composites: {} }) }]
    return path
  }
}

/** Whether a built-in role of a client is a composite role. Keycloak: such a role of a declared client that does not declare it is a plain role. */
function isBuiltInComposite(client: string, name: string): boolean {
  const role = builtInRoles().find(({ key }) => isDeepStrictEqual(key, ['client', client, name]))
  return role !== undefined && Object.keys(readObject(role.representation.composites)).length > 0
}

const builtInRoles = memoize(() => builtInObjects(ANY_REALM).filter(({ kind }) => kind === 'role'))

/** Adds the roles to composites, each once. Invalid composites are reported when the realm is checked. */
function mergeComposites(composites: Json, roles: readonly DefaultRole[]): Json {
  if (!isObject(composites) || !isObject(composites.client ?? {})) return composites
  const clientComposites = readObject(composites.client)
  const realmRoles = roles.filter(({ client }) => client === undefined)
  const clientRoles = roles.filter(({ client }) => client !== undefined)
  const merged = [...Map.groupBy(clientRoles, ({ client }) => client!)].map(([client, added]) => [
    client,
    mergeNames(clientComposites[client], added),
  ])
  return {
    realm: mergeNames(composites.realm, realmRoles),
    client: { ...clientComposites, ...Object.fromEntries(merged) },
  }
}

function mergeNames(list: Json | undefined, roles: readonly DefaultRole[]): Json {
  const names = list ?? []
  return isList(names) ? [...new Set([...names, ...roles.map(({ name }) => name)])] : names
}
