// The groups and roles of users that follow from a directory.
import { getNameFromPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toRelationKeys } from '../../kinds/relations.ts'
import type { LdapConnection } from '../../lib/ldap/ldap-connection.ts'
import { readValues } from '../../lib/ldap/ldap-entry.ts'
import { anyOf, escapeFilterValue, normalizeName, parseName } from '../../lib/ldap/ldap-syntax.ts'
import { selectKeys } from '../../store/objects.ts'
import type { Context } from '../context/context.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import type { ObjectUpdate } from '../objects/writers.ts'
import { parseRoleKeys } from '../permissions/privilege-escalation.ts'
import type { UserStore } from '../users/user-store.ts'
import { type DirectoryGroup, listDirectoryGroups, toMember } from './directory-groups.ts'
import type { DirectoryUser } from './directory-user.ts'
import { listMembershipMappers, type MembershipMapper, toRoleKey } from './membership-mapper.ts'

/** The groups of the mappers of a store, with their members. */
export type LoadedMemberships = readonly {
  readonly mapper: MembershipMapper
  readonly groups: readonly DirectoryGroup[]
}[]

/** The groups and roles that a mapper gives a user, and all that it may give. */
interface MappedKeys {
  readonly field: 'groups' | 'realmRoles' | 'clientRoles'
  readonly keys: readonly Key[]
  /** Keys, as JSON texts, that the user loses unless `keys` has them. */
  readonly managed: ReadonlySet<string>
}

const NOTHING: ReadonlySet<string> = new Set()

/** Returns the groups and roles that a user gets. */
export type MembershipReader = (user: DirectoryUser, isNew: boolean) => readonly MappedKeys[]

/**
 * Loads the groups of all mappers of a store. With a user, only those of which the user is a member, and those with the `names`, of which
 * the user may no longer be one. @throws LdapError
 */
export async function loadMemberships(
  connection: LdapConnection,
  store: UserStore,
  single?: { readonly user: DirectoryUser; readonly names: readonly string[] },
): Promise<LoadedMemberships> {
  const loaded: { mapper: MembershipMapper; groups: DirectoryGroup[] }[] = []
  for (const mapper of listMembershipMappers(store)) {
    const filter = single && buildMemberFilter(mapper, single)
    const groups = await listDirectoryGroups(connection, mapper, {
      pageSize: store.pageSize,
      ...(filter && { filter }),
    })
    loaded.push({ mapper, groups })
  }
  return loaded
}

/** Active Directory: matches members of groups in groups. */
const IN_CHAIN = ':1.2.840.113556.1.4.1941:'

function buildMemberFilter(
  mapper: MembershipMapper,
  { user, names }: { readonly user: DirectoryUser; readonly names: readonly string[] },
): string {
  const operator = mapper.isRecursive ? `${IN_CHAIN}=` : '='
  const ids = mapper.namesUsersByValue ? readValues(user.entry, mapper.userAttribute) : [user.dn]
  const memberOf = mapper.readsMemberOf ? listMemberOf(mapper, user).map(({ name }) => name) : []
  return anyOf([
    ...ids.map((id) => `(${mapper.memberAttribute}${operator}${escapeFilterValue(id)})`),
    ...[...new Set([...names, ...memberOf])].map((name) => `(${mapper.nameAttribute}=${escapeFilterValue(name)})`),
    // Without any alternative, nothing matches.
    ...(ids.length + names.length + memberOf.length ? [] : ['(!(objectClass=*))']),
  ])
}

/** Returns the groups that the `memberOf` attribute of a user names, if they are below the base of the mapper. */
function listMemberOf(
  mapper: MembershipMapper,
  { entry }: DirectoryUser,
): { readonly dn: string; readonly name: string }[] {
  const base = normalizeName(mapper.base)
  return readValues(entry, mapper.memberOfAttribute)
    .filter((dn) => normalizeName(dn).endsWith(`,${base}`))
    .map((dn) => ({ dn: normalizeName(dn), name: parseName(dn)[0]?.value ?? '' }))
}

/** Creates a function that returns the groups and roles of users, of those that exist in the realm. Three statements at most. */
export async function createMembershipReader(
  context: Context,
  store: UserStore,
  loaded: LoadedMemberships,
): Promise<MembershipReader> {
  const hardcoded = await findHardcoded(context, store)
  const mapped: ((user: DirectoryUser, isNew: boolean) => MappedKeys[])[] = []
  for (const { mapper, groups } of loaded) {
    const targets = await findTargets(context, mapper, groups)
    const listGroups = createGroupLookup(mapper, groups)
    const managed =
      mapper.mode === 'IMPORT' ? NOTHING : new Set([...targets.values()].map((key) => JSON.stringify(key)))
    mapped.push((user, isNew) => {
      if (mapper.mode === 'IMPORT' && !isNew) return []
      const keys = listGroups(user).flatMap(({ name }) => {
        const key = targets.get(name)
        return key ? [key] : []
      })
      return [{ field: getMappedField(mapper), keys, managed }]
    })
  }
  return (user, isNew) => [...hardcoded, ...mapped.flatMap((read) => read(user, isNew))]
}

/** Returns the field of users in which the groups or roles of a mapper are. */
export const getMappedField = ({ kind, client }: MembershipMapper): MappedKeys['field'] =>
  kind === 'group' ? 'groups' : client === undefined ? 'realmRoles' : 'clientRoles'

