// What REST does with organizations, as long as the realm has them.
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { countOrganizations, type OrganizationSearch, searchOrganizations } from '../../../store/organizations.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { reservedIn } from '../../objects/reserved.ts'
import { demand, type Permission, visibleTo } from '../../permissions/administrators.ts'
import { NAME_TAKEN } from '../../users/organizations.ts'
import { attributesOf, pageOf } from '../common/lists.ts'
import { ownRealm } from '../common/own-realm.ts'
import type { Query, Resource } from '../common/resource.ts'

const VIEW = 'view-organizations'
const SEARCH = 'list-organizations'
const MANAGE = 'manage-organizations'

/** Keycloak: what a list holds at most, unless it is asked for more. */
export const PAGE = 10

/** Keycloak: OrganizationsResource, OrganizationResource. Members, providers and groups have no place in these bodies. */
export const organizations: Resource = {
  kind: 'organization',
  view: VIEW,
  search: SEARCH,
  manage: MANAGE,
  async reach(context, { id }) {
    await demandOrganizations(context, MANAGE)
    if (id !== undefined) await getOrganization(context, id)
  },
  async list(context, _place, query) {
    await demandOrganizations(context, SEARCH)
    const { search, q } = query
    const wanted = search ? searched(context, query) : withAttributes(context, q)
    const ids = await searchOrganizations(context.tx, context.realm.number, {
      search: wanted,
      page: pageOf(query, PAGE),
    })
    return showOrganizations(context, ids, query.briefRepresentation !== false)
  },
  async get(context, { id }) {
    await demandOrganizations(context, VIEW)
    return show(context, await getOrganization(context, id), false)
  },
  async create(context, _place, body) {
    await demandOrganizations(context, MANAGE)
    const { name, ...stated } = ownFields(body)
    if (!name) throw failure('invalid', 'Name can not be null')
    const alias = stated.alias || name
    // Keycloak: what is wrong with an alias is said in another form than what is wrong with a name.
    const reserved = stated.alias ? reservedIn(String(alias)) : undefined
    if (reserved !== undefined) throw failure('malformed', reserved)
    const [made] = await writers.organization.create(context, [{ representation: { ...stated, name, alias } }])
    return made!.id
  },
  async replace(context, { id }, body) {
    await demandOrganizations(context, MANAGE)
    const live = await getOrganization(context, id)
    const { name, alias, ...stated } = ownFields(body)
    if (alias !== live.key[0]) throw failure('invalid', 'Cannot change the alias')
    // Keycloak: so says its database of a name that is none.
    if (name === undefined) throw failure('conflict', NAME_TAKEN)
    await writers.organization.update(context, [{ live, set: replacement(live, { ...stated, name, alias: alias! }) }])
  },
  async delete(context, { id }) {
    await demandOrganizations(context, MANAGE)
    await writers.organization.delete(context, [await getOrganization(context, id)])
  },
}

/** How many organizations there are. Keycloak: attributes have precedence, where in lists the search has it. */
export async function countAll(context: Context, query: Query): Promise<number> {
  await demandOrganizations(context, SEARCH)
  const wanted = query.q ? withAttributes(context, query.q) : searched(context, query)
  return countOrganizations(context.tx, context.realm.number, wanted)
}

/** Throws unless the caller may do all of this, and the realm has organizations. */
export async function demandOrganizations(context: Context, ...permissions: readonly Permission[]): Promise<void> {
  demand(context, ...permissions)
  const realm = await ownRealm(context)
  if (realm?.representation.organizationsEnabled !== true)
    throw failure('absent', 'Organizations not enabled for this realm.')
}

/** The organization with that id. Throws not_found. */
export async function getOrganization(context: Context, id: string): Promise<LiveObject> {
  const [found] = await writers.organization.list(context, { ids: [id] })
  if (!found) throw failure('absent', 'Organization not found.')
  return found
}

/** Organizations in the order of their ids. */
export async function showOrganizations(
  context: Context,
  ids: readonly string[],
  brief: boolean,
): Promise<Representation[]> {
  if (!ids.length) return []
  const found = await writers.organization.list(context, { ids })
  const byId = new Map(found.map((live) => [live.id, live]))
  return ids.map((id) => show(context, byId.get(id)!, brief))
}

/** An organization as it shows; in brief without attributes. */
export function show(context: Context, live: LiveObject, brief: boolean): Representation {
  const { groups: _, attributes, ...shown } = present(context.vault, live)
  return { ...shown, ...(!brief && { attributes: attributes! }) }
}

function searched(context: Context, { search, exact }: Query): OrganizationSearch {
  const visible = visibleTo(context, VIEW)
  if (!search) return { visible }
  return exact === true ? { whole: String(search), visible } : { part: String(search), visible }
}

/** The organizations that have each of these attributes. */
function withAttributes(context: Context, q: unknown): OrganizationSearch {
  const visible = visibleTo(context, VIEW)
  const asked = Object.entries(attributesOf(String(q ?? '')))
  return {
    visible,
    ...(asked.length && { attributes: Object.fromEntries(asked.map(([name, value]) => [name, [value]])) }),
  }
}

/** What a body says of the organization itself, each domain once. Keycloak: one that does not say so is not verified. */
function ownFields(body: Representation): Representation {
  const fields = Object.entries(withoutNulls(body)).filter(([name]) => name in kinds.organization.fields)
  const { groups: _, domains, ...stated } = Object.fromEntries(fields)
  const byName = new Map(
    ((domains ?? []) as Representation[]).map(({ name, verified }) => [
      name,
      { name: name!, verified: verified ?? false },
    ]),
  )
  return { ...stated, ...(domains && { domains: [...byName.values()] }) }
}
