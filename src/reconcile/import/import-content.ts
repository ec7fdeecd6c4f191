// Imports the content of a realm in one call: it is planned and applied like a source, and is unmanaged afterwards.
import { randomUUID } from 'node:crypto'
import { readAttributeSettings } from '../../kinds/attribute-settings.ts'
import { kinds } from '../../kinds/index.ts'
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
} from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { formatAddress, splitTree } from '../../kinds/tree.ts'
import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import { migrateRepresentation } from '../../realm-file/versions/version-steps.ts'
import { createDocument } from '../../realm-file/yaml/document.ts'
import { DocumentError, sortByPosition } from '../../realm-file/yaml/problem.ts'
import type { WriteContext } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import { parsePasswordPolicy } from '../../service/users/password-policy.ts'
import {
  createPasswordHasher,
  type PasswordHasher,
  type PasswordOwner,
} from '../../service/users/password-policy-checks.ts'
import { type AppliedObjects, apply } from '../execute/apply.ts'
import { type DesiredRealm, readDesiredRealms } from '../merge/desired-realm.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { observe } from '../observe/observe.ts'
import { planRealm } from '../plan/plan-realm.ts'
import { resolveMissingReferences } from './missing-references.ts'

/** Returns the ids that the content declares, by address. Built-in objects of a new realm can have them too. */
export function listRequestedIds(realm: Representation): ReadonlyMap<string, string> {
  return new Map(
    splitTree(realm).flatMap(({ kind, key, id }) => (id === undefined ? [] : [[formatAddress(kind, key), id]])),
  )
}

/** Returns the representation of a new realm with hashed passwords, and with what Keycloak changes in it before it is imported. */
export async function prepareNewRealm(
  { passwordBlacklists: blacklists }: Pick<Service, 'passwordBlacklists'>,
  realm: Representation,
): Promise<Representation> {
  const policy = parsePasswordPolicy(String(realm.passwordPolicy ?? ''))
  const hashed = await hashCredentials(realm, (owner) => createPasswordHasher({ policy, blacklists, owner }))
  return addLogoutRedirectUris(
    addClientIds(removeUnresolvedMappers(migrateRepresentation(readAttributeSettings(hashed)))),
  )
}

/** Returns the content with hashed passwords. Hashing is slow, and is done before the transaction. */
export async function hashCredentials<Content extends object>(
  content: Content,
  createHasher: (owner: PasswordOwner) => PasswordHasher,
): Promise<Content> {
  if (!('users' in content && Array.isArray(content.users))) return content
  const users = content.users.map(async (user: Json) => {
    if (!isObject(user) || !isObjectList(user.credentials)) return user
    const hasher = createHasher({ username: String(user.username ?? ''), email: readText(user.email) })
    return { ...user, credentials: await prepareCredentials(user.credentials, hasher) }
  })
  return { ...content, users: await Promise.all(users) }
}

const isObjectList = (value: Json | undefined): value is readonly Representation[] =>
  isList(value) && value.every(isObject)

/** Returns the content with each object of a list changed. */
function mapObjects(
  content: Representation,
  field: string,
  change: (object: Representation) => Representation,
): Representation {
  const list = content[field]
  if (!isList(list)) return content
  return { ...content, [field]: list.map((element) => (isObject(element) ? change(element) : element)) }
}

/** Keycloak: a client of a new realm without a client id gets its id as client id. */
function addClientIds(realm: Representation): Representation {
  return mapObjects(realm, 'clients', (client) => {
    if ((client.clientId ?? null) !== null) return client
    const id = client.id ?? randomUUID()
    return { ...client, id, clientId: id }
  })
}

/** Keycloak: the post-logout redirect URIs of a client of a new realm default to its redirect URIs (`+`). */
function addLogoutRedirectUris(realm: Representation): Representation {
  return mapObjects(realm, 'clients', (client) => ({
    ...client,
    attributes: { 'post.logout.redirect.uris': '+', ...readObject(client.attributes) },
  }))
}

/**
 * Keycloak: a new realm may have identity provider mappers whose provider is created later. Regent stores mappers with their
 * provider only, and removes the others.
 */
