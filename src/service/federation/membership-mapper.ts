// The settings of mappers that give users groups or roles of a directory.
import { readFlag } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import type { StoreMapper, UserStore } from '../users/user-store.ts'

/** Keycloak: `LDAP_ONLY` writes memberships to the directory, `IMPORT` reads them once. */
export type MembershipMode = 'READ_ONLY' | 'LDAP_ONLY' | 'IMPORT'

/** A mapper of the type `group-ldap-mapper` or `role-ldap-mapper`. */
export interface MembershipMapper {
  readonly id: string
  readonly name: string
  readonly kind: 'group' | 'role'
  /** The DNs of the folder of its groups, and of that in which groups are created. */
  readonly base: string
  readonly createBase: string
  readonly nameAttribute: string
  readonly objectClasses: readonly string[]
  readonly filter: string | undefined
  readonly memberAttribute: string
  /** Whether members are named by a value of `userAttribute` instead of their DN. */
  readonly namesUsersByValue: boolean
  readonly userAttribute: string
  readonly mode: MembershipMode
  /** Whether the groups of a user are read from the `memberOf` attribute of the user. */
  readonly readsMemberOf: boolean
  readonly memberOfAttribute: string
  /** Whether groups of groups count, which only Active Directory resolves. */
  readonly isRecursive: boolean
  /** Whether groups that are members of groups become subgroups. */
  readonly hasInheritance: boolean
  readonly ignoresMissingGroups: boolean
  readonly dropsOtherGroups: boolean
  /** The group below which groups are; empty: at the top. */
  readonly groupsPath: string
  readonly groupAttributes: readonly string[]
  /** The client of the roles, by client id; undefined: realm roles. */
  readonly client: string | undefined
}

/** Lists the mappers of a store that give users groups or roles. */
export function listMembershipMappers(store: UserStore): MembershipMapper[] {
  return store.mappers.flatMap((mapper) => findMembershipMapper(store, mapper) ?? [])
}

/** Returns the settings of a mapper; undefined if it gives users neither groups nor roles. */
export function findMembershipMapper(store: UserStore, { id, name, providerId, read }: StoreMapper) {
  if (providerId !== 'group-ldap-mapper' && providerId !== 'role-ldap-mapper') return undefined
  const kind = providerId === 'group-ldap-mapper' ? 'group' : 'role'
  const base = read(`${kind}s.dn`) ?? ''
  const relative = read(`${kind}s.relative.create.dn`)
  const strategy = read('user.roles.retrieve.strategy') ?? ''
  const path = read('groups.path') ?? '/'
  return {
    id,
    name,
    kind,
    base,
    createBase: relative === undefined ? base : `${relative},${base}`,
    nameAttribute: read(`${kind}.name.ldap.attribute`) ?? 'cn',
    objectClasses: splitList(read(`${kind}.object.classes`) ?? (store.vendor === 'ad' ? 'group' : 'groupOfNames')),
    filter: read(`${kind}s.ldap.filter`),
    memberAttribute: read('membership.ldap.attribute') ?? 'member',
    namesUsersByValue: read('membership.attribute.type') === 'UID',
    userAttribute: read('membership.user.ldap.attribute') ?? store.usernameAttribute,
    mode: readMode(read('mode')),
    readsMemberOf: strategy.includes('MEMBEROF'),
    memberOfAttribute: read('memberof.ldap.attribute') ?? 'memberOf',
    isRecursive: strategy.endsWith('_RECURSIVELY'),
    hasInheritance: kind === 'group' && readFlag(read('preserve.group.inheritance'), true),
    ignoresMissingGroups: readFlag(read('ignore.missing.groups')),
    dropsOtherGroups: readFlag(read('drop.non.existing.groups.during.sync')),
    groupsPath: path === '/' ? '' : path,
    groupAttributes: splitList(read('mapped.group.attributes') ?? ''),
    client: kind === 'role' && !readFlag(read('use.realm.roles.mapping'), true) ? read('client.id') : undefined,
  } satisfies MembershipMapper
}

/** Returns the key of a role of a mapper. */
export function toRoleKey({ client }: MembershipMapper, name: string): Key {
  return client === undefined ? [name] : ['client', client, name]
}

const readMode = (mode: string | undefined): MembershipMode =>
  mode === 'LDAP_ONLY' || mode === 'IMPORT' ? mode : 'READ_ONLY'

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
