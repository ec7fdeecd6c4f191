// Organizations: documents list members and identity providers in them, and nest their groups. Regent has fields of the user or the
// identity provider, and a list of groups with paths.
import * as z from 'zod'
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readTexts,
} from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'
import { flattenGroups, nestGroups } from './groups.ts'

/** A list in an organization, the list of the realm with the same objects, and their natural key. */
const MEMBERS = { field: 'members', list: 'users', key: 'username', lowerCase: true } as const
const PROVIDERS = { field: 'identityProviders', list: 'identityProviders', key: 'alias', lowerCase: false } as const

type OrganizationList = typeof MEMBERS | typeof PROVIDERS

const member = z.object({
  username: z.string().describe('Username.'),
  membershipType: z
    .enum(['MANAGED', 'UNMANAGED'])
    .nullish()
    .describe('Whether the organization manages the user (MANAGED), who is then deleted with it, or not (UNMANAGED).'),
  groups: z
    .array(z.string())
    .nullish()
    .describe('Groups of the organization that the member is in: paths, or ids of groups in the same document.'),
})
const provider = z.object({ alias: z.string().describe('Alias of the identity provider.') })

/** Converts members and identity providers of organizations to fields of these. */
export const organizations: FormatConverter = {
  read(realm, context) {
    if (!isList(realm.organizations)) return realm
    const converted = { ...realm }
    const users = new RealmObjects(converted, MEMBERS, context)
    const providers = new RealmObjects(converted, PROVIDERS, context)
    converted.organizations = realm.organizations.map((organization, at) => {
      if (!isObject(organization)) return organization
      const { members, identityProviders, ...rest } = organization
      // Keycloak: the default alias is the name.
      const alias = rest.alias ?? rest.name ?? null
      const path = ['organizations', at]
      if (rest.alias == null && alias !== null) context.recordMove([...path, 'alias'], [...path, 'name'])
      if (typeof alias !== 'string') return rest
      const groups = isList(rest.groups)
        ? flattenGroups(rest.groups, { path: [...path, 'groups'], context })
        : undefined
      const organizationGroups = { alias, pathsById: getPathsById(groups) }
      for (const element of listElements(members, MEMBERS, { path, context }))
        addMember(users, organizationGroups, element)
      for (const element of listElements(identityProviders, PROVIDERS, { path, context }))
        addProvider(providers, alias, element)
      return { ...rest, alias, ...(groups && { groups }) }
    })
    return converted
  },
  write(realm) {
    if (!isList(realm.organizations)) return realm
    const users = readObjects(realm.users)
    const providers = readObjects(realm.identityProviders)
    const membersByAlias = groupMembers(users)
    const providersByAlias = Map.groupBy(providers, ({ organization }) => organization)
    return {
      ...realm,
      ...(realm.users && { users: users.map(omitMemberships) }),
      ...(realm.identityProviders && { identityProviders: providers.map(({ organization: _, ...rest }) => rest) }),
      organizations: readObjects(realm.organizations).map((organization) => {
        const groups = readObjects(organization.groups)
        const members = membersByAlias.get(String(organization.alias))
        const identityProviders = providersByAlias.get(organization.alias)
        return {
          ...organization,
          ...(groups.length && { groups: nestGroups(groups) }),
          ...(members && { members: members.map(({ member }) => nameGroupsById(member, groups)) }),
          ...(identityProviders && { identityProviders: identityProviders.map(({ alias }) => ({ alias: alias! })) }),
        }
      }),
    }
  },
  schemas: (getSchema) => ({
    organization: { members: z.array(member), identityProviders: z.array(provider) },
    organizationGroup: { subGroups: z.array(getSchema('organizationGroup')) },
  }),
}

/** An element of a list in an organization, with its path in the document. */
interface ListElement {
  readonly path: DocumentPath
  readonly value: Representation
  readonly context: ConversionContext
}

function listElements(
  value: Json | undefined,
  { field, key }: OrganizationList,
  { path, context }: Pick<ListElement, 'path' | 'context'>,
): ListElement[] {
  if (value === undefined || value === null) return []
  const listPath = [...path, field]
  const advice = `begin each element with "- ${key}: <${key}>"`
  if (!isList(value)) {
    context.report(listPath, `${field} of an organization must be a list, not ${describeType(value)}: ${advice}`)
    return []
  }
  return value.flatMap((element, at): ListElement[] => {
    if (isObject(element) && typeof element[key] === 'string')
      return [{ path: [...listPath, at], value: element, context }]
    context.report([...listPath, at], `each of the ${field} of an organization needs a ${key}: ${advice}`)
    return []
  })
}

/** The objects in a list of the realm that organizations refer to. Writes to the realm. */
class RealmObjects {
  readonly #realm: Representation
  readonly #target: OrganizationList
  readonly #context: ConversionContext
  readonly #objects: Json[]
  readonly #indexes: Map<string, number>
  readonly #copied = new Set<number>()

