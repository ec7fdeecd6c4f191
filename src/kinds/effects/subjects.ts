// The effects of users, groups, roles and organizations.
import { requiredActionProviderEffects } from './authentication.ts'
import { byProvider, combineEffects, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import { NO_BROKERING, NO_FEDERATION, NO_WEBAUTHN } from './reasons.ts'

/** The effects of the fields of users. */
export const userEffects: KindEffects = combineEffects(
  enforced('test/admin/users.test.ts', [
    'attributes.*',
    'createdTimestamp',
    'credentials.createdDate',
    'credentials.id',
    'credentials.priority',
    'credentials.userLabel',
    'email',
    'firstName',
    'lastName',
    'username',
  ]),
  enforced('test/oidc/tokens.test.ts', ['enabled']),
  enforced('test/login/required-actions.test.ts', ['emailVerified']),
  enforced('test/oidc/token-validity.test.ts', ['notBefore']),
  enforced('test/oidc/token-content.test.ts', ['clientRoles', 'groups', 'realmRoles']),
  enforced('test/admin/organizations.test.ts', ['managedBy', 'organizations']),
  enforced('test/oidc/passwords.test.ts', [
    'credentials.algorithm',
    'credentials.config',
    'credentials.counter',
    'credentials.credentialData',
    'credentials.device',
    'credentials.digits',
    'credentials.hashIterations',
    'credentials.period',
    'credentials.salt',
    'credentials.secretData',
    'credentials.value',
  ]),
  enforced('test/reconcile/users.test.ts', ['credentials.hashedSaltedValue', 'credentials.temporary']),
  enforced('test/login/changes-during-login.test.ts', [
    'clientConsents.clientId',
    'clientConsents.createdDate',
    'clientConsents.grantedClientScopes',
    'clientConsents.lastUpdatedDate',
  ]),
  enforced('test/reconcile/service-accounts.test.ts', ['serviceAccountClientId']),
  storedOnly(NO_FEDERATION, ['credentials.federationLink', 'federationLink']),
  storedOnly(NO_BROKERING, [
    'federatedIdentities.identityProvider',
    'federatedIdentities.userId',
    'federatedIdentities.userName',
  ]),
  {
    requiredActions: requiredActionProviderEffects,
    'credentials.type': byProvider(
      { label: 'type of credentials', unlisted: 'users cannot log in with it' },
      enforced('test/oidc/passwords.test.ts', ['password', 'hotp']),
      enforced('test/admin/users.test.ts', ['otp', 'totp']),
      storedOnly(NO_WEBAUTHN, ['webauthn', 'webauthn-passwordless']),
      storedOnly('recovery codes are not supported', ['recovery-authn-codes']),
    ),
  },
)

/** The effects of the fields of groups. */
export const groupEffects: KindEffects = combineEffects(
  enforced('test/admin/groups.test.ts', ['attributes.*', 'description', 'path']),
  enforced('test/oidc/token-content.test.ts', ['clientRoles', 'realmRoles']),
)

/** The effects of the fields of roles. */
export const roleEffects: KindEffects = combineEffects(
  enforced('test/admin/role-mappings.test.ts', ['attributes.*', 'description', 'name']),
  enforced('test/oidc/token-content.test.ts', ['composites']),
)

/** The effects of the fields of organizations. */
export const organizationEffects: KindEffects = combineEffects(
  enforced('test/admin/organizations.test.ts', [
    'alias',
    'attributes.*',
    'description',
    'domains.name',
    'domains.verified',
    'enabled',
    'name',
  ]),
  storedOnly('invitations have no page to lead to', ['redirectUrl']),
  storedOnly('they have no members', ['groups']),
)
