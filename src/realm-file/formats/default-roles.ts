// What earlier versions called otherwise, as the reference server's import reads it; and the role that everybody has, by its name.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import { RENAMED_FROM } from '../../kinds/tree.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Roles that everybody has read as what the default role contains, and roles of applications as those of clients. */
export const defaultRoles: FormatConverter = {
  read: (realm, notes) => withDefaultRole(withDefaultRoles(withClientRoles(realm, notes), notes)),
  write: (realm) => realm,
}

/** A realm may call the role that everybody has otherwise, as one does that was copied under another name: the usual one is renamed. */
function withDefaultRole(realm: Representation): Representation {
  const { defaultRole = null, roles = null } = realm
  const usual = getDefaultRoleName(String(realm.realm))
  if (!isObject(defaultRole) || !isObject(roles) || !Array.isArray(roles.realm)) return realm
  const { name } = defaultRole
  if (typeof name !== 'string' || name === usual) return realm
  const ofRealm = roles.realm.map((role) =>
    isObject(role) && role.name === name ? { [RENAMED_FROM]: usual, ...role } : role,
  )
  return { ...realm, roles: { ...roles, realm: ofRealm } }
}

/** Keycloak: a person's roles of applications count where none of clients are stated. */
function withClientRoles(realm: Representation, { recordMove: moved }: ConversionContext): Representation {
  if (!Array.isArray(realm.users)) return realm
  const users = realm.users.map((user, at) => {
    if (!isObject(user) || (user.applicationRoles ?? null) === null || (user.clientRoles ?? null) !== null) return user
    moved(['users', at, 'clientRoles'], ['users', at, 'applicationRoles'])
    const { applicationRoles, ...rest } = user
    return { ...rest, clientRoles: applicationRoles! }
  })
  return { ...realm, users }
}

/** Keycloak: default roles that no list of roles states are made, and the role that everybody has contains them. */
function withDefaultRoles(realm: Representation, notes: ConversionContext): Representation {
  const { defaultRoles = null, ...rest } = realm
  const everybody = [...namesOf(defaultRoles, ['defaultRoles'], notes)]
  if (!Array.isArray(realm.clients)) return everybody.length ? containing(rest, everybody, notes) : rest
  const clients = realm.clients.map((client, at) => {
    if (!isObject(client) || client.defaultRoles === undefined) return client
    const { defaultRoles: names, ...others } = client
    everybody.push(...namesOf(names ?? null, ['clients', at, 'defaultRoles'], notes, String(client.clientId)))
    return others
  })
  return everybody.length ? containing({ ...rest, clients }, everybody, notes) : { ...rest, clients }
}

/** A role that everybody has, of a client or of the realm, and where the document says so. */
interface DefaultRole {
  readonly name: string
  readonly client: string | undefined
  readonly from: DocumentPath
}

function namesOf(names: Json, from: DocumentPath, { report }: ConversionContext, client?: string): DefaultRole[] {
  if (names === null) return []
  if (Array.isArray(names) && names.every((one) => typeof one === 'string'))
    return names.map((name, at) => ({ name, client, from: [...from, at] }))
  report(from, `defaultRoles must be a list of names of roles, not ${describeType(names)}`)
  return []
}

/** The realm with the roles stated, and with the default role containing them. */
function containing(
  realm: Representation,
  everybody: readonly DefaultRole[],
  { recordMove: moved, markReference: named }: ConversionContext,
): Representation {
  const { realm: ofRealm = [], client: ofClients = {}, ...others } = (realm.roles ?? {}) as Representation
  if (!isObject(realm.roles ?? {}) || !Array.isArray(ofRealm) || !isObject(ofClients)) return realm
  const roles = { realm: [...ofRealm], client: { ...ofClients } }
  const contained: { realm: string[]; client: Record<string, string[]> } = { realm: [], client: {} }
  for (const { name, client, from } of everybody) {
    const list = client === undefined ? roles.realm : [...((roles.client[client] ?? []) as Json[])]
    if (!list.some((role) => isObject(role) && role.name === name)) {
      moved(['roles', ...(client === undefined ? ['realm'] : ['client', client]), list.length], from)
      list.push({ name })
    }
    if (client === undefined) contained.realm.push(name)
    else {
      roles.client[client] = list
      contained.client[client] = [...(contained.client[client] ?? []), name]
    }
  }
  const name = getDefaultRoleName(String(realm.realm))
  const at = roles.realm.findIndex((role) => isObject(role) && role.name === name)
  const place = ['roles', 'realm', at < 0 ? roles.realm.length : at]
  const role = (roles.realm[at] ?? { name }) as Representation
  if (at < 0) {
    moved(place, everybody[0]!.from)
    named(place)
    roles.realm.push(role)
  }
  roles.realm[place[2] as number] = { ...role, composites: together(role.composites ?? {}, contained) }
  return { ...realm, roles: { ...others, ...roles } }
}

/** Composites, and others that go with them. */
function together(own: Json, more: { realm: string[]; client: Record<string, string[]> }): Json {
  if (!isObject(own)) return own
  const { realm = [], client = {} } = own as { realm?: string[]; client?: Record<string, string[]> }
  const clients = new Set([...Object.keys(client), ...Object.keys(more.client)])
  const union = (one: readonly string[] = [], other: readonly string[] = []) => [...new Set([...one, ...other])]
  return {
    realm: union(realm, more.realm),
    client: Object.fromEntries([...clients].map((id) => [id, union(client[id], more.client[id])])),
  }
}