  constructor(realm: Representation, target: OrganizationList, context: ConversionContext) {
    this.#realm = realm
    this.#target = target
    this.#context = context
    const list = realm[target.list]
    this.#objects = isList(list) ? [...list] : []
    this.#indexes = new Map(
      this.#objects.flatMap((object, at) => (isObject(object) ? [[this.#readName(object), at]] : [])),
    )
  }

  /** Returns a copy of the object that an element refers to, which may be changed, and its path. Adds a reference if it is not declared. */
  get({ path, value }: ListElement): { object: Representation; path: DocumentPath } {
    const { list, key } = this.#target
    const name = this.#readName(value)
    let at = this.#indexes.get(name)
    if (at === undefined) {
      at = this.#objects.push({ [key]: value[key]! }) - 1
      this.#indexes.set(name, at)
      this.#context.recordMove([list, at], path)
      this.#context.markReference([list, at])
    }
    const object = this.#copied.has(at) ? readObject(this.#objects[at]) : { ...readObject(this.#objects[at]) }
    this.#copied.add(at)
    this.#objects[at] = object
    this.#realm[list] = this.#objects
    return { object, path: [list, at] }
  }

  #readName(object: Representation): string {
    const { key, lowerCase } = this.#target
    const name = String(object[key] ?? '')
    return lowerCase ? name.toLowerCase() : name
  }
}

/** The groups that an organization declares. */
interface DeclaredGroups {
  readonly alias: string
  readonly pathsById: ReadonlyMap<string, string>
}

function getPathsById(groups: readonly Json[] = []): Map<string, string> {
  return new Map(
    readObjects(groups).flatMap(({ id, path }) => (typeof id === 'string' ? [[id, String(path)] as const] : [])),
  )
}

function addMember(users: RealmObjects, groups: DeclaredGroups, element: ListElement): void {
  const { alias } = groups
  const { path, value, context } = element
  const user = users.get(element)
  const addAlias = (field: 'organizations' | 'managedBy') => {
    const aliases = isList(user.object[field]) ? user.object[field] : []
    if (!aliases.includes(alias)) user.object[field] = [...aliases, alias]
    context.recordMove([...user.path, field], [...path, 'username'])
  }
  addAlias('organizations')
  const { membershipType = null } = value
  if (membershipType === 'MANAGED') addAlias('managedBy')
  else if (membershipType !== null && membershipType !== 'UNMANAGED')
    context.report([...path, 'membershipType'], 'membershipType must be MANAGED or UNMANAGED')
  addMemberGroups(user, groups, element)
}

/** Adds the groups of a member to the user. Keycloak: exports name them by id. */
function addMemberGroups(
  user: ReturnType<RealmObjects['get']>,
  { alias, pathsById }: DeclaredGroups,
  { path, value: { groups = null }, context }: ListElement,
): void {
  if (groups === null) return
  const groupsPath = [...path, 'groups']
  if (!isList(groups)) {
    const problem = `groups of a member must be a list, not ${describeType(groups)}`
    context.report(groupsPath, `${problem}: begin each element with "- <path>"`)
    return
  }
  const paths = readTexts(groups).map((group) => pathsById.get(group) ?? (group.startsWith('/') ? group : `/${group}`))
  user.object.organizationGroups = { ...readObject(user.object.organizationGroups), [alias]: paths }
  context.recordMove([...user.path, 'organizationGroups'], groupsPath)
}

function addProvider(providers: RealmObjects, alias: string, element: ListElement): void {
  const { path, value, context } = element
  const provider = providers.get(element)
  const { organization } = provider.object
  if (organization !== undefined && organization !== alias)
    context.report(path, `identity provider ${value.alias} already belongs to organization ${organization}`)
  provider.object.organization = alias
  context.recordMove([...provider.path, 'organization'], [...path, 'alias'])
}

function groupMembers(users: readonly Representation[]) {
  const members = users.flatMap(({ username, organizations, managedBy, organizationGroups }) =>
    readTexts(organizations).map((alias) => {
      const membershipType = readTexts(managedBy).includes(alias) ? 'MANAGED' : 'UNMANAGED'
      const groups = readTexts(readObject(organizationGroups)[alias])
      return { alias, member: { username: username!, membershipType, ...(groups.length && { groups }) } }
    }),
  )
  return Map.groupBy(members, ({ alias }) => alias)
}

/** Returns a member of an organization with the ids of groups where the document has them. Keycloak: imports need ids. */
function nameGroupsById(member: Representation, groups: readonly Representation[]): Representation {
  const paths = readTexts(member.groups)
  if (!paths.length) return member
  const idsByPath = new Map(groups.map(({ path, id = null }) => [path, id]))
  return { ...member, groups: paths.map((path) => idsByPath.get(path) ?? path) }
}

/** Returns a user without the memberships that documents list in organizations. */
export function omitMemberships(user: Representation): Representation {
  const { organizations: _, managedBy: __, organizationGroups: ___, ...rest } = user
  return rest
}
