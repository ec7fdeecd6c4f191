// Mappers of roles.
import { addAudience, type Claims, type MapperConfig, setClaim } from './claims.ts'
import type { MapperFacts, TokenRoles } from './mapper.ts'

/** A type of protocol mapper that changes the roles of a token before claims are written. */
export interface RoleMapper {
  readonly priority: number
  readonly change: (roles: TokenRoles, config: MapperConfig) => void
}

/** Renames a role, if the token has it. */
export function renameRole(roles: TokenRoles, { role = '', 'new.role.name': newName = '' }: MapperConfig): void {
  const [client, name] = splitRole(role)
  if (roles.get(client)?.delete(name)) addRole(roles, newName)
}

/** Adds a role, whether the user has it or not. */
export function addHardcodedRole(roles: TokenRoles, { role }: MapperConfig): void {
  if (role) addRole(roles, role)
}

/** Adds the names of the user's realm roles to the claims. */
export function mapRealmRoles(claims: Claims, config: MapperConfig, { roles }: MapperFacts): void {
  const prefix = config['usermodel.realmRoleMapping.rolePrefix'] ?? ''
  const names = [...(roles.get(undefined) ?? [])]
  setClaim(
    claims,
    config,
    names.map((name) => prefix + name),
  )
}

/** Adds the user's roles of one client, or of each client, to the claims; `${client_id}` is replaced in the claim name and the prefix. */
export function mapClientRoles(claims: Claims, config: MapperConfig, { roles }: MapperFacts): void {
  const onlyClient = config['usermodel.clientRoleMapping.clientId']
  for (const [client, names] of roles) {
    if (client === undefined || (onlyClient && onlyClient !== client)) continue
    const prefix = (config['usermodel.clientRoleMapping.rolePrefix'] ?? '').replaceAll('${client_id}', () => client)
    const values = [...names].map((name) => prefix + name)
    const claim = (config['claim.name'] ?? '').replaceAll('${client_id}', () => client.replace(/[\\.]/g, '\\$&'))
    setClaim(claims, { ...config, 'claim.name': claim }, values)
  }
}

/** Adds the clients of the user's client roles to the audience. */
export function mapResolvedAudience(claims: Claims, _config: MapperConfig, { roles, client }: MapperFacts): void {
  for (const [roleClient, names] of roles) {
    if (roleClient !== undefined && roleClient !== client.key[0] && names.size) addAudience(claims, roleClient)
  }
}

function addRole(roles: TokenRoles, role: string): void {
  const [client, name] = splitRole(role)
  roles.set(client, (roles.get(client) ?? new Set()).add(name))
}

/** Keycloak: the text before the last dot is the client id. */
function splitRole(role: string): [client: string | undefined, name: string] {
  const dot = role.lastIndexOf('.')
  return dot < 0 ? [undefined, role] : [role.slice(0, dot), role.slice(dot + 1)]
}
