// Finds the admin permissions that a write grants or revokes, from the facts about its fields. See permissions/privilege-escalation.ts.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { PERMISSIONS_CLIENT, regentRoles } from '../../kinds/admin-roles.ts'
import { type FlatFields, flatten, isCredential, isLoginControl, isSecret, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, readTextMap } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { getManagementClientId } from '../../kinds/management-permissions.ts'
import type { Context } from '../context/context.ts'
import {
  requireControlOfAllUsers,
  requireControlOfClients,
  requireControlOfIdentityProviders,
  requireControlOfUsers,
  requireGrantableClientScopes,
  requireGrantableGroups,
  requireGrantableNames,
  requireGrantablePolicies,
  requireGrantableRoleNames,
  requireGrantableRoles,
} from '../permissions/privilege-escalation.ts'
import {
  requireControlOfConditionGroups,
  requireControlOfConditionHolders,
  requireControlOfConditionRoles,
} from './flow-conditions.ts'
import { type LiveObject, listObjects } from './live-objects.ts'
import type { RelationElements } from './object-rows.ts'
import type { ResolvedUpdate } from './resolved-updates.ts'

/** A check of the caller for the objects with these ids. Throws forbidden. */
type PrivilegeCheck = (context: Context, ids: readonly string[]) => Promise<void>

const mapper = kinds.protocolMapper

/** By kind, the check of callers that change credentials of its objects, which lets them log in with these. */
const credentialChecks: Readonly<Partial<Record<KindName, PrivilegeCheck>>> = {
  user: requireControlOfUsers,
  client: requireControlOfClients,
  async identityProvider(context, ids) {
    if (!ids.length) return
    await requireControlOfIdentityProviders(context, ids)
    const providers = await listObjects(context, 'identityProvider', { ids })
    await requireControlOfIssuedClients(
      context,
      providers.map(({ key }) => key[0]!),
    )
  },
}

/** By kind, the check of callers that delete its objects, which revokes roles of users and groups. */
const deletionChecks: typeof credentialChecks = { role: requireGrantableRoles, group: requireGrantableGroups }

/** Kinds whose objects control the login of users who remain when they are deleted. */
const loginKinds: ReadonlySet<KindName> = new Set([
  'authenticationFlow',
  'authenticatorConfig',
  'requiredAction',
  'component',
  'localization',
])

/** New objects, with the elements of their relations. */
interface CreatedContent {
  readonly objects: readonly { readonly key: Key; readonly fields: FlatFields }[]
  readonly relations: readonly RelationElements[]
}

/** Throws forbidden if new objects grant permissions that the caller lacks. No statement if they grant none. */
export async function checkPrivilegesOfCreated(
  context: Context,
  kind: Kind,
  { objects, relations }: CreatedContent,
): Promise<void> {
  if (context.permissions.all) return
  if (objects.some(({ key }) => isAdminPolicy(context, kind, key))) requireGrantablePolicies(context)
  const granting = relations.filter(({ field }) => kind.fields[field]!.grants === true)
  const written = objects.map(({ fields }) => fields)
  await requireGrantable(context, kind, { written, granting })
  if (written.some((fields) => sets(kind, fields, (path) => isLoginControl(kind, path, 'creation'))))
    await requireControlOfAllUsers(context)
  if (kind.name === 'identityProvider')
    await requireControlOfIssuedClients(
      context,
      objects.filter(({ fields }) => issuesAssertions(fields)).map(({ key }) => key[0]!),
    )
  if (kind.name !== 'role') return
  const keys = objects.map(({ key }) => key)
  await requireControlOfConditionRoles(context, { keys, ids: listTargets(kind, granting, 'role') })
}

/** Updates, with the elements that relations get and lose. */
interface UpdatedContent {
  readonly updates: readonly ResolvedUpdate[]
  readonly added: readonly RelationElements[]
  readonly removed: readonly RelationElements[]
}

/**
 * Throws forbidden if updates grant or revoke permissions that the caller lacks. Revoking counts, since the caller could take over
 * the weaker account, to which a source or an administrator restores the permissions. No statement if there are none.
 */
