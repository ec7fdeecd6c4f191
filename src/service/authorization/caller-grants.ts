// The fine-grained admin permissions of callers: those of version 2 in a realm with `adminPermissionsEnabled`, otherwise those of version 1.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import type { Representation } from '../../kinds/json.ts'
import { getManagementClientId } from '../../kinds/management-permissions.ts'
import type { RoleName } from '../../store/roles.ts'
import type { CallingUser, Context, WriteContext } from '../context/context.ts'
import { cacheInContext, cacheUntilChange } from '../context/realm-values.ts'
import { findLiveRealm, type LiveObject, listObjects } from '../objects/live-objects.ts'
import { hasRole, toClaimAttributes, toRoleKey } from '../policy-evaluation/attributes.ts'
import type { AccessIdentity } from '../policy-evaluation/identity.ts'
import {
  evaluateAdminPermissions,
  evaluateManagementPermissions,
  type ObjectGrants,
} from '../policy-evaluation/object-grants.ts'
import type { AdminPolicies } from '../policy-evaluation/policy-grants.ts'
import { listContextAttributes } from './context-attributes.ts'
import { loadResourceServer, loadRolesAndGroups } from './evaluation-data.ts'

const evaluate = { 1: evaluateManagementPermissions, 2: evaluateAdminPermissions } as const

/**
 * Returns the fine-grained admin permissions of the caller; undefined if the realm has none, or the caller is not a user of the realm.
 * Six statements at most, or none where a read finds all in the cache.
 */
export function findCallerGrants(context: Context): Promise<ObjectGrants | undefined> {
  if ('lastChanges' in context) return evaluateGrants(context)
  const grants = grantsByContext.get(context) ?? evaluateGrants(context)
  grantsByContext.set(context, grants)
  return grants
}

/** The grants of reads, which change nothing. */
const grantsByContext = new WeakMap<Context, Promise<ObjectGrants | undefined>>()

async function evaluateGrants(context: Context): Promise<ObjectGrants | undefined> {
  const { callingUser, realm, actor } = context
  if (callingUser?.realm !== realm.name) return undefined
  const policies = await findAdminPolicies(context)
  if (!policies) return undefined
  const identity = await loadIdentity(context, callingUser)
  const attributes = listContextAttributes(context, actor.client ?? '')
  return evaluate[policies.version](policies.server, { identity, attributes })
}

/** Returns the policies about administrators; undefined if the realm has none. Five statements at most, once until they may have changed. */
export async function findAdminPolicies(context: Context | WriteContext): Promise<AdminPolicies | undefined> {
  if ('lastChanges' in context) return getPoliciesForWrite(context)
  return context.realm.hasAdminPolicies ? getPoliciesForRead(context) : undefined
}

const POLICY_KINDS = ['realm', 'client', 'authorizationPolicy', 'authorizationResource', 'authorizationScope'] as const
const getPoliciesForRead = cacheInContext(loadAdminPolicies)
const getPoliciesForWrite = cacheUntilChange(POLICY_KINDS, loadAdminPolicies)

async function loadAdminPolicies(context: Context): Promise<AdminPolicies | undefined> {
  const realm = await findLiveRealm(context)
  const version = realm?.representation.adminPermissionsEnabled === true ? 2 : 1
  const clientId = version === 2 ? ADMIN_PERMISSIONS : getManagementClientId(context.realm.name)
  const [client] = await listObjects(context, 'client', { keys: [[clientId]] })
  if (client?.representation.authorizationServicesEnabled !== true) return undefined
  const server = await loadResourceServer(context, client)
  return server.policies.length ? { version, server } : undefined
}

const MAY_BE_IMPERSONATED = 'user-impersonated'

/** Whether the policies of the realm let a user be impersonated. Keycloak: in version 1, the permission `user-impersonated` is about that user. */
export async function mayBeImpersonated(context: Context, user: Pick<LiveObject, 'id' | 'key'>): Promise<boolean> {
  const policies = await findAdminPolicies(context)
  const isRestricted = policies?.server.policies.some(
    ({ fields }) => fields.scopes?.includes(MAY_BE_IMPERSONATED) && fields.policies?.length,
  )
  if (!policies || policies.version === 2 || !isRestricted) return true
  const { effectiveRoles, groups } = await loadRolesAndGroups(context, user.id)
  const claims = toClaimAttributes(replaceRoles({}, effectiveRoles))
  const roles = new Set(effectiveRoles.map((role) => JSON.stringify(toRoleKey(role))))
  const identity = { id: user.id, username: user.key[0], claims, roles, groups }
  const attributes = listContextAttributes(context, context.actor.client ?? '')
  const grants = evaluateManagementPermissions(policies.server, { identity, attributes })
  return grants.find('Users', MAY_BE_IMPERSONATED).all === true
}

/** Keycloak: clients whose tokens do not limit the roles of an administrator. */
const UNLIMITED_CLIENTS = ['admin-cli', 'security-admin-console']

/** Returns the identity of a caller. It has only roles that the user still has. Keycloak: of these, those in the token. */
async function loadIdentity(context: Context, { id, claims }: CallingUser): Promise<AccessIdentity> {
  const { effectiveRoles, groups } = await loadRolesAndGroups(context, id)
  const attributes = toClaimAttributes(copyClaims(claims))
  const hasAllRoles = UNLIMITED_CLIENTS.includes(context.actor.client ?? '')
  const roles = effectiveRoles.filter((role) => hasAllRoles || hasRole(attributes, toRoleKey(role)))
  return {
    id,
    username: context.actor.user,
    claims: toClaimAttributes(replaceRoles(copyClaims(claims), roles)),
    roles: new Set(effectiveRoles.map((role) => JSON.stringify(toRoleKey(role)))),
    groups,
  }
}

const copyClaims = (claims: CallingUser['claims']): Representation => JSON.parse(JSON.stringify(claims))

function replaceRoles(claims: Representation, roles: readonly RoleName[]): Representation {
  const ofClients = Map.groupBy(roles, ({ client }) => client ?? undefined)
  const toAccess = (ofClient: readonly RoleName[] = []) => ({ roles: ofClient.map(({ name }) => name) })
  const access = [...ofClients].flatMap(([client, ofClient]) =>
    client === undefined ? [] : [[client, toAccess(ofClient)] as const],
  )
  return { ...claims, realm_access: toAccess(ofClients.get(undefined)), resource_access: Object.fromEntries(access) }
}
