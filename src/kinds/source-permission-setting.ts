// The source permissions in the server settings.
import { type AdminRole, adminRoles } from './admin-roles.ts'

/** The permissions of a source. An absent list is unrestricted. */
export interface SourcePermissionSetting {
  /** The name of the source; `*` for all other sources. */
  readonly source: string
  readonly realms?: readonly string[]
  readonly roles?: readonly AdminRole[]
}

/** Parses an entry of `--source-permissions`: `<source>=<realms>:<roles>`. Realms and roles are separated by `|`, or `*` for all. Returns undefined if invalid. */
export function parseSourcePermissions(text: string): SourcePermissionSetting | undefined {
  const [, source, realms, roles] = /^(.+)=([^=:]*):([^=:]*)$/.exec(text) ?? []
  if (source === undefined) return undefined
  const names = (part = '') => part.split('|').filter(Boolean)
  const isRole = (name: string): name is AdminRole => adminRoles.some((role) => role === name)
  if (roles !== '*' && !names(roles).every(isRole)) return undefined
  return {
    source,
    ...(realms !== '*' && { realms: names(realms) }),
    ...(roles !== '*' && { roles: names(roles).filter(isRole) }),
  }
}
