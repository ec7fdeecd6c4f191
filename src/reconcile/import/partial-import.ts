// Partial import: imports objects into an existing realm in one call. They are planned and applied like a source, and unmanaged afterwards.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { toPathSegment } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { maskRepresentation } from '../../kinds/mask-representation.ts'
import { findParent, formatAddress, readName } from '../../kinds/tree.ts'
import { replaceFlowIds } from '../../realm-file/formats/flow-overrides.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { hasAdminEvents, recordAdminEvent } from '../../service/journal/admin-events.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { checkPrivilegesOfReplaced } from '../../service/objects/privilege-checks.ts'
import { type Permission, requirePermissions } from '../../service/permissions/require-permissions.ts'
import { findDefaultRoleName } from '../../service/users/default-role.ts'
import { importContent } from './import-content.ts'

/** The values of `ifResourceExists`: the handling of objects that exist already. */
export const importPolicies = ['FAIL', 'SKIP', 'OVERWRITE'] as const
export type ImportPolicy = (typeof importPolicies)[number]

/** The content of a partial import. */
export interface PartialContent {
  readonly clients?: readonly Representation[] | null | undefined
  readonly roles?: PartialRoles | null | undefined
  readonly identityProviders?: readonly Representation[] | null | undefined
  readonly identityProviderMappers?: readonly Representation[] | null | undefined
  readonly groups?: readonly Representation[] | null | undefined
  readonly users?: readonly Representation[] | null | undefined
}

interface PartialRoles {
  readonly realm?: readonly Representation[] | null | undefined
  readonly client?: Readonly<Record<string, readonly Representation[]>> | null | undefined
}

/** The result for one object. */
export interface ImportResult {
  readonly action: 'ADDED' | 'SKIPPED' | 'OVERWRITTEN'
  readonly resourceType: ImportedType
  readonly resourceName: string
  readonly id: string
}

/** Keycloak: the names of the kinds in results. */
export const importedTypes = ['CLIENT', 'REALM_ROLE', 'CLIENT_ROLE', 'IDP', 'IDP_MAPPER', 'GROUP', 'USER'] as const
type ImportedType = (typeof importedTypes)[number]

/** An object of the content. */
interface ImportedObject {
  readonly kind: KindName
  readonly key: Key
  readonly type: ImportedType
  readonly name: string
  readonly body: Representation
  /** Message of the error where the object exists already. */
  readonly conflictMessage: string
}

/** The permissions that creating objects of a type one by one requires. */
const requiredPermissions: Readonly<Record<ImportedType, Permission>> = {
  CLIENT: 'manage-clients',
  REALM_ROLE: 'manage-realm',
  CLIENT_ROLE: 'manage-clients',
  IDP: 'manage-identity-providers',
  IDP_MAPPER: 'manage-identity-providers',
  GROUP: 'manage-users',
  USER: 'manage-users',
}

/** Keycloak: the resource paths of imported objects in admin events, without their ids. */
const eventPaths: Readonly<Record<ImportedType, string>> = {
  CLIENT: 'clients',
  REALM_ROLE: 'realms',
  CLIENT_ROLE: 'clients',
  IDP: 'identity-provider-settings',
  IDP_MAPPER: 'mappers',
  GROUP: 'groups',
  USER: 'users',
}

/**
 * Imports the content into the context's realm, with new ids. Overwritten objects are deleted first, with their dependents. Throws
 * forbidden where the caller lacks permissions, conflict where an object exists and the policy is FAIL, DocumentError where the content
 * is invalid.
 */
