// Roles and attributes in conditions of authentication flows: users who have them may skip a step, such as the second factor, or are
// denied access. A caller who changes for whom a condition holds must be able to act as these users.
import { resolveField } from '../../kinds/compare.ts'
import { readTextMap } from '../../kinds/json.ts'
import type { Key, Kind } from '../../kinds/kind.ts'
import { isUserField } from '../../kinds/user.ts'
import { selectKeys } from '../../store/objects.ts'
import { selectExpandedRoles } from '../../store/users/effective-roles.ts'
import { selectRoleHolders } from '../../store/users/role-mappings.ts'
import { hasFullAccess } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { parseRoleKeys, requireControlOfAllUsers, requireControlOfUsers } from '../permissions/privilege-escalation.ts'
import { listObjects } from './live-objects.ts'
import type { RelationElements } from './object-rows.ts'
import type { ResolvedUpdate } from './resolved-updates.ts'

/** Roles that a write changes. */
interface ChangedRoles {
  /** Keys of created, renamed and deleted roles; the key of a client means all of its roles. */
  readonly keys: readonly Key[]
  /** Ids of roles that composite roles get or lose, and of deleted roles. */
  readonly ids: readonly string[]
}

/**
 * Throws forbidden if the write changes for whom a condition of a flow holds, unless the caller may log in as any user of the realm.
 * No statement with full access to the realm, else four at most.
 */
export async function requireControlOfConditionRoles(context: Context, { keys, ids }: ChangedRoles): Promise<void> {
  const { tx, realm } = context
  if (canActAsAnyUser(context) || !(keys.length || ids.length)) return
  const { roles: conditionKeys } = await listConditions(context)
  if (!conditionKeys.length) return
  const isPrefixOf = (key: Key, other: Key) => key.every((part, at) => part === other[at])
  if (keys.some((key) => conditionKeys.some((conditionKey) => isPrefixOf(key, conditionKey))))
    return requireControlOfAllUsers(context)
  if (!ids.length) return
  const conditionIds = new Set(await listRoleIds(context, conditionKeys))
  const contained = await selectExpandedRoles(tx, realm.number, { roles: ids, stop: undefined })
  if (contained.some(({ id }) => conditionIds.has(id))) await requireControlOfAllUsers(context)
}

/** Updates of users or groups, with the elements that their relations get and lose. */
interface ChangedHolders {
  readonly updates: readonly ResolvedUpdate[]
  readonly relations: readonly RelationElements[]
}

/**
 * Throws forbidden if updates of users or groups change for whom a condition of a flow holds, unless the caller may log in as these
 * users, or as any user of the realm for groups. No statement with full access to the realm, else four at most.
 */
export async function requireControlOfConditionHolders(
  context: Context,
  kind: Kind,
  { updates, relations }: ChangedHolders,
): Promise<void> {
  if (canActAsAnyUser(context)) return
  const listElements = (target: 'role' | 'group') =>
    relations.flatMap(({ field, elements }) => (kind.fields[field]!.refersTo === target ? elements : []))
  const [roles, groups] = [listElements('role'), listElements('group')]
  const withAttributes = updates.filter(({ set }) => Object.keys(set).some((path) => isAttribute(kind, path)))
  if (!(roles.length || groups.length || withAttributes.length)) return
  const conditions = await listConditions(context)
  const holders = await findHolders(context, conditions, {
    roles: roles.map(({ target }) => target),
    groups: groups.map(({ target }) => target),
  })
  const names = kind.name === 'group' ? conditions.groupAttributes : conditions.attributes
  const affected = new Set([
    ...roles.flatMap(({ owner, target }) => (holders.roles.has(target) ? [owner] : [])),
    ...groups.flatMap(({ owner, target }) => (holders.groups.has(target) ? [owner] : [])),
    ...withAttributes.flatMap(({ live, set }) => (changesAttribute(set, names) ? [live.id] : [])),
  ])
  if (kind.name === 'user') await requireControlOfUsers(context, [...affected])
  else if (affected.size) await requireControlOfAllUsers(context)
}

