// Clients that decide permissions: documents have their resources, scopes and policies inside `authorizationSettings`, and
// say in JSON texts what policies name; kept they are children of the client, and fields of the policies.
import { policyElements, targetsOf } from '../../kinds/authorization-policy.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { relationValue } from '../../kinds/relations.ts'
import type { Path } from '../../lib/position.ts'
import { once } from '../../lib/timing/once.ts'
import { isObject } from '../form.ts'
import { found } from '../words.ts'
import { withAdminPermissions } from './admin-permissions.ts'
import { settingsLists, settingsOf } from './authorization-settings.ts'
import { authorizationShape } from './authorization-shape.ts'
import type { Form, Notes } from './form.ts'
import { withUmaRoles } from './uma-roles.ts'

const { fields } = kinds.authorizationPolicy

/** Settings of clients that decide permissions as children of them, and back. */
export const authorization: Form = {
  read(realm, notes) {
    if (!Array.isArray(realm.clients)) return realm
    const readers = readersOf(realm)
    const clients = realm.clients.map((client, at) => {
      if (!isObject(client)) return client
      const place = ['clients', at]
      const read = isObject(client.authorizationSettings ?? null) ? readClient(client, place, readers, notes) : client
      return withAdminPermissions(read, place, realm, notes)
    })
    return withUmaRoles({ ...realm, clients }, notes)
  },
  write(realm) {
    if (!Array.isArray(realm.clients)) return realm
    return { ...realm, clients: (realm.clients as Representation[]).map(writeClient) }
  },
  shapes: () => ({ client: { authorizationSettings: authorizationShape } }),
}

/** Reads how policies name a role, or an object of a kind that has no parent, as its natural key. */
interface Readers {
  readonly role: (text: string) => Key
  readonly name: (kind: KindName, text: string) => string
}

function readClient(stated: Representation, path: Path, readers: Readers, notes: Notes): Representation {
  const client = confidential(stated, path, notes)
  const settings = { ...(client.authorizationSettings as Representation) }
  const read: Representation = { ...client }
  const place = [...path, 'authorizationSettings']
  for (const [list, field] of settingsLists) {
    const stated = settings[list] ?? null
    delete settings[list]
    if (stated === null) continue
    if (!Array.isArray(stated)) {
      notes.report([...place, list], `authorizationSettings.${list} must be a list, not ${found(stated)}`)
      continue
    }
    const own = Array.isArray(read[field]) ? (read[field] as Json[]) : []
    read[field] = own.concat(
      stated.map((one, at) => {
        const [to, from] = [
          [...path, field, own.length + at],
          [...place, list, at],
        ]
        notes.moved(to, from)
        if (!isObject(one)) return one
        if (list === 'policies') return readPolicy(one, to, from, readers, notes)
        return list === 'resources' ? readResource(one, client, to, from, notes) : one
      }),
    )
  }
  // What tells an export of one client from another's is no setting.
  for (const field of ['id', 'clientId', 'name', 'authorizationSchema']) delete settings[field]
  addNamedScopes(read, path, notes)
  read.authorizationSettings = settings
  return read
}

/** Keycloak: a scope that a resource names exists thereby, and what is said of it there counts. */
function addNamedScopes(client: Representation, path: Path, { moved }: Notes): void {
  const { resources } = client.authorizationSettings as Representation
  const scopes = Array.isArray(client.authorizationScopes) ? [...client.authorizationScopes] : []
  for (const [at, resource] of (Array.isArray(resources) ? resources : []).entries()) {
    if (!isObject(resource) || !Array.isArray(resource.scopes)) continue
    for (const [index, scope] of resource.scopes.entries()) {
      const named = isObject(scope) ? scope : { name: scope }
      if (typeof named.name !== 'string') continue
      const known = scopes.findIndex((one) => isObject(one) && one.name === named.name)
      if (known >= 0) {
        scopes[known] = { ...named, ...(scopes[known] as Representation) }
        continue
      }
      const place = [...path, 'authorizationSettings', 'resources', at, 'scopes', index]
      moved([...path, 'authorizationScopes', scopes.length], place)
      scopes.push(named)
    }
  }
  if (scopes.length) client.authorizationScopes = scopes
}

function readResource(
  { uri, owner, scopes, scopesUma, ...rest }: Representation,
  { clientId }: Representation,
  to: Path,
  from: Path,
  { moved }: Notes,
): Representation {
  const own = isObject(owner ?? null) ? (owner as Representation).name : owner
  const all = scopes ?? scopesUma
  if (uri != null && rest.uris == null) moved([...to, 'uris'], [...from, 'uri'])
  return {
    ...rest,
    ...(uri != null && rest.uris == null && { uris: [uri] }),
    ...(own != null && own !== clientId && { owner: own }),
    ...(all !== undefined && { scopes: Array.isArray(all) ? all.map(nameOf) : all }),
  }
}

