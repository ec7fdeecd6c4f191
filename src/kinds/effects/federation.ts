// The effects of identity providers and of components, such as keys and user federation providers.
import { apiData, byProvider, combineEffects, enforced, type KindEffects, storedOnly } from './field-effect.ts'
import { NO_BROKERING, NO_FEDERATION } from './reasons.ts'

/** The effects of the fields of identity providers. */
export const identityProviderEffects: KindEffects = combineEffects(
  apiData('test/admin/identity-providers.test.ts', ['alias', 'displayName', 'enabled']),
  enforced('test/admin/organizations.test.ts', ['organization']),
  storedOnly(NO_BROKERING, [
    'addReadTokenRoleOnCreate',
    'authenticateByDefault',
    'config.*',
    'firstBrokerLoginFlowAlias',
    'hideOnLogin',
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
        'keycloak-oidc',
        'kubernetes',
        'linkedin-openid-connect',
        'microsoft',
        'oauth2',
        'oidc',
        'openshift-v4',
        'paypal',
        'saml',
        'stackoverflow',
        'twitter',
      ]),
    ),
  },
)

/** The effects of the fields of identity provider mappers. */
export const identityProviderMapperEffects: KindEffects = combineEffects(
  storedOnly(NO_BROKERING, ['config.*', 'identityProviderMapper', 'name']),
)

/** The effects of the fields of components. */
export const componentEffects: KindEffects = combineEffects(
  enforced('test/oidc/keys.test.ts', ['config.*']),
  apiData('test/admin/components.test.ts', ['path']),
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
      storedOnly(NO_FEDERATION, [
        'certificate-ldap-mapper',
        'full-name-ldap-mapper',
        'group-ldap-mapper',
        'hardcoded-attribute-mapper',
        'hardcoded-ldap-attribute-mapper',
        'hardcoded-ldap-group-mapper',
        'hardcoded-ldap-role-mapper',
        'kerberos',
        'kerberos-principal-attribute-mapper',
        'ldap',
        'msad-lds-user-account-control-mapper',
        'msad-user-account-control-mapper',
        'role-ldap-mapper',
        'user-attribute-ldap-mapper',
      ]),
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