export async function checkPrivilegesOfUpdates(
  context: Context,
  kind: Kind,
  { updates, added, removed }: UpdatedContent,
): Promise<void> {
  if (context.permissions.all) return
  if (updates.some((update) => isAdminPolicy(context, kind, update.live.key) || selectsPolicies(context, kind, update)))
    requireGrantablePolicies(context)
  requireGrantablePermissionClient(context, listRenamedClients(kind, updates))
  const granting = added.filter(({ field }) => kind.fields[field]!.grants)
  const written = updates.map(({ set }) => set)
  await requireGrantable(context, kind, { written, granting })
  const revoking = removed.filter(({ field }) => kind.fields[field]!.grants === true)
  await requireGrantableRoles(context, listTargets(kind, revoking, 'role'))
  await requireGrantableGroups(context, listTargets(kind, revoking, 'group'))
  if (written.some((set) => changesLogin(kind, set))) await requireControlOfAllUsers(context)
  const ids = kind.name === 'role' ? listTargets(kind, [...added, ...removed], 'role') : []
  await requireControlOfConditionRoles(context, { keys: listRenamedRoles(kind, updates), ids })
  if (kind.name === 'user' || kind.name === 'group')
    await requireControlOfConditionHolders(context, kind, { updates, relations: [...added, ...removed] })
  const withCredentials = updates.filter(({ set }) => sets(kind, set, (path) => isCredential(kind, path)))
  await credentialChecks[kind.name]?.(
    context,
    withCredentials.map(({ live }) => live.id),
  )
}

/**
 * Throws forbidden if the deletion revokes permissions that the caller lacks, or removes a requirement of the login. Call it before
 * the deletion. No statement if it does neither.
 */
export async function checkPrivilegesOfDeleted(
  context: Context,
  kind: Kind,
  objects: readonly Pick<LiveObject, 'id' | 'key' | 'representation'>[],
): Promise<void> {
  if (context.permissions.all) return
  const ids = objects.map(({ id }) => id)
  if (objects.some(({ key }) => isAdminPolicy(context, kind, key))) requireGrantablePolicies(context)
  await deletionChecks[kind.name]?.(context, ids)
  if (kind.name === 'client')
    requireGrantablePermissionClient(
      context,
      objects.map(({ key }) => key[0]!),
    )
  if (kind.name === 'role') await requireControlOfConditionRoles(context, { keys: objects.map(({ key }) => key), ids })
  if (kind.name === 'group') await requireControlOfConditionGroups(context, ids)
  const fields = objects.map(({ representation }) => flatten(kind, representation))
  if (loginKinds.has(kind.name) && fields.some((object) => controlsLogin(kind, object)))
    await requireControlOfAllUsers(context)
}

/** Throws forbidden if objects that are replaced by others with their names have permissions that the caller lacks. One statement, or none. */
export async function checkPrivilegesOfReplaced(
  context: Context,
  kind: KindName,
  objects: readonly Pick<LiveObject, 'id'>[],
): Promise<void> {
  await credentialChecks[kind]?.(
    context,
    objects.map(({ id }) => id),
  )
}

/** Whether a new identity provider issues assertions for clients. Settings that are changed later are credentials. */
const issuesAssertions = (fields: FlatFields): boolean =>
  fields.providerId === 'kubernetes' || /^true$/i.test(String(fields['config.supportsClientAssertions']))

/** Throws forbidden unless the caller may act as the clients that authenticate by assertions of identity providers. Two statements, or none. */
async function requireControlOfIssuedClients(context: Context, aliases: readonly string[]): Promise<void> {
  if (!aliases.length) return
  const containing = { clientAuthenticatorType: 'federated-jwt' }
  const clients = (await listObjects(context, 'client', { containing })).filter(({ representation }) =>
    aliases.includes(readTextMap(representation.attributes)['jwt.credential.issuer'] ?? ''),
  )
  await requireControlOfClients(
    context,
    clients.map(({ id }) => id),
  )
}

/** The kinds of which policies consist. */
const policyKinds: readonly KindName[] = ['authorizationPolicy', 'authorizationResource', 'authorizationScope']

/** Whether an object is a policy about administrators, or a resource or scope of such policies. */
function isAdminPolicy(context: Context, { name }: Kind, key: Key): boolean {
  return policyKinds.includes(name) && isPolicyClient(context, key.at(-2))
}

/** Whether an update decides which policies about administrators count: those of version 1 or 2, or any. */
function selectsPolicies(context: Context, { name }: Kind, { live, set }: ResolvedUpdate): boolean {
  // A new realm, whose first entry in the journal this is, has no policies yet.
  const isNew = 'version' in context && context.version === 1
  if (name === 'realm') return set.adminPermissionsEnabled !== undefined && !isNew
  const isAboutAuthorization = Object.keys(set).some((path) => path.startsWith('authorization'))
  return name === 'client' && isAboutAuthorization && isPolicyClient(context, live.key[0])
}

function isPolicyClient({ realm }: Context, clientId: string | undefined): boolean {
  return clientId === ADMIN_PERMISSIONS || clientId === getManagementClientId(realm.name)
}

