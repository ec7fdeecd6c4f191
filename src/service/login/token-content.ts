// The data that tokens are made of: mappers, and what the user has.
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  getTokenUserData,
  selectOrganizationAliases,
  type TokenGrant,
  type TokenUserData,
} from '../../store/login/token-content.ts'
import { type MapperContainer, selectMapperContainers } from '../../store/mapper-containers.ts'
import { selectEffectiveRoles } from '../../store/users/effective-roles.ts'
import { ADMIN_ROLE } from '../context/admin-permissions.ts'
import type { Context } from '../context/context.ts'

/** Lists the client, and those of its client scopes that are named, each with its mappers. One statement. */
export function listMapperContainers(
  { tx, realm }: Context,
  {
    client,
    scopes,
    protocol = 'openid-connect',
  }: { readonly client: string; readonly scopes: readonly string[]; readonly protocol?: string },
): Promise<MapperContainer[]> {
  return selectMapperContainers(tx, realm.number, { client, names: scopes, protocol })
}

/**
 * Returns what tokens of a client may contain about a user, as it was up to a second ago. Unless `roles` are needed, the role that
 * administers every realm is not expanded. One statement, or none.
 */
export async function loadTokenUserData(
  { tx, realm, cache }: Context,
  user: string,
  { roles, ...requested }: Omit<TokenGrant, 'unexpandedRole'> & { readonly roles: boolean },
): Promise<TokenUserData> {
  const grant = { ...requested, unexpandedRole: !roles && realm.name === MASTER ? ADMIN_ROLE : undefined }
  return cache.getUserValue({ realm: realm.number, user, value: JSON.stringify(grant) }, () =>
    getTokenUserData(tx, realm.number, { user, grant }),
  )
}

/** Lists the ids of the roles that are in the scope of a client or of one of the client scopes. One statement. */
export async function listRolesInScope(
  { tx, realm }: Context,
  client: string,
  scopes: readonly string[],
): Promise<string[]> {
  const holders = { clients: [client], clientScopes: scopes }
  const roles = await selectEffectiveRoles(tx, realm.number, { holders })
  return roles.map(({ id }) => id)
}

/** Lists those of the aliases that belong to enabled organizations. One statement. */
export function listEnabledOrganizations({ tx, realm }: Context, aliases: readonly string[]): Promise<string[]> {
  return selectOrganizationAliases(tx, realm.number, aliases)
}
