// Groups of directories, which mappers turn into groups or roles, and their members.
import { type LdapConnection, LdapError } from '../../lib/ldap/ldap-connection.ts'
import { type LdapEntry, readValue, readValues } from '../../lib/ldap/ldap-entry.ts'
import { allOf, escapeFilterValue, normalizeName } from '../../lib/ldap/ldap-syntax.ts'
import type { MembershipMapper } from './membership-mapper.ts'

/** A group of a directory. */
export interface DirectoryGroup {
  readonly dn: string
  readonly name: string
  /** Values of the membership attribute as they are compared: normalized names, or values in lower case. */
  readonly members: ReadonlySet<string>
  /** The values of the mapped attributes, by name. */
  readonly attributes: Readonly<Record<string, readonly string[]>>
}

const PAGE_SIZE = 1000

/** Lists the groups of a mapper that match a filter; without a filter, all. @throws LdapError */
export async function listDirectoryGroups(
  connection: LdapConnection,
  mapper: MembershipMapper,
  { filter, pageSize = PAGE_SIZE }: { readonly filter?: string; readonly pageSize?: number | undefined } = {},
): Promise<DirectoryGroup[]> {
  const search = {
    base: mapper.base,
    scope: 'sub',
    filter: allOf(
      ...mapper.objectClasses.map((name) => `(objectClass=${escapeFilterValue(name)})`),
      mapper.filter,
      filter,
    ),
    attributes: [mapper.nameAttribute, mapper.memberAttribute, ...mapper.groupAttributes],
    pageSize,
  } as const
  const groups: DirectoryGroup[] = []
  for await (const page of connection.search(search))
    for (const entry of page) groups.push(...(await toGroup(connection, mapper, entry)))
  return groups
}

async function toGroup(
  connection: LdapConnection,
  mapper: MembershipMapper,
  entry: LdapEntry,
): Promise<DirectoryGroup[]> {
  const name = readValue(entry, mapper.nameAttribute)
  if (name === undefined) return []
  const members = await readAllValues(connection, entry, mapper.memberAttribute)
  const attributes = mapper.groupAttributes.map((attribute) => [attribute, readValues(entry, attribute)] as const)
  return [
    {
      dn: entry.dn,
      name,
      members: new Set(members.map((member) => toMember(mapper, member))),
      attributes: Object.fromEntries(attributes.filter(([, values]) => values.length)),
    },
  ]
}

/** Returns a value of the membership attribute as values are compared. */
export function toMember({ namesUsersByValue }: MembershipMapper, value: string): string {
  return namesUsersByValue ? value.toLowerCase() : normalizeName(value)
}

/** Returns all values of an attribute: Active Directory returns at most 1,500 values, and the next ones on request. */
async function readAllValues(connection: LdapConnection, entry: LdapEntry, attribute: string): Promise<string[]> {
  const isOfAttribute = (range: { readonly attribute: string }) => range.attribute === attribute.toLowerCase()
  const values = readValues(entry, attribute)
  let next = entry.ranges.find(isOfAttribute)?.next
  while (next !== undefined) {
    const part: LdapEntry | undefined = await readEntry(connection, entry.dn, [`${attribute};range=${next}-*`])
    // Incomplete members would be users who lose the group.
    if (!part) throw new LdapError('no such entry', `the entry ${entry.dn} does not exist any longer`)
    values.push(...readValues(part, attribute))
    const following = part.ranges.find(isOfAttribute)?.next
    next = following !== undefined && following > next ? following : undefined
  }
  return values
}

async function readEntry(
  connection: LdapConnection,
  dn: string,
  attributes: readonly string[],
): Promise<LdapEntry | undefined> {
  for await (const [entry] of connection.search({ base: dn, scope: 'base', filter: '(objectClass=*)', attributes }))
    return entry
  return undefined
}
