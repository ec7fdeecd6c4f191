// Synchronization of the groups and roles of a mapper, from the directory and to it.
import { getNameFromPath, getParentPath, toPathSegment } from '../../kinds/group.ts'
import { type Json, readObject, readTexts } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import type { LdapConnection } from '../../lib/ldap/ldap-connection.ts'
import { escapeNameValue, normalizeName } from '../../lib/ldap/ldap-syntax.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'
import { writers } from '../kinds/index.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import type { UserStore } from '../users/user-store.ts'
import { type DirectoryGroup, listDirectoryGroups } from './directory-groups.ts'
import { type MembershipMapper, toRoleKey } from './membership-mapper.ts'
import { findTargets } from './memberships.ts'
import { withStoreConnection } from './store-connection.ts'
import { explainFailure, type SyncCounts, toFederationCaller } from './synchronize.ts'

/** The counts of a synchronization, and the counts as a sentence. */
export type GroupSyncResult = SyncCounts & { readonly status: string }

/** Creates the groups or roles of the realm that a directory has. Must not be called inside a transaction. Throws invalid. */
export async function synchronizeFromDirectory(
  service: Service,
  store: UserStore,
  mapper: MembershipMapper,
): Promise<GroupSyncResult> {
  const groups = await explainFailure(store, () =>
    withStoreConnection(service, store, (connection) =>
      listDirectoryGroups(connection, mapper, { pageSize: store.pageSize }),
    ),
  )
  return service.write(toFederationCaller(store), { realm: store.realm, isLarge: true }, (context) =>
    mapper.kind === 'role' ? importRoles(context, mapper, groups) : importGroups(context, mapper, groups),
  )
}

async function importRoles(
  context: WriteContext,
  mapper: MembershipMapper,
  groups: readonly DirectoryGroup[],
): Promise<GroupSyncResult> {
  const existing = await findTargets(context, mapper, groups)
  const names = new Set(groups.map(({ name }) => name))
  const missing = [...names].filter((name) => !existing.has(name))
  const parent = await findRoleParent(context, mapper)
  await writers.role.create(
    context,
    missing.map((name) => ({ representation: { name }, ...(parent && { parent }) })),
  )
  const added = missing.length
  const status = `${added} imported roles, ${existing.size} roles already exists in Keycloak`
  return { added, updated: existing.size, removed: 0, failed: 0, status }
}

async function findRoleParent(context: WriteContext, { client }: MembershipMapper) {
  if (client === undefined) return undefined
  const [live] = await listObjects(context, 'client', { keys: [[client]] })
  if (!live) throw failure('invalid', `The client "${client}" of the mapper does not exist`)
  return { kind: live.kind, id: live.id, key: live.key }
}

async function importGroups(
  context: WriteContext,
  mapper: MembershipMapper,
  groups: readonly DirectoryGroup[],
): Promise<GroupSyncResult> {
  const paths = mapper.hasInheritance ? resolveTree(mapper, groups) : toFlatPaths(mapper, groups)
  const live = await listGroupsBelow(context, mapper)
  const byPath = new Map(live.map((group) => [group.key[0]!, group]))
  const missing = [...paths].filter(([path]) => !byPath.has(path))
  await writers.group.create(
    context,
    missing.map(([path, { attributes }]) => ({
      representation: { path, ...(Object.keys(attributes).length && { attributes: toAttributes(attributes) }) },
    })),
  )
  const existingGroups = [...paths].filter(([path]) => byPath.has(path))
  await writers.group.update(
    context,
    existingGroups.map(([path, { attributes }]) => ({
      live: byPath.get(path)!,
      set: toAttributeChanges(mapper, attributes),
    })),
  )
  const obsoleteGroups = mapper.dropsOtherGroups ? live.filter(({ key }) => !isAncestor(key[0]!, paths)) : []
  if (obsoleteGroups.length) await writers.group.delete(context, obsoleteGroups)
  const counts = { added: missing.length, updated: existingGroups.length, removed: obsoleteGroups.length, failed: 0 }
  const status = `${counts.added} imported groups, ${counts.updated} updated groups, ${counts.removed} removed groups`
  return { ...counts, status }
}

