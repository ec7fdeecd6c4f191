// The writers of organizations, which check them, and store their domains in a table of their own.
import { domainToASCII } from 'node:url'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObjects } from '../../kinds/json.ts'
import {
  deleteOtherDomains,
  type OrganizationDomain,
  selectDomainOwners,
  selectDomains,
  selectManagedMembers,
  selectNamesInUse,
  upsertDomains,
} from '../../store/organizations.ts'
import { deleteObjectResources } from '../authorization/admin-permission-resources.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, invalidObject, type ObjectProblem } from '../context/errors.ts'
import { createCheckedWriters } from '../objects/checked-writers.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { describeReservedCharacter } from '../objects/reserved-characters.ts'
import type { Writers } from '../objects/writers.ts'
import { users } from './users.ts'

const kind = kinds.organization
const writers = createCheckedWriters(kind.name, async (context, organizations, ids) => {
  checkOrganizations(organizations)
  await checkNames(context, organizations, ids)
})

/** Keycloak: the message for a name that is taken. */
export const NAME_TAKEN = 'A organization with the same name already exists.'

/** The writers of organizations. */
export const organizations: Writers = {
  ...writers,
  list: async (context, filter) => withDomains(context, await writers.list(context, filter)),
  async create(context, objects) {
    const created = await writers.create(context, objects)
    await writeDomains(context, created)
    return created
  },
  async update(context, updates) {
    const updated = await writers.update(context, updates)
    await writeDomains(
      context,
      updated.filter((_, at) => 'domains' in updates[at]!.set),
    )
    return updated
  },
  /** Keycloak: the managed members of an organization are deleted with it. */
  async delete(context, objects) {
    const { tx, realm } = context
    const ids = objects.map(({ id }) => id)
    const managed = ids.length ? await selectManagedMembers(tx, realm.number, ids) : []
    if (managed.length) await users.delete(context, await users.list(context, { ids: managed }))
    await deleteObjectResources(context, objects)
    await writers.delete(context, objects)
  },
}

function checkOrganizations(organizations: readonly Representation[]): void {
  for (const organization of organizations) {
    const problem = findOrganizationProblem(organization)
    if (problem) throw invalidObject(problem)
  }
}

/** Returns the first problem of a complete organization; undefined if it has none. Keycloak: the messages are its own. */
function findOrganizationProblem({ name, alias, redirectUrl, domains }: Representation): ObjectProblem | undefined {
  if (!name) return { message: 'Name can not be null', field: 'name' }
  const reserved = describeReservedCharacter(String(alias))
  if (reserved !== undefined && alias === name)
    return { message: `Name cannot be used as alias: ${reserved}`, field: 'name' }
  if (reserved !== undefined) return { message: reserved, field: 'alias' }
  if (redirectUrl && !isUrl(String(redirectUrl)))
    return { message: 'Organization redirect URL is not valid.', field: 'redirectUrl' }
  const names = readObjects(domains).map((domain) => String(domain.name ?? ''))
  const duplicate = names.find((domain, at) => names.indexOf(domain) !== at)
  const message =
    duplicate === undefined
      ? names.map(findDomainProblem).find((problem) => problem !== undefined)
      : `Domain ${duplicate} is declared twice`
  return message === undefined ? undefined : { message, field: 'domains' }
}

function isUrl(text: string): boolean {
  return !/\s/.test(text) && ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')
}

/** Keycloak: a domain may have one label, unless it is a wildcard such as `*.example.com`. */
function findDomainProblem(domain: string): string | undefined {
  if (domain === '') return 'Domain name cannot be empty'
  const base = domain.replace(/^\*\./, '')
  const labels = (/^[\p{L}\p{N}.-]+$/u.test(base) ? domainToASCII(base) || base : base).split('.')
  if (!labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(label))) return `Invalid domain format: ${domain}`
  if (base !== domain && labels.length < 2) return `Domain must have at least 2 parts (e.g. 'example.com'): ${base}`
  return undefined
}

/** Throws conflict where another organization, whose id is not among `ids`, has one of the names. One statement. */
async function checkNames(
  { tx, realm }: Context,
  organizations: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const names = organizations.map(({ name }) => String(name))
  const namesInUse = names.length ? await selectNamesInUse(tx, realm.number, { names, except: ids }) : []
  if (namesInUse.length || new Set(names).size < names.length) throw failure('conflict', NAME_TAKEN)
}

/** Replaces the domains of organizations. Throws invalid where another organization has one of them. Three statements. */
async function writeDomains(context: WriteContext, organizations: readonly LiveObject[]): Promise<void> {
  if (!organizations.length) return
  const { tx, realm } = context
  const domains = organizations.flatMap(toDomains)
  const names = domains.map(({ name }) => name)
  await deleteOtherDomains(tx, realm.number, { organizations: organizations.map(({ id }) => id), domains })
  const owners = new Map((await selectDomainOwners(tx, realm.number, names)).map((owner) => [owner.domain, owner]))
  for (const { name, organization } of domains) {
    const owner = owners.get(name)
    if (owner && owner.organization !== organization) {
      const message = `Domain ${name} is already linked to organization ${owner.name} in realm ${realm.name}`
      throw failure('invalid', message, { field: 'domains' })
    }
    const newOwner = organizations.find(({ id }) => id === organization)
    owners.set(name, { domain: name, organization, name: String(newOwner?.representation.name) })
  }
  await upsertDomains(tx, realm.number, domains)
}

function toDomains({ id, representation }: LiveObject): OrganizationDomain[] {
  return readObjects(representation.domains).map(({ name, verified }) => ({
    organization: id,
    name: String(name),
    verified: typeof verified === 'boolean' ? verified : null,
  }))
}

/** Adds the domains to organizations. One statement. */
async function withDomains({ tx, realm }: Context, organizations: readonly LiveObject[]): Promise<LiveObject[]> {
  if (!organizations.length) return []
  const ids = organizations.map(({ id }) => id)
  const byOwner = Map.groupBy(await selectDomains(tx, realm.number, ids), ({ organization }) => organization)
  return organizations.map((live) => {
    const domains: Json = (byOwner.get(live.id) ?? []).map(({ name, verified }) => ({ name, verified }))
    return domains.length ? { ...live, representation: { ...live.representation, domains } } : live
  })
}
