// The effects of identity providers and of components, such as keys and user federation providers.
import { apiData, byProvider, combineEffects, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import { NO_BROKERING, NO_KERBEROS } from './reasons.ts'

/** The tests of identity providers that issue assertions of clients. */
const ISSUERS = 'test/oidc/federated-clients.test.ts'
/** An identity provider that only issues assertions of clients, since users do not see it. */
const FOR_CLIENTS_ONLY = { hideOnLogin: true, 'config.supportsClientAssertions': 'true' }

/** The effects of the fields of identity providers. */
export const identityProviderEffects: KindEffects = combineEffects(
  apiData('test/admin/identity-providers.test.ts', ['displayName']),
  enforced('test/admin/organizations.test.ts', ['organization']),
  enforced(ISSUERS, [
    'alias',
    'config.allowClientIdAsAudience',
    'config.allowedClockSkew',
    'config.clientId',
    'config.fedClientAssertionMaxExp',
    'config.issuer',
    'config.jwksUrl',
    'config.publicKeySignatureVerifier',
    'config.publicKeySignatureVerifierKeyId',
    'config.supportsClientAssertionReuse',
    'config.supportsClientAssertions',
    'config.useJwksUrl',
    'enabled',
  ]),
  {
    hideOnLogin: { effect: 'stored only', reason: NO_BROKERING, unlessFields: FOR_CLIENTS_ONLY },
    'config.validateSignature': { effect: 'stored only', reason: NO_BROKERING, unlessFields: FOR_CLIENTS_ONLY },
  },
  storedOnly(NO_BROKERING, [
    'addReadTokenRoleOnCreate',
    'authenticateByDefault',
    'config.*',
    'firstBrokerLoginFlowAlias',
    'linkOnly',
    'postBrokerLoginFlowAlias',
    'storeToken',
    'trustEmail',
  ]),
  {
    providerId: byProvider(
      { label: 'identity provider type', unlisted: NO_BROKERING },
      storedOnly(NO_BROKERING, [
        'bitbucket',
        'facebook',
        'github',
        'gitlab',
        'google',
        'jwt-authorization-grant',
        'linkedin-openid-connect',
        'microsoft',
        'oauth2',
        'openshift-v4',
        'paypal',
        'saml',
        'stackoverflow',
        'twitter',
      ]),
      enforced(ISSUERS, ['kubernetes']),
      Object.fromEntries(
        ['keycloak-oidc', 'oidc'].map((id) => [
          id,
          { effect: 'stored only', reason: NO_BROKERING, unlessFields: FOR_CLIENTS_ONLY },
        ]),
      ),
    ),
  },
)

/** The effects of the fields of identity provider mappers. */
export const identityProviderMapperEffects: KindEffects = combineEffects(
  storedOnly(NO_BROKERING, ['config.*', 'identityProviderMapper', 'name']),
)

/** The effects of settings of user federation providers. */
const userStoreSettings = combineEffects(
  enforced('test/federation/login.test.ts', [
    'config.authType',
    'config.bindCredential',
    'config.bindDn',
    'config.customUserSearchFilter',
    'config.enabled',
    'config.priority',
    'config.removeInvalidUsersEnabled',
    'config.searchScope',
    'config.trustEmail',
    'config.userObjectClasses',
    'config.usernameLDAPAttribute',
    'config.usersDn',
  ]),
  enforced('test/federation/connections.test.ts', [
    'config.connectionTimeout',
    'config.connectionUrl',
    'config.pagination',
    'config.readTimeout',
    'config.startTls',
  ]),
  enforced('test/federation/active-directory.test.ts', ['config.uuidLDAPAttribute', 'config.vendor']),
  enforced('test/federation/synchronization.test.ts', ['config.batchSizeForSync']),
  enforced('test/federation/writes.test.ts', [
    'config.editMode',
    'config.rdnLDAPAttribute',
    'config.relativeCreateDn',
    'config.syncRegistrations',
    'config.usePasswordModifyExtendedOp',
    'config.validatePasswordPolicy',
  ]),
  enforced('test/federation/scheduled-synchronization.test.ts', ['config.changedSyncPeriod', 'config.fullSyncPeriod']),
  storedOnly(NO_KERBEROS, [
    'config.allowKerberosAuthentication',
    'config.allowPasswordAuthentication',
    'config.debug',
    'config.kerberosRealm',
    'config.keyTab',
    'config.krbPrincipalAttribute',
    'config.serverPrincipal',
    'config.updateProfileFirstLogin',
    'config.useKerberosForPasswordAuthentication',
  ]),
  {
    'config.importEnabled': {
      effect: 'stored only',
      reason: 'users of a directory who log in or are found are stored in the realm; only synchronizations are off',
      values: [['false']],
    },
  },
  storedOnly('each use of a directory opens a connection', ['config.connectionPooling']),
  storedOnly('the requests to directories are not logged', ['config.connectionTrace']),
  storedOnly('the policies of directories for passwords are not evaluated', ['config.enableLdapPasswordPolicy']),
  storedOnly('Regent records the synchronizations itself', ['config.lastSync']),
  storedOnly('referrals are ignored', ['config.referral'], [['ignore']]),
  storedOnly(
    'certificates are always verified with the certificate authorities of the server',
    ['config.useTruststoreSpi'],
    [['always'], ['ldapsOnly']],
  ),
  storedOnly(
    'users of directories are not cached',
    ['config.cachePolicy', 'config.evictionDay', 'config.evictionHour', 'config.evictionMinute', 'config.maxLifespan'],
    [['DEFAULT'], ['NO_CACHE']],
  ),
)

/** The effects of settings of LDAP mappers. */
const ldapMapperSettings = combineEffects(
  enforced('test/federation/mappers.test.ts', [
    'config.attribute.default.value',
    'config.attribute.force.default',
    'config.attribute.value',
    'config.group',
    'config.is.der.formatted',
    'config.is.mandatory.in.ldap',
    'config.ldap.attribute.name',
    'config.ldap.attribute.value',
    'config.ldap.full.name.attribute',
    'config.read.only',
    'config.role',
    'config.write.only',
  ]),
  enforced('test/federation/synchronization.test.ts', [
    'config.client.id',
    'config.drop.non.existing.groups.during.sync',
    'config.group.name.ldap.attribute',
    'config.group.object.classes',
    'config.groups.dn',
    'config.groups.ldap.filter',
    'config.groups.path',
    'config.groups.relative.create.dn',
    'config.ignore.missing.groups',
    'config.is.binary.attribute',
    'config.ldap.attribute',
    'config.mapped.group.attributes',
    'config.memberof.ldap.attribute',
    'config.membership.attribute.type',
    'config.membership.ldap.attribute',
    'config.membership.user.ldap.attribute',
    'config.mode',
    'config.preserve.group.inheritance',
    'config.role.name.ldap.attribute',
    'config.role.object.classes',
    'config.roles.dn',
    'config.roles.ldap.filter',
    'config.roles.relative.create.dn',
    'config.use.realm.roles.mapping',
    'config.user.model.attribute',
    'config.user.roles.retrieve.strategy',
  ]),
  storedOnly('entries are read when users log in, are searched for, or are synchronized', [
    'config.always.read.enabled.value.from.ldap',
    'config.always.read.value.from.ldap',
  ]),
  storedOnly('binary attributes are not imported', ['config.binary.attribute.decoder']),
  storedOnly('attributes of groups are texts', ['config.decode.group.uuid.attribute']),
  storedOnly('the policies of directories for passwords are not evaluated', [
    'config.ldap.password.policy.hints.enabled',
  ]),
)

/** The effects of the fields of components. */
export const componentEffects: KindEffects = combineEffects(
  enforced('test/oidc/keys.test.ts', ['config.*']),
  apiData('test/admin/components.test.ts', ['path']),
  userStoreSettings,
  ldapMapperSettings,
  {
    providerId: byProvider(
      { label: 'component', unlisted: 'it has no effect' },
      enforced('test/oidc/keys.test.ts', [
        'aes-generated',
        'ecdh-generated',
        'ecdsa-generated',
        'eddsa-generated',
        'hmac-generated',
        'rsa',
        'rsa-enc',
        'rsa-enc-generated',
        'rsa-generated',
      ]),
      enforced('test/admin/users.test.ts', ['declarative-user-profile']),
      enforced('test/oidc/key-stores.test.ts', ['java-keystore']),
      enforced('test/federation/login.test.ts', ['ldap']),
      enforced('test/federation/synchronization.test.ts', [
        'group-ldap-mapper',
        'role-ldap-mapper',
        'user-attribute-ldap-mapper',
      ]),
      enforced('test/federation/mappers.test.ts', [
        'certificate-ldap-mapper',
        'full-name-ldap-mapper',
        'hardcoded-attribute-mapper',
        'hardcoded-ldap-attribute-mapper',
        'hardcoded-ldap-group-mapper',
        'hardcoded-ldap-role-mapper',
      ]),
      enforced('test/federation/active-directory.test.ts', [
        'msad-lds-user-account-control-mapper',
        'msad-user-account-control-mapper',
      ]),
      storedOnly(NO_KERBEROS, ['kerberos', 'kerberos-principal-attribute-mapper']),
      enforced('test/oidc/registration/registration-policies.test.ts', [
        'allowed-client-templates',
        'allowed-protocol-mappers',
        'client-disabled',
        'consent-required',
        'max-clients',
        'registration-web-origins',
        'scope',
        'trusted-hosts',
      ]),
    ),
  },
)
