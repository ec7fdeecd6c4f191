// Mappers of users and their groups.
import type { StoredUser, TokenGroup } from '../../service/context/store-types.ts'
import { viewStoredUser } from '../views.ts'
import { type Claims, type MapperConfig, setClaim } from './claims.ts'
import type { MapperFacts } from './mapper.ts'

/** Writes an attribute of the user, or of a group of the user. */
export function mapAttribute(claims: Claims, config: MapperConfig, { user, groups }: MapperFacts): void {
  const name = config['user.attribute']
  if (!name) return
  const isAggregated = config['aggregate.attrs'] === 'true'
  const attributes = [listUserAttribute(user, name), ...listGroupAttributes(groups, name, isAggregated)]
  const present = attributes.filter(({ length }) => length)
  setClaim(claims, config, isAggregated ? [...new Set(present.flat())] : (present[0] ?? []))
}

/** Writes a property of the user. Keycloak: as a text. */
export function mapProperty(claims: Claims, config: MapperConfig, { user }: MapperFacts): void {
  const property = Object.entries(getProperties(user)).find(([name]) => name === config['user.attribute'])
  if (property?.[1] != null) setClaim(claims, config, String(property[1]))
}

/** Writes the first and the last name as `name`. */
export function mapFullName(claims: Claims, _config: MapperConfig, { user }: MapperFacts): void {
  const { firstName, lastName } = viewStoredUser(user)
  const name = [firstName, lastName].filter(Boolean).join(' ')
  if (name) claims.name = name
}

const ADDRESS = ['street', 'locality', 'region', 'postal_code', 'country', 'formatted']

/** Writes the claim `address`. Each part of it is an attribute of the user. */
export function mapAddress(claims: Claims, config: MapperConfig, { user }: MapperFacts): void {
  const parts = ADDRESS.flatMap((part) => {
    const [text] = listUserAttribute(user, config[`user.attribute.${part}`] ?? part)
    return text === undefined ? [] : [[part === 'street' ? 'street_address' : part, text]]
  })
  if (parts.length) claims.address = Object.fromEntries(parts)
}

/** Adds the user's groups to the claims, always as a list. */
export function mapGroups(claims: Claims, config: MapperConfig, { groups }: MapperFacts): void {
  const hasFullPath = config['full.path'] === 'true'
  const names = groups.filter(({ direct }) => direct).map(({ path, name }) => (hasFullPath ? path : name))
  setClaim(claims, { ...config, multivalued: 'true' }, names)
}

/** Returns the values of a user attribute, or of a field of the user with that name. */
export function listUserAttribute(user: StoredUser, name: string): readonly string[] {
  const { firstName, lastName, attributes = {} } = viewStoredUser(user)
  const fields: Record<string, unknown> = { username: user.username, email: user.email, firstName, lastName }
  if (Object.hasOwn(fields, name)) return typeof fields[name] === 'string' ? [fields[name]] : []
  return Object.hasOwn(attributes, name) ? attributes[name]! : []
}

function getProperties(user: StoredUser): Record<string, unknown> {
  const { id, username, email, serviceAccountClient } = user
  const {
    firstName,
    lastName,
    createdTimestamp,
    federationLink,
    emailVerified = false,
    enabled = false,
  } = viewStoredUser(user)
  const links = { federationLink, serviceAccountClientLink: serviceAccountClient }
  return { id, username, email, firstName, lastName, emailVerified, enabled, createdTimestamp, ...links }
}

/** Returns an attribute of the user's groups: of each group, the values of its nearest ancestor that has it, or of all of them. */
function listGroupAttributes(
  groups: readonly TokenGroup[],
  name: string,
  isAggregated: boolean,
): (readonly string[])[] {
  const byId = new Map(groups.map((group) => [group.id, group]))
  return groups
    .filter(({ direct }) => direct)
    .flatMap((group) => {
      const values: (readonly string[])[] = []
      for (let current: TokenGroup | undefined = group; current; current = byId.get(current.parent ?? '')) {
        const attribute = Object.hasOwn(current.attributes, name) ? current.attributes[name]! : []
        if (attribute.length) values.push(attribute)
      }
      return isAggregated ? values : values.slice(0, 1)
    })
}
