// Source permissions as they are written: in the settings of the server, in RealmSources, and in `allowedNamespaces` of Realms.
import * as z from 'zod'
import { type AdminRole, adminRoles, isRegentRole, regentRoles } from './admin-roles.ts'

/** The kinds of resources that tenants may declare: all but Realm. Written out, since commands load the settings without the table of kinds. */
export const tenantKinds = [
  'RealmAuthenticatorConfig',
  'RealmFlow',
  'RealmClientScope',
  'RealmClient',
  'RealmProtocolMapper',
  'RealmOrganization',
  'RealmOrganizationGroup',
  'RealmIdentityProvider',
  'RealmIdentityProviderMapper',
  'RealmRole',
  'RealmGroup',
  'RealmComponent',
  'RealmLocalization',
  'RealmUser',
  'RealmWorkflow',
  'RealmRequiredAction',
  'RealmAuthorizationPolicy',
  'RealmAuthorizationResource',
  'RealmAuthorizationScope',
] as const

/** A pattern of roles that are not admin roles. */
const ROLE_PATTERN = /^(?:realm\/.+|client\/.+\/.+)$/

/** The permissions of a tenant: the objects that it may declare in a realm, and the roles that it may grant. */
export const tenantPermissionFields = {
  kinds: z
    .array(z.enum(tenantKinds))
    .min(1)
    .optional()
    .describe(
      'Kinds of objects that may be declared, by the kinds of their resources. Children of a client, such as its roles and mappers, belong to it. Default: RealmClient.',
    ),
  names: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe(
      'Patterns of the names of these objects, such as `team-a-*`; of groups, of their paths. `*` matches any text. Default: all names.',
    ),
}

/** The roles that a tenant may grant. */
export const grantableRoles = z.array(
  z.string().regex(new RegExp(`^(?:${[...adminRoles, ...regentRoles].join('|')})$|${ROLE_PATTERN.source}`), {
    error: 'must be an admin role, realm/<role> or client/<client>/<role>',
  }),
)

/** The permissions of a source. An absent list is unrestricted. */
export interface SourcePermissionSetting {
  /** The name of the source; `*` for all other sources. */
  readonly source: string
  readonly realms?: readonly string[]
  /** Admin roles, and patterns of other roles. */
  readonly roles?: readonly string[]
  /** Kinds of resources. If present, the source is a tenant of its realms. */
  readonly kinds?: readonly string[]
  /** Patterns of the names of objects. */
  readonly names?: readonly string[]
}

/**
 * Parses an entry of `--source-permissions`: `<source>=<realms>:<roles>`, and for a tenant `:<kinds>` or `:<kinds>:<names>`. Elements
 * are separated by `|`, and `*` means all. Returns undefined if invalid.
 */
export function parseSourcePermissions(text: string): SourcePermissionSetting | undefined {
  const [, source, realms = '', roles = '', kindNames, names] =
    /^(.+)=([^=:]*):([^=:]*)(?::([^=:]+))?(?::([^=:]+))?$/.exec(text) ?? []
  if (source === undefined) return undefined
  const setting = {
    source,
    ...(realms !== '*' && { realms: splitList(realms) }),
    ...(roles !== '*' && { roles: splitList(roles) }),
    ...(kindNames !== undefined && { kinds: kindNames === '*' ? tenantKinds : splitList(kindNames) }),
    ...(names !== undefined && { names: splitList(names) }),
  }
  const isValid = z.object({ roles: grantableRoles.optional(), ...tenantPermissionFields }).safeParse(setting).success
  return isValid ? setting : undefined
}

const splitList = (text: string): string[] => text.split('|').filter(Boolean)

/** Whether the text is the name of an admin role. */
export const isAdminRoleName = (name: string): name is AdminRole =>
  isRegentRole(name) || adminRoles.some((role) => role === name)