/** Returns a function that returns the groups of a user. */
function createGroupLookup(
  mapper: MembershipMapper,
  groups: readonly DirectoryGroup[],
): (user: DirectoryUser) => readonly DirectoryGroup[] {
  const byDn = new Map(groups.map((group) => [normalizeName(group.dn), group]))
  if (mapper.readsMemberOf) return (user) => listMemberOf(mapper, user).flatMap(({ dn }) => byDn.get(dn) ?? [])
  const byMember = new Map<string, DirectoryGroup[]>()
  for (const group of groups) {
    for (const member of group.members) {
      const ofMember = byMember.get(member)
      if (ofMember) ofMember.push(group)
      else byMember.set(member, [group])
    }
  }
  return (user) => {
    const ids = mapper.namesUsersByValue ? readValues(user.entry, mapper.userAttribute) : [user.dn]
    const direct = ids.flatMap((id) => byMember.get(toMember(mapper, id)) ?? [])
    return mapper.isRecursive ? withAncestors(direct, byMember) : direct
  }
}

/** Returns groups and the groups that they are members of, directly or not. */
function withAncestors(
  groups: readonly DirectoryGroup[],
  byMember: ReadonlyMap<string, readonly DirectoryGroup[]>,
): DirectoryGroup[] {
  const ancestors = new Set(groups)
  // The set grows while it is iterated.
  for (const { dn } of ancestors) for (const group of byMember.get(normalizeName(dn)) ?? []) ancestors.add(group)
  return [...ancestors]
}

/** Returns the keys of the groups or roles of the realm, by the name in the directory. One statement. */
export async function findTargets(
  { tx, realm }: Context,
  mapper: MembershipMapper,
  groups: readonly Pick<DirectoryGroup, 'name'>[],
): Promise<ReadonlyMap<string, Key>> {
  const names = new Set(groups.map(({ name }) => name))
  if (!names.size) return new Map()
  if (mapper.kind === 'role') {
    const keys = [...names].map((name) => toRoleKey(mapper, name))
    const rows = await selectKeys(tx, realm.number, { kind: 'role', filter: { keys } })
    return new Map(rows.map(({ key }) => [key.at(-1)!, key]))
  }
  const rows = await selectKeys(tx, realm.number, { kind: 'group', filter: {} })
  const below = rows.filter(({ key }) => key[0]!.startsWith(`${mapper.groupsPath}/`))
  return new Map(
    below.flatMap(({ key }): [string, Key][] => {
      const name = getNameFromPath(key[0]!)
      return names.has(name) ? [[name, key]] : []
    }),
  )
}

/** Returns what mappers give to every user of a store, as far as it exists. Two statements at most. */
async function findHardcoded({ tx, realm }: Context, { mappers }: UserStore): Promise<MappedKeys[]> {
  const readAll = (providerId: string, setting: string) =>
    mappers.flatMap((mapper) => (mapper.providerId === providerId ? (mapper.read(setting) ?? []) : []))
  const find = async (kind: KindName, keys: readonly Key[]) =>
    keys.length ? (await selectKeys(tx, realm.number, { kind, filter: { keys } })).map(({ key }) => key) : []
  const roles = await find('role', readAll('hardcoded-ldap-role-mapper', 'role').flatMap(parseRoleKeys))
  const groups = await find(
    'group',
    readAll('hardcoded-ldap-group-mapper', 'group').map((path): Key => [path.startsWith('/') ? path : `/${path}`]),
  )
  return [
    { field: 'groups', keys: groups, managed: NOTHING },
    { field: 'realmRoles', keys: roles.filter((key) => key.length === 1), managed: NOTHING },
    { field: 'clientRoles', keys: roles.filter((key) => key.length > 1), managed: NOTHING },
  ]
}

/** Returns the changes of the groups and roles of a user. */
export function getMappedRelations(
  mapped: readonly MappedKeys[],
  { representation }: Pick<LiveObject, 'representation'>,
): NonNullable<ObjectUpdate['relations']> {
  const fields = Map.groupBy(mapped, ({ field }) => field)
  return Object.fromEntries(
    [...fields].map(([field, ofField]) => {
      const add = ofField.flatMap(({ keys }) => keys)
      const addedKeys = new Set(add.map((key) => JSON.stringify(key)))
      const managed = new Set(ofField.flatMap((keys) => [...keys.managed]))
      const current = toRelationKeys(kinds.user.fields[field]!, representation[field] ?? null)
      const isLost = (text: string) => managed.has(text) && !addedKeys.has(text)
      return [field, { add, remove: current.filter((key) => isLost(JSON.stringify(key))) }]
    }),
  )
}

/** Returns the names of the groups and roles that a user has, as a directory may name them. */
export function listNamesOfMemberships({ representation }: Pick<LiveObject, 'representation'>): string[] {
  const { groups, realmRoles, clientRoles } = representation
  return [
    ...(Array.isArray(groups) ? groups.map((path) => getNameFromPath(String(path))) : []),
    ...(Array.isArray(realmRoles) ? realmRoles.map(String) : []),
    ...Object.values(clientRoles ?? {}).flatMap((names) => (Array.isArray(names) ? names.map(String) : [])),
  ]
}
