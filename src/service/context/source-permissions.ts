// Source permissions: the realms that a source may declare, what it may declare in them as a tenant, and the roles that it may grant. Pure.
import type { AdminRole } from '../../kinds/admin-roles.ts'
import { resourceKinds } from '../../kinds/resource-kinds.ts'
import { isAdminRoleName } from '../../kinds/source-permission-setting.ts'
import type { TenantPermissions } from '../../kinds/tenant-permissions.ts'

/** The permissions of a source. An absent member is unrestricted. */
export interface SourcePermissions {
  /** The realms that it may declare. */
  readonly realms?: readonly string[] | undefined
  /** The admin roles that it may grant. */
  readonly roles?: readonly AdminRole[] | undefined
  /** The permissions of a tenant, all of which limit it. Absent: the source is no tenant. */
  readonly tenant?: readonly TenantPermissions[] | undefined
}

/** Permissions of a tenant as they are written. */
interface TenantPermissionEntry {
  readonly kinds?: readonly string[] | undefined
  readonly names?: readonly string[] | undefined
  readonly roles?: readonly string[] | undefined
}

/** Without kinds, a tenant declares clients of its own. */
const DEFAULT_KINDS = ['RealmClient']

/** Returns the permissions of a tenant that has all of the entries. */
export function toTenantPermissions(entries: readonly TenantPermissionEntry[]): TenantPermissions {
  const roles = [...new Set(entries.flatMap((entry) => entry.roles ?? []))]
  const objects = entries.map(({ kinds = DEFAULT_KINDS, names = ['*'] }) => ({
    kinds: kinds.map((kind) => resourceKinds.get(kind)!.name),
    names,
  }))
  return {
    objects,
    adminRoles: roles.filter(isAdminRoleName),
    roles: roles.filter((role) => !isAdminRoleName(role)),
  }
}

/** Returns the permissions of a source as they are written. A source with kinds or names is a tenant. */
export function toSourcePermissions({
  realms,
  ...entry
}: TenantPermissionEntry & { readonly realms?: readonly string[] | undefined }): SourcePermissions {
  const { kinds, names, roles } = entry
  const permittedRealms = realms && { realms }
  if (!kinds && !names) return { ...permittedRealms, ...(roles && { roles: roles.filter(isAdminRoleName) }) }
  if (roles) return { ...permittedRealms, tenant: [toTenantPermissions([entry])] }
  const { objects } = toTenantPermissions([entry])
  return { ...permittedRealms, tenant: [{ objects, roles: ['realm/*', 'client/*'] }] }
}

/** Returns the permissions by which a source is a tenant in a realm; undefined if it is none. */
export function findTenantPermissions(
  { tenant = [] }: SourcePermissions,
  realm: string,
): readonly TenantPermissions[] | undefined {
  const ofRealm = tenant.filter((permissions) => permissions.realm === undefined || permissions.realm === realm)
  return ofRealm.length ? ofRealm : undefined
}

/** Returns the permissions that both contain. */
export function intersectSourcePermissions(
  first: SourcePermissions,
  second: SourcePermissions = {},
): SourcePermissions {
  const realms = intersect(first.realms, second.realms)
  const roles = intersect(first.roles, second.roles)
  const tenant = [...(first.tenant ?? []), ...(second.tenant ?? [])]
  return { ...(realms && { realms }), ...(roles && { roles }), ...(tenant.length && { tenant }) }
}

function intersect<T>(first: readonly T[] | undefined, second: readonly T[] | undefined): readonly T[] | undefined {
  return first && second ? first.filter((element) => second.includes(element)) : (first ?? second)
}

/** Whether a text matches one of the patterns, in which `*` matches any text. */
export const matchesPattern = (text: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matches(text, pattern.split('*')))

function matches(text: string, [start = '', ...rest]: readonly string[]): boolean {
  const end = rest.pop()
  if (end === undefined) return text === start
  if (!text.startsWith(start) || !text.endsWith(end) || text.length < start.length + end.length) return false
  let inner = text.slice(start.length, text.length - end.length)
  for (const part of rest) {
    const index = inner.indexOf(part)
    if (index < 0) return false
    inner = inner.slice(index + part.length)
  }
  return true
}

/** Finds the permissions of a source by its name, which a setting or a cluster gives; undefined if it does not limit the source. */
export type SourcePermissionLookup = (source: string) => SourcePermissions | undefined

/** Returns the permissions of a source that all of the lookups give; undefined if none does. */
export function findSourcePermissions(
  lookups: readonly SourcePermissionLookup[],
  source: string,
): SourcePermissions | undefined {
  return lookups.reduce<SourcePermissions | undefined>((permissions, find) => {
    const further = find(source)
    return permissions && further ? intersectSourcePermissions(permissions, further) : (permissions ?? further)
  }, undefined)
}
