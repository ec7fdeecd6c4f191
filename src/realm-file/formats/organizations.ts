// Organizations: documents list people and identity providers inside of them; kept it is a field of the person or the provider.
import * as z from 'zod'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** What an organization lists, the list of the realm where each of these stands, and its natural key. */
const PEOPLE = { field: 'members', list: 'users', key: 'username', folded: true } as const
const PROVIDERS = { field: 'identityProviders', list: 'identityProviders', key: 'alias', folded: false } as const

const member = z.object({
  username: z.string().describe('Name of the person.'),
  membershipType: z
    .enum(['MANAGED', 'UNMANAGED'])
    .nullish()
    .describe('MANAGED: the organization made the account, which ends with it.'),
})
const provider = z.object({ alias: z.string().describe('Alias of the identity provider.') })

type Listed = typeof PEOPLE | typeof PROVIDERS

/** Members and identity providers of organizations as fields of these, and back. */
export const organizations: FormatConverter = {
  read(realm, notes) {
    if (!Array.isArray(realm.organizations)) return realm
    const shaped = { ...realm }
    const people = placing(shaped, PEOPLE, notes)
    const providers = placing(shaped, PROVIDERS, notes)
    shaped.organizations = realm.organizations.map((one, at) => {
      if (!isObject(one)) return one
      const { members, identityProviders, ...organization } = one
      // Keycloak: an organization without an alias is called by its name.
      const alias = organization.alias ?? organization.name ?? null
      const place = ['organizations', at]
      if (organization.alias == null && alias !== null) notes.recordMove([...place, 'alias'], [...place, 'name'])
      if (typeof alias !== 'string') return organization
      for (const [path, member] of elementsOf(members, [...place, 'members'], PEOPLE, notes)) {
        const person = people(path, member)
        join(person, 'organizations', alias, path, notes)
        const { membershipType = null } = member
        if (membershipType === 'MANAGED') join(person, 'managedBy', alias, path, notes)
        else if (membershipType !== null && membershipType !== 'UNMANAGED')
          notes.report([...path, 'membershipType'], 'membershipType must be MANAGED or UNMANAGED')
      }
      for (const [path, named] of elementsOf(identityProviders, [...place, 'identityProviders'], PROVIDERS, notes)) {
        const { node, at: provider } = providers(path, named)
        if (node.organization !== undefined && node.organization !== alias)
          notes.report(path, `identity provider ${named.alias} belongs to organization ${node.organization} already`)
        node.organization = alias
        notes.recordMove(['identityProviders', provider, 'organization'], [...path, 'alias'])
      }
      return { ...organization, alias }
    })
    return shaped
  },
  schemas: () => ({ organization: { members: z.array(member), identityProviders: z.array(provider) } }),
  write(realm) {
    if (!Array.isArray(realm.organizations)) return realm
    const users = listOf(realm, PEOPLE)
    const providers = listOf(realm, PROVIDERS)
    const members = Map.groupBy(
      users.flatMap(({ username, organizations = [], managedBy = [] }) =>
        (organizations as string[]).map((alias) => ({
          alias,
          member: {
            username: username!,
            membershipType: (managedBy as string[]).includes(alias) ? 'MANAGED' : 'UNMANAGED',
          },
        })),
      ),
      ({ alias }) => alias,
    )
    const owned = Map.groupBy(providers, ({ organization }) => organization)
    return {
      ...realm,
      ...(realm.users && { users: users.map(({ organizations: _, managedBy: __, ...rest }) => rest) }),
      ...(realm.identityProviders && { identityProviders: providers.map(({ organization: _, ...rest }) => rest) }),
      organizations: (realm.organizations as Representation[]).map((one) => {
        const own = members.get(String(one.alias))
        const its = owned.get(one.alias)
        return {
          ...one,
          ...(own && { members: own.map(({ member }) => member) }),
          ...(its && { identityProviders: its.map(({ alias }) => ({ alias: alias! })) }),
        }
      }),
    }
  },
}

interface Placed {
  readonly node: Representation
  readonly list: string
  readonly at: number
}

/** Finds what an element names in its list of the realm, or names it there. Writes to the realm. */
function placing(
  realm: Representation,
  { list, key, folded }: Listed,
  { recordMove: moved, markReference: named }: ConversionContext,
) {
  const nameIn = (value: Json | undefined) => (folded ? String(value ?? '').toLowerCase() : String(value ?? ''))
  const all = Array.isArray(realm[list]) ? [...realm[list]] : []
  const places = new Map(all.map((one, at) => [isObject(one) ? nameIn(one[key]) : '', at]))
  const copied = new Set<number>()
  return (path: DocumentPath, element: Representation): Placed => {
    const name = nameIn(element[key])
    let at = places.get(name)
    if (at === undefined) {
      at = all.push({ [key]: element[key]! }) - 1
      places.set(name, at)
      moved([list, at], path)
      named([list, at])
    } else if (!copied.has(at)) all[at] = { ...(all[at] as Representation) }
    copied.add(at)
    realm[list] = all
    return { node: all[at] as Representation, list, at }
  }
}

function join(
  { node, list, at }: Placed,
  field: string,
  alias: string,
  path: DocumentPath,
  { recordMove: moved }: ConversionContext,
): void {
  const before = Array.isArray(node[field]) ? node[field] : []
  if (!before.includes(alias)) node[field] = [...before, alias]
  moved([list, at, field], [...path, 'username'])
}

function elementsOf(
  value: Json | undefined,
  path: DocumentPath,
  { field, key }: Listed,
  { report }: ConversionContext,
): [path: DocumentPath, element: Representation][] {
  if (value === undefined || value === null) return []
  const advice = `begin each element with "- ${key}: <${key}>"`
  if (!Array.isArray(value)) {
    report(path, `${field} of an organization must be a list, not ${describeType(value)}: ${advice}`)
    return []
  }
  return value.flatMap((one, at): [DocumentPath, Representation][] => {
    if (isObject(one) && typeof one[key] === 'string') return [[[...path, at], one]]
    report([...path, at], `${field} of an organization need a ${key} each: ${advice}`)
    return []
  })
}

function listOf(realm: Representation, { list }: Listed): Representation[] {
  return (realm[list] ?? []) as Representation[]
}
