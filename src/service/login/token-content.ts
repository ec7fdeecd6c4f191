// What tokens are made of.
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  type Lens,
  selectOrganizationAliases,
  selectUserFacts,
  type UserFacts,
} from '../../store/login/token-content.ts'
import { type MapperHolder, selectMappers } from '../../store/mapper-holders.ts'
import { selectEffectiveRoles } from '../../store/users/effective-roles.ts'
import type { Context } from '../context/context.ts'
import { ADMIN } from '../context/power.ts'

/** The client scopes of these names that the client has, and the client itself, with their mappers. One statement. */
export function mappersOf(
  { tx, realm }: Context,
  client: string,
  names: readonly string[],
  protocol = 'openid-connect',
): Promise<MapperHolder[]> {
  return selectMappers(tx, realm.number, { client, names, protocol })
}

/**
 * What the user has that tokens of a client may show. Where nobody looks at roles, what an administrator of every realm may
 * is not spelled out. One statement.
 */
export function factsOf(
  { tx, realm }: Context,
  user: string,
  { roles, ...lens }: Omit<Lens, 'stop'> & { readonly roles: boolean },
): Promise<UserFacts> {
  const stop = !roles && realm.name === MASTER ? ADMIN : undefined
  return selectUserFacts(tx, realm.number, { user, lens: { ...lens, stop } })
}

/** The ids of the roles that are in the scope of the client or of one of the client scopes. One statement. */
export async function rolesInScope(
  { tx, realm }: Context,
  client: string,
  scopes: readonly string[],
): Promise<string[]> {
  const held = await selectEffectiveRoles(tx, realm.number, { holders: { clients: [client], clientScopes: scopes } })
  return held.map(({ id }) => id)
}

/** Those of these aliases that enabled organizations have. One statement. */
export function organizationsNamed({ tx, realm }: Context, aliases: readonly string[]): Promise<string[]> {
  return selectOrganizationAliases(tx, realm.number, aliases)
}