/** Whether a path is one of the paths, or the path of a group above. */
function isAncestor(path: string, paths: ReadonlyMap<string, unknown>): boolean {
  return [...paths.keys()].some((other) => other === path || other.startsWith(`${path}/`))
}

/** Lists the groups below the path of a mapper. Throws invalid if there is no group with that path. */
async function listGroupsBelow(context: WriteContext, { groupsPath }: MembershipMapper): Promise<LiveObject[]> {
  const groups = await listObjects(context, 'group', {})
  if (groupsPath && !groups.some(({ key }) => key[0] === groupsPath))
    throw failure('invalid', `The group ${groupsPath} of the mapper does not exist`)
  return groups.filter(({ key }) => key[0]!.startsWith(`${groupsPath}/`))
}

const toAttributes = (attributes: DirectoryGroup['attributes']): { [name: string]: Json } =>
  Object.fromEntries(Object.entries(attributes).map(([name, values]) => [name, [...values]]))

const toAttributeChanges = ({ groupAttributes }: MembershipMapper, attributes: DirectoryGroup['attributes']) =>
  Object.fromEntries(
    groupAttributes.map((name): [string, Json] => [
      `attributes.${name}`,
      attributes[name]?.length ? [...attributes[name]] : null,
    ]),
  )

const toFlatPaths = ({ groupsPath }: MembershipMapper, groups: readonly DirectoryGroup[]) =>
  new Map(groups.map((group) => [`${groupsPath}${toPathSegment(group.name)}`, group]))

/**
 * Returns the groups by path: a group that is a member of another one is below it. Keycloak: GroupTreeResolver. Throws invalid if a group
 * has two parents, if groups contain each other, or if a member is missing.
 */
function resolveTree(mapper: MembershipMapper, groups: readonly DirectoryGroup[]): Map<string, DirectoryGroup> {
  const byDn = new Map(groups.map((group) => [normalizeName(group.dn), group]))
  const parents = new Map<DirectoryGroup, DirectoryGroup>()
  for (const parent of groups) {
    for (const member of parent.members) {
      const child = byDn.get(member)
      if (!child) {
        requireUser(mapper, parent, member)
        continue
      }
      if (parents.has(child)) throw failure('invalid', `The group '${child.name}' has several parent groups`)
      parents.set(child, parent)
    }
  }
  const paths = new Map<string, DirectoryGroup>()
  for (const group of groups) {
    const names = [group.name]
    for (let above = parents.get(group); above; above = parents.get(above)) {
      if (names.length > groups.length) throw failure('invalid', `The group '${group.name}' contains itself`)
      names.unshift(above.name)
    }
    paths.set(`${mapper.groupsPath}${names.map(toPathSegment).join('')}`, group)
  }
  return paths
}

/** Throws invalid if a member that is no group is below the base of the groups: then it is a group that is missing. */
function requireUser({ base, ignoresMissingGroups }: MembershipMapper, { name }: DirectoryGroup, member: string): void {
  if (ignoresMissingGroups || !member.endsWith(`,${normalizeName(base)}`)) return
  throw failure('invalid', `The group '${name}' has the member '${member}', which is no group of the mapper`)
}

/** Creates the groups of a directory that the realm has. Must not be called inside a transaction. Throws invalid. */
export async function synchronizeToDirectory(
  service: Service,
  store: UserStore,
  mapper: MembershipMapper,
): Promise<GroupSyncResult> {
  const names = await service.read(toFederationCaller(store), store.realm, async (context) => {
    if (mapper.mode !== 'LDAP_ONLY') return new Map<string, LiveObject>()
    if (mapper.kind === 'role') return listRolesByName(await listObjects(context, 'role', {}), mapper)
    const groups = await listObjects(context, 'group', {})
    const below = groups.filter(({ key }) => key[0]!.startsWith(`${mapper.groupsPath}/`))
    return new Map(below.map((group) => [getNameFromPath(group.key[0]!), group]))
  })
  const counts = await explainFailure(store, () =>
    withStoreConnection(service, store, (connection) => exportGroups(connection, { store, mapper, groups: names })),
  )
  return { ...counts, status: describeExport(mapper, counts) }
}

function listRolesByName(roles: readonly LiveObject[], mapper: MembershipMapper): Map<string, LiveObject> {
  const isMapped = (key: Key) => JSON.stringify(key) === JSON.stringify(toRoleKey(mapper, key.at(-1)!))
  return new Map(roles.filter(({ key }) => isMapped(key)).map((role) => [role.key.at(-1)!, role]))
}