function removeUnresolvedMappers(realm: Representation): Representation {
  const { identityProviderMappers: mappers, identityProviders: providers } = realm
  if (!isList(mappers)) return realm
  const aliases = new Set<Json | undefined>(readObjects(providers).map(({ alias }) => alias))
  const identityProviderMappers = mappers.filter((mapper) => {
    const alias = readObject(mapper).identityProviderAlias
    return alias === undefined || aliases.has(alias)
  })
  return { ...realm, identityProviderMappers }
}

/** Options of an import. */
interface ImportOptions {
  /** Whether objects get their declared ids, or new ones. Default: declared. */
  readonly ids?: 'declared' | 'new'
  /** Returns which lists are authoritative: elements that the content does not declare are removed. */
  readonly isAuthoritative?: (desired: DesiredRealm) => PlanInput['isAuthoritative']
  /** Whether fields that Regent does not know are errors or ignored. Default: errors. */
  readonly unknownFields?: UnknownFieldPolicy
}

/**
 * Creates the objects of a realm's representation, and sets the realm's fields that refer to them, in the caller's transaction.
 * Returns the objects by address. Throws DocumentError where the content is invalid.
 */
export async function importContent(
  context: WriteContext,
  realm: Representation,
  { ids = 'declared', isAuthoritative = () => () => false, unknownFields }: ImportOptions = {},
): Promise<AppliedObjects> {
  const { children, fields, alternativeFields } = kinds.realm
  const isContent = (field: string) =>
    field in children ||
    field in alternativeFields ||
    field === 'defaultRole' ||
    (fields[field]?.late !== undefined && !fields[field].computed)
  const content = Object.entries(realm).filter(([field, value]) => isContent(field) && value !== null)
  if (!content.length) return new Map()
  const value = enableAuthorizationServices(
    addRealmRoles({ realm: context.realm.name, ...Object.fromEntries(content) }),
  )
  const documents = [createDocument('body', value)]
  const [declared] = readDesiredRealms(documents, { vault: context.vault, unknownFields })
  const desired = ids === 'new' ? removeIds(declared!) : declared!
  const part = { source: '', desired, settings: {}, tenant: undefined, hasNewSettings: false }
  const observed = await observe(context, [part], desired)
  const resolved = resolveMissingReferences(desired, observed.live)
  requireRoleCreation(context, resolved.createdRoles)
  const { objects } = resolved.desired
  const { plan, obstacles } = planRealm({ ...observed, declared: objects, isAuthoritative: isAuthoritative(desired) })
  if (obstacles.length) throw new DocumentError(sortByPosition(obstacles, documents))
  return apply(context, {
    plan,
    declared: { objects, findSecret: (id, path) => objects.get(id)?.secrets?.[path] },
  })
}

/** Throws forbidden unless the caller may create the roles that the content refers to and that do not exist. */
function requireRoleCreation(context: WriteContext, roles: readonly Key[]): void {
  if (roles.some((key) => key.length === 1)) requirePermissions(context, 'manage-realm')
  if (roles.some((key) => key.length > 1)) requirePermissions(context, 'manage-clients')
}

/** Keycloak: imported users have exactly the declared realm roles, and none where none are declared. */
function addRealmRoles(realm: Representation): Representation {
  return mapObjects(realm, 'users', (user) => ({ ...user, realmRoles: user.realmRoles ?? [] }))
}

/** Keycloak: a client that is imported with authorization settings, or with authorization services, is made confidential. */
function enableAuthorizationServices(realm: Representation): Representation {
  return mapObjects(realm, 'clients', (client) =>
    (client.authorizationSettings ?? null) !== null || client.authorizationServicesEnabled === true
      ? { ...client, authorizationServicesEnabled: true, bearerOnly: false, publicClient: false }
      : client,
  )
}

function removeIds(desired: DesiredRealm): DesiredRealm {
  const objects = new Map([...desired.objects].map(([address, object]) => [address, { ...object, id: undefined }]))
  return { ...desired, objects }
}
