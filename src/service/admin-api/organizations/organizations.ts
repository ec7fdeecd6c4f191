// The REST operations on organizations. The realm must have organizations enabled.
import { kinds } from '../../../kinds/index.ts'
import { type Representation, readObjects } from '../../../kinds/json.ts'
import { countOrganizations, type OrganizationSearch, searchOrganizations } from '../../../store/organizations.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNullsButEnabled, toReplacement } from '../../objects/put-body.ts'
import { describeReservedCharacter } from '../../objects/reserved-characters.ts'
import { getVisibility, type Permission, requirePermissions } from '../../permissions/require-permissions.ts'
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
    await requireOrganizations(context, MANAGE)
    if (id !== undefined) await getOrganization(context, id)
  },
  async list(context, _address, query) {
    await requireOrganizations(context, SEARCH)
    const ids = await searchOrganizations(context.tx, context.realm.number, {
      search: query.search ? parseSearch(context, query) : parseAttributeSearch(context, query.q),
      page: parsePage(query, DEFAULT_PAGE_SIZE),
    })
    return listOrganizationsById(context, ids, query.briefRepresentation !== false)
  },
  async get(context, { id }) {
    await requireOrganizations(context, VIEW)
    return toOrganizationRepresentation(context, await getOrganization(context, id), false)
  },
  async create(context, _address, body) {
    await requireOrganizations(context, MANAGE)
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
    await requireOrganizations(context, MANAGE)
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
    await requireOrganizations(context, MANAGE)
    await writers.organization.delete(context, [await getOrganization(context, id)])
  },
}

/** Returns the number of organizations that match a query. Keycloak: attributes take precedence here, and the search in lists. */
export async function countMatchingOrganizations(context: Context, query: Query): Promise<number> {
  await requireOrganizations(context, SEARCH)
  const search = query.q ? parseAttributeSearch(context, query.q) : parseSearch(context, query)
  return countOrganizations(context.tx, context.realm.number, search)
}

/** Throws forbidden unless the caller has all the permissions, and not_found unless the realm has organizations enabled. */
export async function requireOrganizations(context: Context, ...permissions: readonly Permission[]): Promise<void> {
  requirePermissions(context, ...permissions)
  const realm = await getCurrentRealm(context)
  if (realm?.representation.organizationsEnabled !== true)
    throw failure('not_found', 'Organizations not enabled for this realm.', { form: 'errorMessage' })
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

function parseSearch(context: Context, { search, exact }: Query): OrganizationSearch {
  const visible = getVisibility(context, VIEW)
  if (!search) return { visible }
  return exact === true ? { equals: String(search), visible } : { contains: String(search), visible }
}

/** Returns the search for organizations that have all of the attributes. */
function parseAttributeSearch(context: Context, q: unknown): OrganizationSearch {
  const visible = getVisibility(context, VIEW)
  const attributes = Object.entries(parseAttributeQuery(String(q ?? '')))
  return {
    visible,
    ...(attributes.length && { attributes: Object.fromEntries(attributes.map(([name, value]) => [name, [value]])) }),
  }
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
