// The effects of kinds that are stored and exported, and not evaluated: authorization services and workflows.
import { type KindEffects, storedOnly } from './field-effect.ts'
import { NO_AUTHORIZATION, NO_WORKFLOWS } from './reasons.ts'

/** The effects of the fields of authorization policies. */
export const authorizationPolicyEffects: KindEffects = storedOnly(NO_AUTHORIZATION, [
  'clientScopes',
  'clients',
  'config.*',
  'decisionStrategy',
  'description',
  'groups',
  'groupsAndBelow',
  'logic',
  'name',
  'policies',
  'requiredClientScopes',
  'requiredRoles',
  'resources',
  'roles',
  'scopes',
  'type',
  'users',
])

/** The effects of the fields of authorization resources. */
export const authorizationResourceEffects: KindEffects = storedOnly(NO_AUTHORIZATION, [
  'attributes.*',
  'displayName',
  'icon_uri',
  'name',
  'owner',
  'ownerManagedAccess',
  'scopes',
  'type',
  'uris',
])

/** The effects of the fields of authorization scopes. */
export const authorizationScopeEffects: KindEffects = storedOnly(NO_AUTHORIZATION, ['displayName', 'iconUri', 'name'])

/** The effects of the fields of workflows. */
export const workflowEffects: KindEffects = storedOnly(NO_WORKFLOWS, [
  'concurrency',
  'enabled',
  'if',
  'name',
  'on',
  'schedule',
  'steps.after',
  'steps.uses',
  'steps.with',
])
