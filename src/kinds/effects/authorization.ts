// The effects of authorization services: resources, scopes and policies of clients.
import { apiData, byProvider, enforced, type KindEffects, storedOnly } from './field-effect.ts'

const DECISIONS = 'test/authorization/access-decisions.test.ts'
const POLICY_TYPES = 'test/authorization/policy-types.test.ts'
const PROTECTION_API = 'test/oidc/protection-api.test.ts'
const ADMIN_API = 'test/admin/authorization.test.ts'

const units = ['dayMonth', 'month', 'year', 'hour', 'minute'].flatMap((unit) => [unit, `${unit}End`])
const settings = [
  'nbf',
  'noa',
  ...units,
  'fetchRoles',
  'groupsClaim',
  'targetClaim',
  'pattern',
  'targetContextAttributes',
]

/** The effects of the fields of authorization policies. */
export const authorizationPolicyEffects: KindEffects = {
  ...enforced(DECISIONS, ['decisionStrategy', 'logic', 'name', 'policies', 'resources', 'scopes']),
  ...enforced(DECISIONS, ['config.defaultResourceType']),
  ...enforced(POLICY_TYPES, [
    'clientScopes',
    'clients',
    'groups',
    'groupsAndBelow',
    'requiredClientScopes',
    'requiredRoles',
    'roles',
    'users',
    ...settings.map((name) => `config.${name}`),
  ]),
  ...storedOnly('no type of policies has such a setting', ['config.*']),
  ...apiData(ADMIN_API, ['description']),
  type: byProvider(
    { label: 'type of policies', unlisted: 'such policies cannot be evaluated, and their permissions deny access' },
    enforced(POLICY_TYPES, ['client', 'client-scope', 'group', 'regex', 'role', 'time', 'user']),
    enforced(DECISIONS, ['aggregate', 'resource', 'scope', 'uma']),
  ),
}

/** The effects of the fields of authorization resources. */
export const authorizationResourceEffects: KindEffects = {
  ...enforced(DECISIONS, ['name', 'owner', 'ownerManagedAccess', 'scopes', 'type']),
  ...enforced('test/oidc/permission-tokens.test.ts', ['uris']),
  ...apiData(ADMIN_API, ['attributes.*', 'displayName', 'icon_uri']),
}

/** The effects of the fields of authorization scopes. */
export const authorizationScopeEffects: KindEffects = {
  ...enforced(DECISIONS, ['name']),
  ...apiData(ADMIN_API, ['displayName', 'iconUri']),
}

/** The effects of the settings of the authorization services of a client. */
export const authorizationSettingsEffects: KindEffects = {
  ...enforced(DECISIONS, ['authorizationSettings.*']),
  ...enforced(PROTECTION_API, ['authorizationSettings.allowRemoteResourceManagement']),
}