/**
 * Throws forbidden if a condition of a flow holds for members of the groups through these or their ancestors, unless the caller may log
 * in as any user of the realm. Call it for deleted groups, and for groups that get or lose subgroups. Statements: as above.
 */
export async function requireControlOfConditionGroups(context: Context, groups: readonly string[]): Promise<void> {
  if (canActAsAnyUser(context) || !groups.length) return
  const holders = await findHolders(context, await listConditions(context), { roles: [], groups })
  if (holders.groups.size) await requireControlOfAllUsers(context)
}

const canActAsAnyUser = ({ permissions, realm }: Context): boolean => hasFullAccess(permissions, realm.name)

/** The roles and attributes that conditions of flows name. */
interface Conditions {
  /** The keys that the names of roles may mean. */
  readonly roles: readonly Key[]
  /** The names of attributes. */
  readonly attributes: readonly string[]
  /** The names of attributes that users may also have through their groups. */
  readonly groupAttributes: readonly string[]
}

/** Returns the conditions of the realm, except for those that this transaction creates. One statement. */
async function listConditions(context: Context): Promise<Conditions> {
  const entries = isWriteContext(context) ? context.entries : []
  const created = new Set(entries.flatMap(({ operation, object }) => (operation === 'create' ? [object] : [])))
  const objects = await listObjects(context, 'authenticatorConfig', {})
  const configs = objects
    .filter(({ id }) => !created.has(id))
    .map(({ representation }) => readTextMap(representation.config))
  const withAttribute = configs.flatMap(({ attribute_name: name, include_group_attributes: includesGroups }) =>
    name ? [{ name, includesGroups: includesGroups === 'true' }] : [],
  )
  return {
    roles: configs.flatMap(({ condUserRole }) => (condUserRole ? parseRoleKeys(condUserRole) : [])),
    attributes: withAttribute.map(({ name }) => name),
    groupAttributes: withAttribute.flatMap(({ name, includesGroups }) => (includesGroups ? [name] : [])),
  }
}

/** Returns those of the roles and groups whose holders and members have a role or group attribute of a condition. Two statements, or none. */
async function findHolders(
  context: Context,
  { roles: conditionKeys, groupAttributes }: Conditions,
  { roles, groups }: { readonly roles: readonly string[]; readonly groups: readonly string[] },
): Promise<{ readonly roles: ReadonlySet<string>; readonly groups: ReadonlySet<string> }> {
  const { tx, realm } = context
  const canHold = conditionKeys.length > 0 || (groupAttributes.length > 0 && groups.length > 0)
  if (!canHold || !(roles.length || groups.length)) return { roles: new Set(), groups: new Set() }
  const conditionRoles = await listRoleIds(context, conditionKeys)
  const search = { roles: conditionRoles, groupAttributes, candidates: { roles, groups } }
  const rows = await selectRoleHolders(tx, realm.number, search)
  return {
    roles: new Set(rows.flatMap(({ role }) => role ?? [])),
    groups: new Set(rows.flatMap(({ group }) => group ?? [])),
  }
}

/** Returns the ids of the existing roles with these keys. One statement, or none. */
async function listRoleIds({ tx, realm }: Context, keys: readonly Key[]): Promise<string[]> {
  if (!keys.length) return []
  return (await selectKeys(tx, realm.number, { kind: 'role', filter: { keys } })).map(({ id }) => id)
}

/** Whether a condition can name the path: that of an attribute, or of a field of users that counts as one. */
function isAttribute(kind: Kind, path: string): boolean {
  return resolveField(kind, path).name === 'attributes' || (kind.name === 'user' && isUserField(path))
}

/** Whether an update sets or removes one of the attributes; fields of users count as attributes. */
function changesAttribute(set: ResolvedUpdate['set'], names: readonly string[]): boolean {
  return names.length > 0 && ('attributes' in set || names.some((name) => name in set || `attributes.${name}` in set))
}

const isWriteContext = (context: Context): context is WriteContext => 'entries' in context