export async function importPartially(
  context: WriteContext,
  content: PartialContent,
  policy: ImportPolicy,
): Promise<ImportResult[]> {
  requireImportPermissions(context, content)
  const objects = listImportedObjects(context.realm.name, content)
  const existing = await findExisting(context, objects)
  const conflicts = objects.filter((object) => existing.has(toAddress(object)))
  if (policy === 'FAIL' && conflicts.length) throw failure('conflict', conflicts[0]!.conflictMessage)
  const skipped = new Set(policy === 'SKIP' ? conflicts : [])
  const imported = objects.filter((object) => !skipped.has(object))
  const defaultRole = policy === 'OVERWRITE' ? await findDefaultRoleName(context) : undefined
  const isDefaultRole = (kind: KindName, key: Key) => kind === 'role' && key.length === 1 && key[0] === defaultRole
  // The default role is updated instead: if it were deleted, nobody could grant it again.
  if (policy === 'OVERWRITE') {
    const overwritten = conflicts.filter(({ kind, key }) => !isDefaultRole(kind, key))
    await deleteOverwritten(context, overwritten, existing)
  }
  const representation = await resolveFlowIds(context, toRepresentation(imported))
  // Keycloak: an overwritten default role has exactly the declared composites.
  const applied = await importContent(context, representation, { ids: 'new', isAuthoritative: () => isDefaultRole })
  const results = objects.flatMap((object): ImportResult[] => {
    const { type: resourceType, name: resourceName } = object
    const address = toAddress(object)
    const { id } = (applied.get(address) ?? existing.get(address))!
    const toResult = (action: ImportResult['action']): ImportResult => ({ action, resourceType, resourceName, id })
    if (skipped.has(object)) return [toResult('SKIPPED')]
    if (!existing.has(address)) return [toResult('ADDED')]
    // Keycloak: an overwritten role is reported as added, too.
    return object.kind === 'role' ? [toResult('OVERWRITTEN'), toResult('ADDED')] : [toResult('OVERWRITTEN')]
  })
  recordEvents(context, imported, results)
  return results
}

/**
 * Throws forbidden unless the caller may create and delete objects of every type in the content, since results show which objects exist.
 * No statement.
 */
export function requireImportPermissions(context: Context, content: PartialContent): void {
  const types = new Set(listImportedObjects(context.realm.name, content).map(({ type }) => type))
  requirePermissions(context, 'manage-realm', ...[...types].map((type) => requiredPermissions[type]))
}

const toAddress = ({ kind, key }: ImportedObject): string => formatAddress(kind, key)

/** Lists the objects of the content. Keycloak: ignores built-in clients, and the one of admin permissions. */
function listImportedObjects(realm: string, content: PartialContent): ImportedObject[] {
  const { clients, roles, identityProviders, identityProviderMappers, groups, users } = content
  return [
    ...(clients ?? [])
      .map(toImportedClient)
      .filter(({ name }) => !isBuiltIn(realm, 'client', [name]) && name !== ADMIN_PERMISSIONS),
    ...(roles?.realm ?? []).map(toImportedRealmRole),
    ...Object.entries(roles?.client ?? {}).flatMap(([client, list]) =>
      (list ?? []).map((body) => toImportedClientRole(client, body)),
    ),
    ...(identityProviders ?? []).map(toImportedIdentityProvider),
    ...(identityProviderMappers ?? []).map(toImportedIdentityProviderMapper),
    ...(groups ?? []).map(toImportedGroup),
    ...(users ?? []).map(toImportedUser),
  ]
}

function toImportedClient(body: Representation): ImportedObject {
  const name = readName(kinds.client, body)
  const conflictMessage = `Client id '${name}' already exists`
  return { kind: 'client', key: [name], type: 'CLIENT', name, body, conflictMessage }
}

function toImportedRealmRole(body: Representation): ImportedObject {
  const name = readName(kinds.role, body)
  const conflictMessage = `Realm role '${name}' already exists.`
  return { kind: 'role', key: [name], type: 'REALM_ROLE', name, body, conflictMessage }
}

function toImportedClientRole(client: string, body: Representation): ImportedObject {
  const role = readName(kinds.role, body)
  const name = `${client}-->${role}`
  const conflictMessage = `Client role '${role}' for client '${client}' already exists.`
  return { kind: 'role', key: ['client', client, role], type: 'CLIENT_ROLE', name, body, conflictMessage }
}

function toImportedIdentityProvider(body: Representation): ImportedObject {
  const name = readName(kinds.identityProvider, body)
  const conflictMessage = `Identity Provider '${name}' already exists.`
  return { kind: 'identityProvider', key: [name], type: 'IDP', name, body, conflictMessage }
}

