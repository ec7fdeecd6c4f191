// Nobody gives administrative power that they do not have: the one rule, a function for each way in which it could be given.
// What a write gives is found out in conferring.ts; what needs no power to be given costs no statement.
import type { Key } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import {
  type RoleHolders,
  selectAccountRoles,
  selectContainedRoles,
  selectEffectiveRoles,
  selectRolesOfAnybody,
} from '../../store/users/effective-roles.ts'
import type { Context } from '../context/context.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { covers, lacking, type NamedRole, powerFrom } from '../context/power.ts'
import { wholePower } from './administrators.ts'

/** The ids of those roles that the caller may give and take: what administers in them is in their own power. One statement, or none. */
export async function conferrable(context: Context, roles: readonly string[]): Promise<Set<string>> {
  const { power, realm } = context
  if (power.all) return new Set(roles)
  const contained = await containedIn(context, roles)
  return new Set(roles.filter((id) => covers(power, powerFrom(realm.name, contained.get(id) ?? []))))
}

/** Roles are given: to users and groups, to other roles, into the scope of clients. One statement, or none. */
export async function demandRoles(context: Context, roles: readonly string[]): Promise<void> {
  const { power, realm } = context
  if (power.all || !roles.length) return
  const contained = await containedIn(context, roles)
  const missing = lacking(power, powerFrom(realm.name, [...contained.values()].flat()))
  if (!missing.length) return
  const itself = [...contained].flatMap(([id, all]) => all.filter((one) => one.id === id))
  throw refusal(missing, lacking(power, powerFrom(realm.name, itself)).length > 0)
}

/** Somebody, or another group, gets into groups. One statement, or none. */
export async function demandGroups(context: Context, groups: readonly string[]): Promise<void> {
  if (groups.length) await demandNoStronger(context, { groups })
}

/** Clients follow client scopes: they show the roles that these have in their scope. One statement, or none. */
export async function demandClientScopes(context: Context, clientScopes: readonly string[]): Promise<void> {
  if (clientScopes.length) await demandNoStronger(context, { clientScopes })
}

/** Whoever makes users has what everybody new has. One statement, or none. */
export async function demandNewcomers(context: Context): Promise<void> {
  await demandNoStronger(context, { newcomers: true })
}

/** Users change so that somebody else can take their place: by password, mail address or account elsewhere. One statement, or none. */
export async function demandUsers(context: Context, users: readonly string[]): Promise<void> {
  if (users.length) await demandNoStronger(context, { users })
}

/** Identity providers change, which say who people are. One statement, or none. */
export async function demandProviders(context: Context, identityProviders: readonly string[]): Promise<void> {
  if (identityProviders.length) await demandNoStronger(context, { identityProviders })
}

/** Clients change so that somebody else can act in their name, or their secrets are read. One statement, or none. */
export async function demandClients(context: Context, clients: readonly string[]): Promise<void> {
  const missing = [...(await lackingForClients(context, clients)).values()].flat()
  if (missing.length) throw refusal(missing)
}

/** The clients among these whose accounts are stronger than the caller: what they lack for each. One statement, or none. */
export async function lackingForClients(
  { tx, realm, power }: Context,
  clients: readonly string[],
): Promise<Map<string, string[]>> {
  if (power.all || !clients.length) return new Map()
  const held = await selectAccountRoles(tx, realm.number, { clients, stop: wholePower(realm.name) })
  const missing = [...Map.groupBy(held, ({ root }) => root)].map(
    ([client, roles]) => [client, lacking(power, powerFrom(realm.name, roles))] as const,
  )
  return new Map(missing.filter(([, roles]) => roles.length))
}

/** It is decided anew who gets in, by flows, keys, mail and user stores: as anybody of the realm. One statement, or none. */
export async function demandAnybody({ tx, realm, power }: Context): Promise<void> {
  if (power.all) return
  demandCovers({ realm, power }, await selectRolesOfAnybody(tx, realm.number, wholePower(realm.name)))
}

/** Mappers name roles and groups that people get. What there is not is nobody's. Statements: four at most. */
export async function demandNamed(
  context: Context,
  { roles, groups }: { readonly roles: readonly string[]; readonly groups: readonly string[] },
): Promise<void> {
  const { tx, realm, power } = context
  if (power.all) return
  const roleKeys = roles.flatMap(roleKeysOf)
  const groupKeys = groups.map((path): Key => [path])
  const idsOf = async (kind: 'role' | 'group', keys: readonly Key[]) =>
    keys.length ? (await selectKeys(tx, realm.number, { kind, filter: { keys } })).map(({ id }) => id) : []
  await demandRoles(context, await idsOf('role', roleKeys))
  await demandGroups(context, await idsOf('group', groupKeys))
}

/** Roles are called so that they administer. No statement. */
export function demandTitles({ realm, power }: Pick<Context, 'realm' | 'power'>, roles: readonly NamedRole[]): void {
  demandCovers({ realm, power }, roles)
}

/** The roles that a text may mean. Keycloak: `role`, or `client.role`, and names may hold dots. */
export function roleKeysOf(text: string): Key[] {
  const splits = [...text.matchAll(/\./g)].map(
    ({ index }): Key => ['client', text.slice(0, index), text.slice(index + 1)],
  )
  return [[text], ...splits]
}

async function containedIn({ tx, realm }: Context, roles: readonly string[]) {
  if (!roles.length) return new Map<string, never[]>()
  const found = await selectContainedRoles(tx, realm.number, { roles, stop: wholePower(realm.name) })
  return Map.groupBy(found, ({ root }) => root)
}

async function demandNoStronger({ tx, realm, power }: Context, holders: RoleHolders): Promise<void> {
  if (power.all) return
  demandCovers(
    { realm, power },
    await selectEffectiveRoles(tx, realm.number, { holders, stop: wholePower(realm.name) }),
  )
}

function demandCovers({ realm, power }: Pick<Context, 'realm' | 'power'>, roles: readonly NamedRole[]): void {
  const missing = lacking(power, powerFrom(realm.name, roles))
  if (missing.length) throw refusal(missing)
}

/** Which roles the caller would need. `bare`: Keycloak: refuses as well, and does not say so. */
function refusal(missing: readonly string[], bare = false): ServiceError {
  const roles = [...new Set(missing)].sort().join(', ')
  const reason = `this gives more administrative power than you have: you lack ${roles}`
  return failure('forbidden', 'HTTP 403 Forbidden', { reason, ...(bare && { bare }) })
}
