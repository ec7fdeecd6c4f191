// What REST does with organizations, as long as the realm has them.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { countOrganizations, type OrganizationSearch, searchOrganizations } from '../../../store/organizations.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toReplacement, omitNulls } from '../../objects/put-body.ts'
import { describeReservedCharacter } from '../../objects/reserved-characters.ts'
import { requirePermissions, type Permission, getVisibility } from '../../permissions/require-permissions.ts'
import { NAME_TAKEN } from '../../users/organizations.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import type { Query, AdminResource } from '../common/resource.ts'

const VIEW = 'view-organizations'
const SEARCH = 'list-organizations'
const MANAGE = 'manage-organizations'

/** Keycloak: what a list holds at most, unless it is asked for more. */
export const DEFAULT_PAGE_SIZE = 10

/** Keycloak: OrganizationsResource, OrganizationResource. Members, providers and groups have no place in these bodies. */
export const organizations: AdminResource = {
  kind: 'organization',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async checkAccess(context, { id }) {
    await requireOrganizations(context, MANAGE)
    if (id !== undefined) await getOrganization(context, id)
  },
  async list(context, _place, query) {
    await requireOrganizations(context, SEARCH)
    const { search, q } = query
    const wanted = search ? parseSearch(context, query) : parseAttributeSearch(context, q)
    const ids = await searchOrganizations(context.tx, context.realm.number, {
      search: wanted,
      page: parsePage(query, DEFAULT_PAGE_SIZE),
    })
    return listOrganizationsById(context, ids, query.briefRepresentation !== false)
  },
  async get(context, { id }) {
    await requireOrganizations(context, VIEW)
    return toOrganizationRepresentation(context, await getOrganization(context, id), false)
  },
  async create(context, _place, body) {
    await requireOrganizations(context, MANAGE)
    const { name, ...stated } = readDeclaredFields(body)
    if (!name) throw failure('invalid', 'Name can not be null')
    const alias = stated.alias || name
    // Keycloak: what is wrong with an alias is said in another form than what is wrong with a name.
    const reserved = stated.alias ? describeReservedCharacter(String(alias)) : undefined
    if (reserved !== undefined) throw failure('invalid', reserved, { form: 'error' })
    const [made] = await writers.organization.create(context, [{ representation: { ...stated, name, alias } }])
    return made!.id
  },
  async replace(context, { id }, body) {
    await requireOrganizations(context, MANAGE)
    const live = await getOrganization(context, id)
    const { name, alias, ...stated } = readDeclaredFields(body)
    if (alias !== live.key[0]) throw failure('invalid', 'Cannot change the alias')
    // Keycloak: so says its database of a name that is none.
    if (name === undefined) throw failure('conflict', NAME_TAKEN)
    await writers.organization.update(context, [{ live, set: toReplacement(live, { ...stated, name, alias: alias! }) }])
  },
  async delete(context, { id }) {
    await requireOrganizations(context, MANAGE)
    await writers.organization.delete(context, [await getOrganization(context, id)])
  },
}

/** How many organizations there are. Keycloak: attributes have precedence, where in lists the search has it. */
export async function countMatchingOrganizations(context: Context, query: Query): Promise<number> {
  await requireOrganizations(context, SEARCH)
  const wanted = query.q ? parseAttributeSearch(context, query.q) : parseSearch(context, query)
  return countOrganizations(context.tx, context.realm.number, wanted)
}

/** Throws unless the caller may do all of this, and the realm has organizations. */
export async function requireOrganizations(context: Context, ...permissions: readonly Permission[]): Promise<void> {
  requirePermissions(context, ...permissions)
  const realm = await getCurrentRealm(context)
  if (realm?.representation.organizationsEnabled !== true)
    throw failure('not_found', 'Organizations not enabled for this realm.', { form: 'errorMessage' })
}

/** The organization with that id. Throws not_found. */
export async function getOrganization(context: Context, id: string): Promise<LiveObject> {
  const [found] = await writers.organization.list(context, { ids: [id] })
  if (!found) throw failure('not_found', 'Organization not found.', { form: 'errorMessage' })
  return found
}

/** Organizations in the order of their ids. */
export async function listOrganizationsById(
  context: Context,
  ids: readonly string[],
  brief: boolean,
): Promise<Representation[]> {
  if (!ids.length) return []
  const found = await writers.organization.list(context, { ids })
  const byId = new Map(found.map((live) => [live.id, live]))
  return ids.map((id) => toOrganizationRepresentation(context, byId.get(id)!, brief))
}

/** An organization as it shows; in brief without attributes. */
export function toOrganizationRepresentation(context: Context, live: LiveObject, brief: boolean): Representation {
  const { groups: _, attributes, ...shown } = toWireRepresentation(context.vault, live)
  return { ...shown, ...(!brief && { attributes: attributes! }) }
}

function parseSearch(context: Context, { search, exact }: Query): OrganizationSearch {
  const visible = getVisibility(context, VIEW)
  if (!search) return { visible }
  return exact === true ? { equals: String(search), visible } : { contains: String(search), visible }
}

/** The organizations that have each of these attributes. */
function parseAttributeSearch(context: Context, q: unknown): OrganizationSearch {
  const visible = getVisibility(context, VIEW)
  const asked = Object.entries(parseAttributeQuery(String(q ?? '')))
  return {
    visible,
    ...(asked.length && { attributes: Object.fromEntries(asked.map(([name, value]) => [name, [value]])) }),
  }
}

/** What a body says of the organization itself, each domain once. Keycloak: one that does not say so is not verified. */
function readDeclaredFields(body: Representation): Representation {
  const fields = Object.entries(omitNulls(body)).filter(([name]) => name in kinds.organization.fields)
  const { groups: _, domains, ...stated } = Object.fromEntries(fields)
  const byName = new Map(
    ((domains ?? []) as Representation[]).map(({ name, verified }) => [
      name,
      { name: name!, verified: verified ?? false },
    ]),
  )
  return { ...stated, ...(domains && { domains: [...byName.values()] }) }
}