function toImportedIdentityProviderMapper(body: Representation): ImportedObject {
  const name = readName(kinds.identityProviderMapper, body)
  const key = ['identityProvider', String(body.identityProviderAlias ?? ''), name]
  const conflictMessage = `Identity Provider Mapper'${name}' already exists.`
  return { kind: 'identityProviderMapper', key, type: 'IDP_MAPPER', name, body, conflictMessage }
}

function toImportedGroup(body: Representation): ImportedObject {
  const name = String(body.name ?? '')
  const path = toPathSegment(name)
  const conflictMessage = `Group '${path}' already exists`
  return { kind: 'group', key: [path], type: 'GROUP', name, body, conflictMessage }
}

function toImportedUser(body: Representation): ImportedObject {
  const name = String(body.username ?? '')
  const conflictMessage = `User with user name ${name} already exists.`
  return { kind: 'user', key: [readName(kinds.user, body)], type: 'USER', name, body, conflictMessage }
}

/** Returns the live objects that the content has too, by address. A constant number of statements per kind. */
async function findExisting(
  context: WriteContext,
  objects: readonly ImportedObject[],
): Promise<ReadonlyMap<string, LiveObject>> {
  const existing = new Map<string, LiveObject>()
  for (const [kind, group] of Map.groupBy(objects, ({ kind }) => kind))
    for (const object of await writers[kind].list(context, { keys: group.map(({ key }) => key) }))
      existing.set(formatAddress(kind, object.key), object)
  return existing
}

async function deleteOverwritten(
  context: WriteContext,
  overwritten: readonly ImportedObject[],
  existing: ReadonlyMap<string, LiveObject>,
): Promise<void> {
  const addresses = new Set(overwritten.map(toAddress))
  // Children are deleted with their parents.
  const topmost = overwritten.filter(({ key }) => {
    const parent = findParent(key)
    return !parent || !addresses.has(formatAddress(parent.kind, parent.key))
  })
  for (const [kind, group] of Map.groupBy(topmost, ({ kind }) => kind)) {
    const objects = group.map((object) => existing.get(toAddress(object))!)
    await checkPrivilegesOfReplaced(context, kind, objects)
    await writers[kind].delete(context, objects)
  }
}

/** Returns the objects as the representation of a realm. */
function toRepresentation(objects: readonly ImportedObject[]) {
  const listBodies = (type: ImportedType) => objects.filter((object) => object.type === type).map(({ body }) => body)
  const clientRoles = Map.groupBy(
    objects.filter(({ type }) => type === 'CLIENT_ROLE'),
    ({ key }) => key[1]!,
  )
  return {
    clients: listBodies('CLIENT'),
    roles: {
      realm: listBodies('REALM_ROLE'),
      client: Object.fromEntries([...clientRoles].map(([client, roles]) => [client, roles.map(({ body }) => body)])),
    },
    identityProviders: listBodies('IDP'),
    identityProviderMappers: listBodies('IDP_MAPPER'),
    groups: listBodies('GROUP'),
    users: listBodies('USER'),
  }
}

/** Keycloak: clients refer to authentication flows by id. Replaces the ids by aliases. One statement, or none. */
async function resolveFlowIds(
  context: WriteContext,
  representation: ReturnType<typeof toRepresentation>,
): Promise<Representation> {
  const { clients } = representation
  if (!clients.some((client) => !isEmpty(client.authenticationFlowBindingOverrides))) return representation
  const flows = await writers.authenticationFlow.list(context, {})
  return {
    ...representation,
    clients: replaceFlowIds(
      clients,
      flows.map(({ id, key: [alias] }) => ({ id, alias: alias! })),
    ),
  }
}

/** Keycloak: records an admin event per object, with the resource type REALM. */
function recordEvents(
  context: WriteContext,
  imported: readonly ImportedObject[],
  results: readonly ImportResult[],
): void {
  if (!hasAdminEvents(context)) return
  for (const { kind, type, name, body } of imported) {
    const { action, id } = results.find(
      ({ resourceType, resourceName }) => resourceType === type && resourceName === name,
    )!
    recordAdminEvent(context, {
      operationType: action === 'ADDED' ? 'CREATE' : 'UPDATE',
      resourceType: 'REALM',
      resourcePath: `${eventPaths[type]}/${id}`,
      representation: maskRepresentation(kinds[kind], { ...body, [kinds[kind].idField]: id }),
    })
  }
}
