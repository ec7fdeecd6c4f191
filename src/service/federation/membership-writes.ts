// Writes the groups and roles of users to directories, by the mappers of a user store.
import { getNameFromPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { toRelationKeys } from '../../kinds/relations.ts'
import { type LdapEntry, readValue } from '../../lib/ldap/ldap-entry.ts'
import { escapeFilterValue } from '../../lib/ldap/ldap-syntax.ts'
import type { DirectoryChange } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { listObjects } from '../objects/live-objects.ts'
import { type DirectoryGroup, listDirectoryGroups, toMember } from './directory-groups.ts'
import { listMembershipMappers, type MembershipMapper, toRoleKey } from './membership-mapper.ts'
import { getMappedField } from './memberships.ts'
import type { DirectorySession } from './store-connection.ts'
import { createDirectoryGroup, PLACEHOLDER_MEMBER, requiresMember, toGroupDn } from './synchronize-groups.ts'

/** Returns the groups and roles of a new user. */
export function toAddedRelations(representation: Representation): DirectoryChange['relations'] {
  return Object.fromEntries(
    ['groups', 'realmRoles', 'clientRoles'].map((field) => [
      field,
      { add: toRelationKeys(kinds.user.fields[field]!, representation[field] ?? null) },
    ]),
  )
}

/** Writes the groups and roles that a user gets or loses. Throws invalid for those of a mapper that does not write. */
export async function writeMemberships(
  session: DirectorySession,
  { entry, relations }: { readonly entry: LdapEntry; readonly relations: DirectoryChange['relations'] },
): Promise<void> {
  for (const mapper of listMembershipMappers(session.store)) {
    // Keycloak: what was imported once belongs to the realm.
    if (mapper.mode === 'IMPORT') continue
    const { add = [], remove = [] } = relations[getMappedField(mapper)] ?? {}
    for (const [operation, keys] of [
      ['add', add],
      ['delete', remove],
    ] as const)
      for (const key of keys)
        if (isOfMapper(mapper, key)) await writeMembership(session, { mapper, key, operation, entry })
  }
}

function isOfMapper(mapper: MembershipMapper, key: Key): boolean {
  if (mapper.kind === 'group') return key[0]!.startsWith(`${mapper.groupsPath}/`)
  return JSON.stringify(key) === JSON.stringify(toRoleKey(mapper, key.at(-1)!))
}

interface MembershipWrite {
  readonly mapper: MembershipMapper
  readonly key: Key
  readonly operation: 'add' | 'delete'
  readonly entry: LdapEntry
}

async function writeMembership(session: DirectorySession, write: MembershipWrite): Promise<void> {
  const { store, connection } = session
  const { mapper, key, operation, entry } = write
  const name = mapper.kind === 'group' ? getNameFromPath(key[0]!) : key.at(-1)!
  const filter = `(${mapper.nameAttribute}=${escapeFilterValue(name)})`
  const [group] = await listDirectoryGroups(connection, mapper, { filter })
  const member = getMember(mapper, entry)
  const isMember = group !== undefined && member !== undefined && group.members.has(toMember(mapper, member))
  if (isMember === (operation === 'add')) return
  if (mapper.mode !== 'LDAP_ONLY' || store.editMode !== 'WRITABLE') {
    if (!group) return
    const message = `Not possible to ${operation} LDAP ${mapper.kind} mappings as mapper mode is READ_ONLY`
    throw failure('invalid', message, { form: 'error', reason: message })
  }
  if (member === undefined) throw failure('invalid', `The entry ${entry.dn} has no ${mapper.userAttribute}`)
  await changeMember(session, { mapper, group: group ?? (await createGroup(session, mapper, key)), member, operation })
}

const getMember = ({ namesUsersByValue, userAttribute }: MembershipMapper, entry: LdapEntry): string | undefined =>
  namesUsersByValue ? readValue(entry, userAttribute) : entry.dn

/** Creates the group of a group or role that the directory does not have. Keycloak: on the first membership. */
async function createGroup(
  { context, store, connection, undoBy }: DirectorySession,
  mapper: MembershipMapper,
  key: Key,
): Promise<Pick<DirectoryGroup, 'dn' | 'members'>> {
  const name = mapper.kind === 'group' ? getNameFromPath(key[0]!) : key.at(-1)!
  const [live] = await listObjects(context, mapper.kind, { keys: [key] })
  await createDirectoryGroup(connection, { store, mapper, name, live: live! })
  const dn = toGroupDn(mapper, name)
  undoBy((again) => again.delete(dn))
  return { dn, members: new Set() }
}

interface MemberChange {
  readonly mapper: MembershipMapper
  readonly group: Pick<DirectoryGroup, 'dn' | 'members'>
  readonly member: string
  readonly operation: 'add' | 'delete'
}

async function changeMember(
  { store, connection, undoBy }: DirectorySession,
  { mapper, group, member, operation }: MemberChange,
): Promise<void> {
  const attribute = mapper.memberAttribute
  const isLast = operation === 'delete' && group.members.size === 1
  if (isLast && requiresMember(store, mapper))
    await connection.changeValue(group.dn, { operation: 'add', attribute, value: PLACEHOLDER_MEMBER })
  await connection.changeValue(group.dn, { operation, attribute, value: member })
  const inverse = operation === 'add' ? 'delete' : 'add'
  undoBy((again) => again.changeValue(group.dn, { operation: inverse, attribute, value: member }))
}

/** Replaces an entry that is renamed or deleted in the groups of which it is a member, unless the directory does so itself. */
export async function moveMemberships(
  session: DirectorySession,
  { from, to }: { readonly from: LdapEntry; readonly to: LdapEntry | undefined },
): Promise<void> {
  for (const mapper of listMembershipMappers(session.store)) {
    const [member, newMember] = [getMember(mapper, from), to && getMember(mapper, to)]
    if (mapper.mode !== 'LDAP_ONLY' || member === undefined || member === newMember) continue
    const filter = `(${mapper.memberAttribute}=${escapeFilterValue(member)})`
    for (const group of await listDirectoryGroups(session.connection, mapper, { filter })) {
      if (newMember !== undefined && !group.members.has(toMember(mapper, newMember)))
        await changeMember(session, { mapper, group, member: newMember, operation: 'add' })
      const members = newMember === undefined ? group.members : new Set([...group.members, newMember])
      await changeMember(session, { mapper, group: { ...group, members }, member, operation: 'delete' })
    }
  }
}
