// The authorization settings of a client, indexed for evaluation.
import type { authorizationPolicy } from '../../kinds/authorization-policy.ts'
import type { ViewOf } from '../../kinds/kind.ts'

/** The number of policies, or of permissions, that must grant access: all, one, or more than half. */
export type DecisionStrategy = 'UNANIMOUS' | 'AFFIRMATIVE' | 'CONSENSUS'

/** Access to resources without a permission: denied (ENFORCING) or granted. DISABLED: all access is granted. */
export type EnforcementMode = 'ENFORCING' | 'PERMISSIVE' | 'DISABLED'

/** A resource that a client protects. */
export interface ProtectedResource {
  readonly id: string
  readonly name: string
  readonly type?: string | undefined
  /** Id of the user who owns it. Absent: the client itself. */
  readonly owner?: string | undefined
  /** Whether the owner manages the access to it. */
  readonly isOwnerManaged: boolean
  /** URIs, which may be patterns. */
  readonly uris: readonly string[]
  /** Names of its own scopes. */
  readonly scopes: readonly string[]
}

/** An action on resources. */
export interface AuthorizationScope {
  readonly id: string
  readonly name: string
}

/** A policy or permission. Its fields name other objects. */
export interface Policy {
  readonly id: string
  readonly name: string
  readonly fields: Omit<ViewOf<typeof authorizationPolicy>, 'name'>
}

/** A granted request of a user for access to a resource of another user. */
export interface GrantedTicket {
  readonly id: string
  /** Id of the resource. */
  readonly resource: string
  /** Name of the scope. Absent: access to the resource as such. */
  readonly scope?: string | undefined
  /** Id and username of the user to whom access is granted. */
  readonly requester: { readonly id: string; readonly username: string }
}

/** The authorization settings of a client. */
export interface AuthorizationSettings {
  /** Id of the client. */
  readonly id: string
  readonly enforcementMode: EnforcementMode
  /** CONSENSUS counts as UNANIMOUS. */
  readonly decisionStrategy: DecisionStrategy
  readonly resources: readonly ProtectedResource[]
  readonly scopes: readonly AuthorizationScope[]
  readonly policies: readonly Policy[]
}

/** The authorization settings of a client, with its objects by what evaluation looks for. */
export interface ResourceServer extends AuthorizationSettings {
  readonly resourcesById: ReadonlyMap<string, ProtectedResource>
  readonly resourcesByName: ReadonlyMap<string, ProtectedResource>
  readonly resourcesByScope: ReadonlyMap<string, readonly ProtectedResource[]>
  /** Resources of the client itself by type. */
  readonly ownResourcesByType: ReadonlyMap<string, readonly ProtectedResource[]>
  readonly scopesByName: ReadonlyMap<string, AuthorizationScope>
  readonly policiesByName: ReadonlyMap<string, Policy>
  readonly permissionsByResource: ReadonlyMap<string, readonly Policy[]>
  readonly permissionsByType: ReadonlyMap<string, readonly Policy[]>
  /** Permissions on scopes of any resource. */
  readonly permissionsByScope: ReadonlyMap<string, readonly Policy[]>
  /** Granted tickets of the user who requests access, and for the resources of this user. */
  readonly grantedTickets: readonly GrantedTicket[]
}

/** The types of policies that are permissions. `uma`: a permission that the owner of a resource manages. */
const PERMISSION_TYPES = ['resource', 'scope', 'uma']

/** Indexes authorization settings. */
export function indexResourceServer(settings: AuthorizationSettings): ResourceServer {
  const { resources, policies } = settings
  const ownResources = resources.filter(({ owner }) => owner === undefined)
  const permissions = policies.filter(({ fields }) => PERMISSION_TYPES.includes(String(fields.type)))
  return {
    ...settings,
    resourcesById: new Map(resources.map((resource) => [resource.id, resource])),
    resourcesByName: new Map(resources.map((resource) => [resource.name, resource])),
    resourcesByScope: groupByEach(resources, ({ scopes }) => scopes),
    ownResourcesByType: groupByEach(ownResources, ({ type }) => (type === undefined ? [] : [type])),
    scopesByName: new Map(settings.scopes.map((scope) => [scope.name, scope])),
    policiesByName: new Map(policies.map((policy) => [policy.name, policy])),
    permissionsByResource: groupByEach(permissions, ({ fields }) => fields.resources ?? []),
    // Keycloak: a permission on a type without policies is not found.
    permissionsByType: groupByEach(permissions, (permission) =>
      permission.fields.policies?.length ? listResourceTypes(permission) : [],
    ),
    permissionsByScope: groupByEach(permissions, (permission) => {
      const isOnAnyResource = !permission.fields.resources?.length && !listResourceTypes(permission).length
      return permission.fields.type === 'scope' && isOnAnyResource ? (permission.fields.scopes ?? []) : []
    }),
    grantedTickets: [],
  }
}

function listResourceTypes({ fields }: Policy): string[] {
  const type = fields.config?.defaultResourceType
  return type === undefined ? [] : [type]
}

function groupByEach<T>(all: readonly T[], listKeys: (item: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of all) {
    for (const key of listKeys(item)) {
      const group = groups.get(key)
      if (group) group.push(item)
      else groups.set(key, [item])
    }
  }
  return groups
}
