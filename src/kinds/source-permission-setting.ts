// What sources may touch, and which administrative power they give at most, as it is written in the settings.
import { type AdminRole, adminRoles } from './admin-roles.ts'

/** The limit of a source; what is absent is not limited. */
export interface SourcePermissionSetting {
  /** Its name; `*`: every other one. */
  readonly source: string
  readonly realms?: readonly string[]
  readonly roles?: readonly AdminRole[]
}

/** Reads `<source>=<realms>:<roles>`, where realms and roles are separated with `|`, and `*` is all of them; undefined when it is none. */
export function parseSourcePermissions(text: string): SourcePermissionSetting | undefined {
  const [, source, realms, roles] = /^(.+)=([^=:]*):([^=:]*)$/.exec(text) ?? []
  if (source === undefined) return undefined
  const names = (part = '') => part.split('|').filter(Boolean)
  const isRole = (name: string): name is AdminRole => (adminRoles as readonly string[]).includes(name)
  if (roles !== '*' && !names(roles).every(isRole)) return undefined
  return {
    source,
    ...(realms !== '*' && { realms: names(realms) }),
    ...(roles !== '*' && { roles: names(roles).filter(isRole) }),
  }
}
