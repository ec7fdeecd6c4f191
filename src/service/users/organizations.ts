// Organizations: names and domains that are theirs alone, and what goes with them.

import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import {
  type Domain,
  deleteOtherDomains,
  selectDomainHolders,
  selectDomains,
  selectManaged,
  selectTakenNames,
  upsertDomains,
} from '../../store/organizations.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { checkedWriters } from '../objects/checked.ts'
import type { LiveObject } from '../objects/live.ts'
import type { Writers } from '../objects/writers.ts'
import { organizationProblem } from './organization-checks.ts'
import { users } from './users.ts'

const kind = kinds.organization
const writers = checkedWriters(kind.name, async (context, whole, ids) => {
  refuseProblems(whole)
  await refuseTaken(context, whole, ids)
})

/** What is said of a name that is taken. */
export const NAME_TAKEN = 'A organization with the same name already exists.'

/** The writers of organizations. */
export const organizations: Writers = {
  ...writers,
  list: async (context, filter) => withDomains(context, await writers.list(context, filter)),
  async create(context, objects) {
    const made = await writers.create(context, objects)
    await writeDomains(context, made)
    return made
  },
  async update(context, updates) {
    const updated = await writers.update(context, updates)
    await writeDomains(
      context,
      updated.filter((_, at) => 'domains' in updates[at]!.set),
    )
    return updated
  },
  /** Keycloak: accounts that an organization made end with it. */
  async delete(context, objects) {
    const { tx, realm } = context
    const ids = objects.map(({ id }) => id)
    const managed = ids.length ? await selectManaged(tx, realm.number, ids) : []
    if (managed.length) await users.delete(context, await users.list(context, { ids: managed }))
    await writers.delete(context, objects)
  },
}

function refuseProblems(organizations: readonly Representation[]): void {
  for (const one of organizations) {
    const problem = organizationProblem(one)
    if (problem !== undefined) throw failure('invalid', problem)
  }
}

/** Throws conflict where a name is taken by an organization that is not among the ids. One statement. */
async function refuseTaken(
  { tx, realm }: Context,
  organizations: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const names = organizations.map(({ name }) => String(name))
  const taken = names.length ? await selectTakenNames(tx, realm.number, { names, except: ids }) : []
  if (taken.length || new Set(names).size < names.length) throw failure('conflict', NAME_TAKEN)
}

/** Makes the domains of organizations what they say. Throws invalid where one is another organization's. Statements: three. */
async function writeDomains(context: WriteContext, organizations: readonly LiveObject[]): Promise<void> {
  if (!organizations.length) return
  const { tx, realm } = context
  const domains = organizations.flatMap(domainsOf)
  const names = domains.map(({ name }) => name)
  await deleteOtherDomains(tx, realm.number, { organizations: organizations.map(({ id }) => id), domains })
  const holders = new Map((await selectDomainHolders(tx, realm.number, names)).map((one) => [one.domain, one]))
  for (const { name, organization } of domains) {
    const holder = holders.get(name)
    if (holder && holder.organization !== organization) {
      const message = `Domain ${name} is already linked to organization ${holder.name} in realm ${realm.name}`
      throw failure('invalid', message)
    }
    const own = organizations.find(({ id }) => id === organization)
    holders.set(name, { domain: name, organization, name: String(own?.representation.name) })
  }
  await upsertDomains(tx, realm.number, domains)
}

function domainsOf({ id, representation }: LiveObject): Domain[] {
  const stated = (representation.domains ?? []) as { name: string; verified?: boolean }[]
  return stated.map(({ name, verified = null }) => ({ organization: id, name, verified }))
}

/** Organizations with their domains. One statement. */
async function withDomains({ tx, realm }: Context, found: readonly LiveObject[]): Promise<LiveObject[]> {
  if (!found.length) return []
  const ids = found.map(({ id }) => id)
  const byOwner = Map.groupBy(await selectDomains(tx, realm.number, ids), ({ organization }) => organization)
  return found.map((live) => {
    const domains: Json = (byOwner.get(live.id) ?? []).map(({ name, verified }) => ({ name, verified }))
    return domains.length ? { ...live, representation: { ...live.representation, domains } } : live
  })
}
