// The effects of users, groups, roles and organizations, and of workflows, which act on users.
import { requiredActionProviderEffects } from './authentication.ts'
import { apiData, byProvider, combineEffects, dropped, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import { NO_BROKERING, NO_WEBAUTHN } from './reasons.ts'

/** The effects of the fields of users. */
export const userEffects: KindEffects = combineEffects(
  enforced('test/admin/users.test.ts', ['attributes.*', 'credentials.priority', 'credentials.userLabel']),
  apiData('test/admin/users.test.ts', [
    'clientConsents.createdDate',
    'clientConsents.lastUpdatedDate',
    'createdTimestamp',
    'credentials.createdDate',
    'credentials.id',
  ]),
  enforced('test/login/login-events.test.ts', ['enabled']),
  enforced('test/login/required-actions.test.ts', ['emailVerified']),
  enforced('test/oidc/token-validity.test.ts', ['notBefore']),
  enforced('test/conformance/token-content.test.ts', [
    'clientRoles',
    'email',
    'firstName',
    'groups',
    'lastName',
    'realmRoles',
    'username',
  ]),
  enforced('test/admin/organizations.test.ts', ['organizations']),
  apiData('test/admin/organizations.test.ts', ['managedBy']),
  enforced('test/oidc/organization-claims.test.ts', ['organizationGroups']),
  enforced('test/oidc/passwords.test.ts', [
    'credentials.credentialData',
    'credentials.secretData',
    'credentials.value',
  ]),
  enforced('test/login/required-actions.test.ts', ['credentials.counter', 'credentials.digits', 'credentials.period']),
  enforced('test/reconcile/users.test.ts', [
    'credentials.algorithm',
    'credentials.hashIterations',
    'credentials.hashedSaltedValue',
    'credentials.salt',
    'credentials.temporary',
  ]),
  dropped('it is a legacy field of Keycloak', ['credentials.config', 'credentials.device']),
  enforced('test/login/changes-during-login.test.ts', [
    'clientConsents.clientId',
    'clientConsents.grantedClientScopes',
  ]),
  enforced('test/reconcile/service-accounts.test.ts', ['serviceAccountClientId']),
  enforced('test/federation/login.test.ts', ['federationLink']),
  storedOnly('the provider of the user decides where passwords are verified', ['credentials.federationLink']),
  storedOnly(NO_BROKERING, [
    'federatedIdentities.identityProvider',
    'federatedIdentities.userId',
    'federatedIdentities.userName',
  ]),
  {
    requiredActions: requiredActionProviderEffects,
    'credentials.type': byProvider(
      { label: 'type of credentials', unlisted: 'users cannot log in with it' },
      enforced('test/oidc/passwords.test.ts', ['password']),
      enforced('test/login/required-actions.test.ts', ['hotp', 'otp', 'totp']),
      storedOnly(NO_WEBAUTHN, ['webauthn', 'webauthn-passwordless']),
      storedOnly('recovery codes are not supported', ['recovery-authn-codes']),
    ),
  },
)

/** The effects of the fields of groups. */
export const groupEffects: KindEffects = combineEffects(
  apiData('test/admin/groups.test.ts', ['attributes.*', 'description', 'path']),
  enforced('test/conformance/token-content.test.ts', ['clientRoles', 'realmRoles']),
)

/** The effects of the fields of roles. */
export const roleEffects: KindEffects = combineEffects(
  apiData('test/admin/role-mappings.test.ts', ['attributes.*', 'description', 'name']),
  enforced('test/conformance/token-content.test.ts', ['composites']),
)

/** The effects of the fields of organizations. */
export const organizationEffects: KindEffects = combineEffects(
  enforced('test/oidc/token-content.test.ts', ['alias', 'enabled']),
  apiData('test/admin/organizations.test.ts', [
    'attributes.*',
    'description',
    'domains.name',
    'domains.verified',
    'name',
  ]),
  enforced('test/login/organization-invitations.test.ts', ['redirectUrl']),
)

/** The effects of the fields of groups of organizations. */
export const organizationGroupEffects: KindEffects = combineEffects(
  enforced('test/oidc/organization-claims.test.ts', ['clientRoles', 'path', 'realmRoles']),
  apiData('test/admin/organization-groups.test.ts', ['attributes.*', 'description']),
)

/** The effects of the fields of workflows. */
export const workflowEffects: KindEffects = combineEffects(
  enforced('test/admin/workflow-events.test.ts', ['concurrency', 'enabled', 'if', 'on']),
  enforced('test/admin/workflow-steps.test.ts', ['steps.after', 'steps.uses', 'steps.with']),
  enforced('test/admin/workflow-runs.test.ts', ['schedule']),
  apiData('test/admin/workflows.test.ts', ['name']),
)