/** A scope that a resource names, by its name or as an object that has one. */
function nameOf(scope: Json): Json {
  return isObject(scope) ? (scope.name ?? scope) : scope
}

function readPolicy(
  policy: Representation,
  to: Path,
  from: Path,
  readers: Readers,
  { moved, report }: Notes,
): Representation {
  if (!isObject(policy.config ?? null)) return policy
  const config = { ...(policy.config as Representation) }
  const read: Representation = { ...policy, config }
  for (const target of targetsOf(policy.type)) {
    const { setting, field, flagged } = target
    const stated = config[setting]
    delete config[setting]
    if (stated === undefined || stated === null || stated === '') continue
    const place = [...from, 'config', setting]
    const elements = policyElements(target, stated)
    if (!elements) {
      const each = flagged ? `[{"${flagged.names[0]}":"<name>"}]` : '["<name>"]'
      report(place, `authorization policy ${policy.name}: config.${setting} must be a list as JSON, such as ${each}`)
      continue
    }
    for (const [name, on] of [[field, false] as const, ...(flagged ? [[flagged.field, true] as const] : [])]) {
      const { refersTo, siblings, type } = fields[name]!
      const texts = elements.filter((one) => one.flagged === on).map((one) => one.name)
      if (!texts.length && on) continue
      if (refersTo === 'role') read[name] = relationValue(fields[name]!, texts.map(readers.role))
      else read[name] = siblings || type !== 'set' ? texts : texts.map((text) => readers.name(refersTo!, text))
      moved([...to, name], place)
    }
  }
  return read
}

/** Keycloak: a client with authorization settings keeps a secret, whatever is said of it. */
function confidential(client: Representation, path: Path, { note }: Notes): Representation {
  const flags = ['bearerOnly', 'publicClient'].filter((flag) => String(client[flag]) === 'true')
  for (const flag of flags)
    note(
      [...path, flag],
      `client ${client.clientId}: ${flag} is ignored, since a client with authorizationSettings is confidential`,
    )
  return { ...client, ...Object.fromEntries(flags.map((flag) => [flag, false])) }
}

/**
 * Keycloak: a role of a client is called `client/role`. Both names may have slashes of their own: what the realm states
 * says which is meant, otherwise the last one divides. What is called so comes first; otherwise ids of the document count.
 */
function readersOf(realm: Representation): Readers {
  const { realm: ofRealm = [], client: ofClients = {} } = isObject(realm.roles ?? null)
    ? (realm.roles as Representation)
    : {}
  const realmRoles = namesIn(ofRealm, 'name')
  const clientIds = namesIn(realm.clients ?? [], 'clientId')
  const keys = new Map<Json | undefined, Key>(idsIn(ofRealm, 'name').map(([id, name]) => [id, [name]]))
  for (const [client, roles] of Object.entries(isObject(ofClients) ? ofClients : {}))
    for (const [id, name] of idsIn(roles, 'name')) keys.set(id, ['client', client, name])
  const named = once(
    () =>
      new Map(
        listed.map(([kind, list, member]) => [
          kind,
          { names: namesIn(realm[list] ?? [], member), byId: new Map(idsIn(realm[list] ?? [], member)) },
        ]),
      ),
  )
  return {
    role(text) {
      const slashes = [...text.matchAll(/\//g)].map(({ index }) => index)
      if (realmRoles.has(text)) return [text]
      if (!slashes.length) return keys.get(text) ?? [text]
      const at = slashes.find((slash) => clientIds.has(text.slice(0, slash))) ?? slashes.at(-1)!
      return ['client', text.slice(0, at), text.slice(at + 1)]
    },
    name(kind, text) {
      const { names, byId } = named().get(kind) ?? {}
      return names?.has(text) ? text : (byId?.get(text) ?? text)
    },
  }
}

/** The other lists of a realm that policies name objects of, and the natural keys of their elements. */
const listed: readonly [kind: KindName, list: string, member: string][] = [
  ['user', 'users', 'username'],
  ['client', 'clients', 'clientId'],
  ['group', 'groups', 'path'],
  ['clientScope', 'clientScopes', 'name'],
]

function namesIn(list: Json, member: string): ReadonlySet<Json | undefined> {
  return new Set(Array.isArray(list) ? list.map((one) => (isObject(one) ? one[member] : undefined)) : [])
}

/** The objects of a list that have an id, with that. */
function idsIn(list: Json, member: string): [id: string, name: string][] {
  if (!Array.isArray(list)) return []
  return list
    .filter(isObject)
    .flatMap(({ id, [member]: name }) =>
      typeof id === 'string' && typeof name === 'string' ? [[id, name] as [string, string]] : [],
    )
}

function writeClient(client: Representation): Representation {
  const rest = Object.fromEntries(Object.entries(client).filter(([field]) => !kept.includes(field)))
  const settings = settingsOf(client)
  return settings ? { ...rest, authorizationSettings: settings } : rest
}

const kept = ['authorizationSettings', ...settingsLists.map(([, field]) => field)]
