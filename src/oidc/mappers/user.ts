// What users say of themselves, and their groups of them.
import type { GroupFacts, StoredUser } from '../../service/context/store-types.ts'
import { type Claims, type Settings, setClaim } from './claims.ts'
import type { Facts } from './mapper.ts'

/** An attribute of the user, or of a group that they belong to. */
export function attribute(claims: Claims, settings: Settings, { user, groups }: Facts): void {
  const name = settings['user.attribute']
  if (!name) return
  const aggregate = settings['aggregate.attrs'] === 'true'
  const found = [ownAttribute(user, name), ...groupAttributes(groups, name, aggregate)].filter(({ length }) => length)
  setClaim(claims, settings, aggregate ? [...new Set(found.flat())] : (found[0] ?? []))
}

/** Keycloak: a property of the user, as a text. */
export function property(claims: Claims, settings: Settings, { user }: Facts): void {
  const value = Object.entries(propertiesOf(user)).find(([name]) => name === settings['user.attribute'])?.[1]
  if (value != null) setClaim(claims, settings, String(value))
}

/** First and last name. */
export function fullName(claims: Claims, _settings: Settings, { user }: Facts): void {
  const name = [user.body.firstName, user.body.lastName].filter(Boolean).join(' ')
  if (name) claims.name = name
}

const ADDRESS = ['street', 'locality', 'region', 'postal_code', 'country', 'formatted']

/** An address, each part of it from an attribute. */
export function address(claims: Claims, settings: Settings, { user }: Facts): void {
  const parts = ADDRESS.flatMap((part) => {
    const [text] = ownAttribute(user, settings[`user.attribute.${part}`] ?? part)
    return text === undefined ? [] : [[part === 'street' ? 'street_address' : part, text]]
  })
  if (parts.length) claims.address = Object.fromEntries(parts)
}

/** The groups that the user belongs to; always a list. */
export function groupMembership(claims: Claims, settings: Settings, { groups }: Facts): void {
  const names = groups.filter(({ direct }) => direct).map(settings['full.path'] === 'true' ? wirePath : nameOf)
  setClaim(claims, { ...settings, multivalued: 'true' }, names)
}

const wirePath = ({ path }: GroupFacts): string => path
const nameOf = ({ name }: GroupFacts): string => name

/** The values of an attribute of the user; names of fields name these. */
export function ownAttribute({ username, email, body }: StoredUser, name: string): readonly string[] {
  const fields: Record<string, unknown> = { username, email, firstName: body.firstName, lastName: body.lastName }
  if (Object.hasOwn(fields, name)) return typeof fields[name] === 'string' ? [fields[name]] : []
  const attributes = (body.attributes ?? {}) as Readonly<Record<string, readonly string[]>>
  return Object.hasOwn(attributes, name) ? attributes[name]! : []
}

function propertiesOf({ id, username, email, serviceAccountClient, body }: StoredUser): Record<string, unknown> {
  const { firstName, lastName, createdTimestamp, federationLink, emailVerified = false, enabled = false } = body
  const link = { federationLink, serviceAccountClientLink: serviceAccountClient }
  return { id, username, email, firstName, lastName, emailVerified, enabled, createdTimestamp, ...link }
}

/** What the user's groups say, each with what is above it: the nearest that says it, or all of them. */
function groupAttributes(groups: readonly GroupFacts[], name: string, aggregate: boolean): (readonly string[])[] {
  const byId = new Map(groups.map((group) => [group.id, group]))
  return groups
    .filter(({ direct }) => direct)
    .flatMap((group) => {
      const said: (readonly string[])[] = []
      for (let at: GroupFacts | undefined = group; at; at = byId.get(at.parent ?? '')) {
        const values = Object.hasOwn(at.attributes, name) ? at.attributes[name]! : []
        if (values.length) said.push(values)
      }
      return aggregate ? said : said.slice(0, 1)
    })
}
