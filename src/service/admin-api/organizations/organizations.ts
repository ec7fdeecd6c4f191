// The REST operations on organizations. The realm must have organizations enabled.

import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObjects } from '../../../kinds/json.ts'
import { countOrganizations, type OrganizationSearch, searchOrganizations } from '../../../store/organizations.ts'
import {
  getObjectVisibility,
  requireListPermission,
  requireObjectPermission,
} from '../../authorization/object-permissions.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNullsButEnabled, toReplacement } from '../../objects/put-body.ts'
import { describeReservedCharacter } from '../../objects/reserved-characters.ts'
import { NAME_TAKEN } from '../../users/organizations.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import type { AdminResource, Query } from '../common/resource.ts'

const VIEW = 'view-organizations'
const SEARCH = 'list-organizations'
const MANAGE = 'manage-organizations'

/** Keycloak: the most elements of a list, unless the query requests more. */
export const DEFAULT_PAGE_SIZE = 10

/** Keycloak: OrganizationsResource, OrganizationResource. Members, providers and groups are not part of the bodies. */
export const organizations: AdminResource = {
  kind: 'organization',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id }) {
    await requireOrganizationAccess(context, 'manage', id)
    if (id !== undefined) await getOrganization(context, id)
  },
  async list(context, _address, query) {
    await requireListPermission(context, 'Organizations', SEARCH)
    await requireOrganizations(context)
    const visible = await getObjectVisibility(context, 'Organizations')
    const ids = await searchOrganizations(context.tx, context.realm.number, {
      search: { ...parseSearch(query), visible },
      page: parsePage(query, DEFAULT_PAGE_SIZE),
    })
    return listOrganizationsById(context, ids, query.briefRepresentation !== false)
  },
  async get(context, { id }) {
    await requireOrganizationAccess(context, 'view', id)
    return toOrganizationRepresentation(context, await getOrganization(context, id), false)
  },
  async create(context, _address, body) {
    await requireOrganizationAccess(context, 'manage', undefined)
    const { name, ...fields } = readDeclaredFields(body)
    if (!name) throw failure('invalid', 'Name can not be null')
    const alias = fields.alias || name
    // Keycloak: the error about an alias has another form than the one about a name.
    const reserved = fields.alias ? describeReservedCharacter(String(alias)) : undefined
    if (reserved !== undefined) throw failure('invalid', reserved, { form: 'error' })
    const [organization] = await writers.organization.create(context, [{ representation: { ...fields, name, alias } }])
    return organization!.id
  },
  async replace(context, { id }, body) {
    await requireOrganizationAccess(context, 'manage', id)
    const live = await getOrganization(context, id)
    // Keycloak: a missing alias is the name.
    const { name, alias: declaredAlias, ...fields } = readDeclaredFields(body)
    // Keycloak: a missing name is a conflict; the error is that of its database.
    if (!name) throw failure('conflict', NAME_TAKEN)
    const alias = declaredAlias || name
    if (alias !== live.key[0]) throw failure('invalid', 'Cannot change the alias')
    await writers.organization.update(context, [{ live, set: toReplacement(live, { ...fields, name, alias }) }])
  },
  async delete(context, { id }) {
    await requireOrganizationAccess(context, 'manage', id)
    await writers.organization.delete(context, [await getOrganization(context, id)])
  },
}

/** Returns the number of organizations that match a query. */
export async function countMatchingOrganizations(context: Context, query: Query): Promise<number> {
  await requireListPermission(context, 'Organizations', SEARCH)
  await requireOrganizations(context)
  const visible = await getObjectVisibility(context, 'Organizations')
  return countOrganizations(context.tx, context.realm.number, { ...parseSearch(query), visible })
}

/** Throws not_found unless the realm has organizations enabled. */
export async function requireOrganizations(context: Context): Promise<void> {
  const realm = await getCurrentRealm(context)
  if (realm?.representation.organizationsEnabled !== true)
    throw failure('not_found', 'Organizations not enabled for this realm.', { form: 'errorMessage' })
}

/**
 * Throws forbidden unless the caller may view or manage an organization; without an id, unless the caller may create one. Keycloak:
 * a caller who manages an organization must be able to view it, too.
 */
export async function requireOrganizationAccess(
  context: Context,
  purpose: 'view' | 'manage',
  id: string | undefined,
): Promise<void> {
  const scopes = id === undefined || purpose === 'view' ? [purpose] : (['view', 'manage'] as const)
  const objects = id === undefined ? 'new' : [{ id }]
  for (const scope of scopes) await requireObjectPermission(context, { type: 'Organizations', scope, objects })
  await requireOrganizations(context)
}

/** Returns the organization with that id. Throws not_found. */
export async function getOrganization(context: Context, id: string): Promise<LiveObject> {
  const [organization] = await writers.organization.list(context, { ids: [id] })
  if (!organization) throw failure('not_found', 'Organization not found.', { form: 'errorMessage' })
  return organization
}

/** Returns the organizations with these ids, in this order; `brief`: without attributes. */
export async function listOrganizationsById(
  context: Context,
  ids: readonly string[],
  brief: boolean,
): Promise<Representation[]> {
  if (!ids.length) return []
  const organizations = await writers.organization.list(context, { ids })
  const byId = new Map(organizations.map((live) => [live.id, live]))
  return ids.map((id) => toOrganizationRepresentation(context, byId.get(id)!, brief))
}

/** Returns the wire representation of an organization; `brief`: without attributes. */
export function toOrganizationRepresentation(context: Context, live: LiveObject, brief: boolean): Representation {
  const { groups: _, attributes, ...fields } = toWireRepresentation(context.vault, live)
  return { ...fields, ...(!brief && { attributes: attributes! }) }
}

/** Returns the search that a query requests. Keycloak: attributes take precedence over a text. */
function parseSearch({ search, exact, q }: Query): Omit<OrganizationSearch, 'visible'> {
  if (q) return parseAttributeSearch(q)
  if (!search) return {}
  return exact === true ? { equals: String(search) } : { contains: String(search) }
}

/** Returns the search for organizations that have all of the attributes. */
function parseAttributeSearch(q: unknown): Omit<OrganizationSearch, 'visible'> {
  const attributes = Object.entries(parseAttributeQuery(String(q ?? '')))
  return attributes.length ? { attributes: Object.fromEntries(attributes.map(([name, value]) => [name, [value]])) } : {}
}

/**
 * Returns the fields of the organization itself that a body declares, each domain once. Keycloak: domains are unverified by default,
 * and an empty URL counts as absent.
 */
function readDeclaredFields(body: Representation): Representation {
  const declared = Object.entries(omitNullsButEnabled(body)).filter(
    ([name, value]) => name in kinds.organization.fields && !(name === 'redirectUrl' && value === ''),
  )
  const { groups: _, domains, ...fields } = Object.fromEntries(declared)
  const domainsByName = new Map(
    readObjects(domains).map(({ name, verified }) => [name, { name: name!, verified: verified ?? false }]),
  )
  return { ...fields, ...(domains && { domains: [...domainsByName.values()] }) }
}
