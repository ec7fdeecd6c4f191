// Roles: what mappers make of them before they are shown, and where they are shown.
import { addAudience, type Claims, type Settings, setClaim } from './claims.ts'
import type { Facts, Roles } from './mapper.ts'

/** A type of mapper that changes the roles themselves, before any other looks at them. */
export interface RoleChange {
  readonly priority: number
  readonly change: (roles: Roles, settings: Settings) => void
}

/** Calls a role otherwise, where it is. */
export function rename(roles: Roles, { role = '', 'new.role.name': renamed = '' }: Settings): void {
  const [client, name] = split(role)
  if (roles.get(client)?.delete(name)) grant(roles, renamed)
}

/** Adds a role, whether the user has it or not. */
export function hardcodedRole(roles: Roles, { role }: Settings): void {
  if (role) grant(roles, role)
}

/** Roles of the realm. */
export function realmRoles(claims: Claims, settings: Settings, { roles }: Facts): void {
  const prefix = settings['usermodel.realmRoleMapping.rolePrefix'] ?? ''
  setClaim(
    claims,
    settings,
    [...(roles.get(undefined) ?? [])].map((name) => prefix + name),
  )
}

/** Roles of a client, or of each; the client's id may be part of the claim's name and of the prefix. */
export function clientRoles(claims: Claims, settings: Settings, { roles }: Facts): void {
  const only = settings['usermodel.clientRoleMapping.clientId']
  for (const [client, names] of roles) {
    if (client === undefined || (only && only !== client)) continue
    const prefix = (settings['usermodel.clientRoleMapping.rolePrefix'] ?? '').replaceAll('${client_id}', () => client)
    const values = [...names].map((name) => prefix + name)
    const claim = (settings['claim.name'] ?? '').replaceAll('${client_id}', () => client.replace(/[\\.]/g, '\\$&'))
    setClaim(claims, { ...settings, 'claim.name': claim }, values)
  }
}

/** The clients of which the user has roles are meant by the token. */
export function audienceResolve(claims: Claims, _settings: Settings, { roles, client }: Facts): void {
  for (const [owner, names] of roles) {
    if (owner !== undefined && owner !== client.key[0] && names.size) addAudience(claims, owner)
  }
}

function grant(roles: Roles, role: string): void {
  const [client, name] = split(role)
  roles.set(client, (roles.get(client) ?? new Set()).add(name))
}

/** Keycloak: what stands before the last dot is the client. */
function split(role: string): [client: string | undefined, name: string] {
  const dot = role.lastIndexOf('.')
  return dot < 0 ? [undefined, role] : [role.slice(0, dot), role.slice(dot + 1)]
}