function describeExport({ kind }: MembershipMapper, { added, updated, removed }: SyncCounts): string {
  if (kind === 'role') return `${added} roles imported to LDAP, ${updated} roles already existed in LDAP`
  return `${added} groups imported to LDAP, ${updated} groups updated to LDAP, ${removed} groups removed from LDAP`
}

/** Keycloak: the member of groups without members, where the object class requires one. */
export const PLACEHOLDER_MEMBER = 'cn=empty-membership-placeholder'

async function exportGroups(
  connection: LdapConnection,
  {
    store,
    mapper,
    groups,
  }: { readonly store: UserStore; readonly mapper: MembershipMapper; readonly groups: ReadonlyMap<string, LiveObject> },
): Promise<SyncCounts> {
  if (mapper.mode !== 'LDAP_ONLY') return { added: 0, updated: 0, removed: 0, failed: 0 }
  const existing = await listDirectoryGroups(connection, mapper, { pageSize: store.pageSize })
  const byName = new Map(existing.map((group) => [group.name, group]))
  const missing = [...groups].filter(([name]) => !byName.has(name))
  for (const [name, live] of missing) await createDirectoryGroup(connection, { store, mapper, name, live })
  const existingGroups = [...groups].filter(([name]) => byName.has(name))
  for (const [name, live] of existingGroups) {
    const attributes = listGroupAttributes(mapper, live)
    if (mapper.groupAttributes.length) await connection.replaceAttributes(byName.get(name)!.dn, attributes)
  }
  const obsoleteGroups = mapper.dropsOtherGroups ? existing.filter(({ name }) => !groups.has(name)) : []
  for (const { dn } of obsoleteGroups) await connection.delete(dn)
  if (mapper.hasInheritance) await addSubgroups(connection, mapper, groups)
  return { added: missing.length, updated: existingGroups.length, removed: obsoleteGroups.length, failed: 0 }
}

/** Creates a group without members in a directory. @throws LdapError */
export function createDirectoryGroup(
  connection: LdapConnection,
  {
    store,
    mapper,
    name,
    live,
  }: { readonly store: UserStore; readonly mapper: MembershipMapper; readonly name: string; readonly live: LiveObject },
): Promise<void> {
  const present = Object.entries(listGroupAttributes(mapper, live)).filter(([, values]) => values.length)
  return connection.add(toGroupDn(mapper, name), {
    objectClass: mapper.objectClasses,
    [mapper.nameAttribute]: [name],
    ...(requiresMember(store, mapper) && { [mapper.memberAttribute]: [PLACEHOLDER_MEMBER] }),
    ...Object.fromEntries(present),
  })
}

/** Whether the groups of a mapper have at least one member. */
export const requiresMember = ({ vendor }: UserStore, { objectClasses }: MembershipMapper): boolean =>
  vendor !== 'ad' && objectClasses.some((name) => /^groupOf(Unique)?Names$/i.test(name))

/** Returns the DN of a new group. */
export const toGroupDn = ({ nameAttribute, createBase }: MembershipMapper, name: string): string =>
  `${nameAttribute}=${escapeNameValue(name)},${createBase}`

function listGroupAttributes({ groupAttributes }: MembershipMapper, { representation }: LiveObject) {
  const attributes = readObject(representation.attributes)
  return Object.fromEntries(groupAttributes.map((name) => [name, readTexts(attributes[name])]))
}

/** Makes the groups below a group its members. */
async function addSubgroups(
  connection: LdapConnection,
  mapper: MembershipMapper,
  groups: ReadonlyMap<string, LiveObject>,
): Promise<void> {
  const directoryGroups = await listDirectoryGroups(connection, mapper)
  const byName = new Map(directoryGroups.map((group) => [group.name, group]))
  for (const [name, { key }] of groups) {
    const parent = byName.get(getNameFromPath(getParentPath(key[0]!)))
    const child = byName.get(name)
    if (parent && child && !parent.members.has(normalizeName(child.dn)))
      await connection.changeValue(parent.dn, { operation: 'add', attribute: mapper.memberAttribute, value: child.dn })
  }
}