/** Throws forbidden if the client with the roles for Regent's own permissions is among the clients, and the caller may not grant these. */
function requireGrantablePermissionClient(context: Context, clientIds: readonly string[]): void {
  if (!clientIds.includes(PERMISSIONS_CLIENT)) return
  requireGrantableRoleNames(
    context,
    regentRoles.map((name) => ({ client: PERMISSIONS_CLIENT, name })),
  )
}

/** Returns the former and the new client IDs of renamed clients. */
function listRenamedClients(kind: Kind, updates: readonly ResolvedUpdate[]): string[] {
  if (kind.name !== 'client') return []
  return updates.flatMap(({ live, set }) => (set.clientId === undefined ? [] : [live.key[0]!, String(set.clientId)]))
}

/** Returns the former and the new keys of renamed roles; the key of a client means all of its roles. */
function listRenamedRoles(kind: Kind, updates: readonly ResolvedUpdate[]): Key[] {
  if (kind.name !== 'role' && kind.name !== 'client') return []
  const toRoleKey = (key: Key): Key => (kind.name === 'client' ? ['client', ...key] : key)
  return updates.flatMap(({ live: { key }, set }) => {
    const name = set[kind.naturalKey]
    return name === undefined ? [] : [toRoleKey(key), toRoleKey([...key.slice(0, -1), String(name)])]
  })
}

/** Checks the elements of relations that grant permissions, and the roles and groups that the written fields name. */
async function requireGrantable(
  context: Context,
  kind: Kind,
  { written, granting }: { readonly written: readonly FlatFields[]; readonly granting: readonly RelationElements[] },
): Promise<void> {
  await requireGrantableRoles(context, listTargets(kind, granting, 'role'))
  await requireGrantableGroups(context, listTargets(kind, granting, 'group'))
  const clientScopes = listTargets(kind, granting, 'clientScope')
  await requireGrantableClientScopes(context, clientScopes)
  const listNames = (target: 'role' | 'group') => written.flatMap((fields) => listGrantedNames(kind, fields, target))
  const mapperRoles = await listMapperRoles(context, clientScopes)
  await requireGrantableNames(context, { roles: [...listNames('role'), ...mapperRoles], groups: listNames('group') })
}

/** Returns the ids of the objects of a kind among elements of relations, each once. */
function listTargets(kind: Kind, relations: readonly RelationElements[], target: KindName): string[] {
  const referring = relations.filter(({ field }) => kind.fields[field]!.refersTo === target)
  return [...new Set(referring.flatMap(({ elements }) => elements.map((element) => element.target)))]
}

/** Returns the roles that mappers of client scopes name. One statement, or none. */
async function listMapperRoles(context: Context, clientScopes: readonly string[]): Promise<string[]> {
  if (!clientScopes.length) return []
  const mappers = await listObjects(context, 'protocolMapper', { parents: { kind: 'clientScope', ids: clientScopes } })
  return mappers.flatMap((live) => listGrantedNames(mapper, flatten(mapper, live.representation), 'role'))
}

/** Returns the names of the roles or groups that the config of a mapper grants. */
function listGrantedNames(kind: Kind, fields: FlatFields, target: 'role' | 'group'): string[] {
  return Object.entries(fields).flatMap(([path, value]) => {
    const { key, field } = resolveField(kind, path)
    if (value === null || key === undefined || !field.grantKeys?.[target].includes(key)) return []
    return [value].flat().map(String)
  })
}

/** Whether a field with the fact gets a value that matters: neither false, nor its safe value, nor the removal of a secret. */
function sets(kind: Kind, set: FlatFields, hasFact: (path: string) => boolean): boolean {
  return Object.entries(set).some(
    ([path, value]) =>
      value !== false &&
      !(value === null && isSecret(kind, path)) &&
      value !== resolveField(kind, path).field.safeValue &&
      hasFact(path),
  )
}

/** Whether an update sets a login control, or removes a requirement of the login. */
function changesLogin(kind: Kind, set: FlatFields): boolean {
  const removesRequirement = Object.entries(set).some(
    ([path, value]) => (value === false || value === null) && resolveField(kind, path).field.loginRequirement === true,
  )
  return removesRequirement || sets(kind, set, (path) => isLoginControl(kind, path, 'update'))
}

/** Whether an object controls the login; a flow without steps does not. */
function controlsLogin(kind: Kind, fields: FlatFields): boolean {
  return Object.entries(fields).some(
    ([path, value]) => value !== null && !(isList(value) && !value.length) && isLoginControl(kind, path, 'update'),
  )
}
