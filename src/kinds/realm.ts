import * as z from 'zod'
import recorded from './built-in/realm.json' with { type: 'json' }
import { clientPolicies, clientProfiles } from './client-policies.ts'
import { choice, type Field, flag, integer, opaque, text, textList, textMap, textSet } from './fields.ts'
import { groupPaths } from './group.ts'
import type { Json, Representation } from './json.ts'
import { defineKind } from './kind.ts'

/** The signature algorithms of JWS (RFC 7518, section 3.1; RFC 8037) that realm keys support. */
const signatureAlgorithms = ['RS', 'PS', 'ES', 'HS']
  .flatMap((name) => [256, 384, 512].map((bits) => `${name}${bits}`))
  .concat('EdDSA')

const newRealm: Representation = recorded.settings

/** Creates a field of exports of early versions that is ignored, with a warning. */
const legacyContent = (content: string): Field<Json> =>
  opaque(`Keycloak: legacy field, ignored; ${content}.`, { computed: true, legacy: true })

/** Keycloak: RealmRepresentation. A tenant with its settings and objects. */
export const realm = defineKind({
  name: 'realm',
  title: 'realm',
  representation: 'RealmRepresentation',
  naturalKey: 'realm',
  events: { type: 'REALM', paths: {} },
  children: {
    clientScopes: 'clientScope',
    clients: 'client',
    authenticationFlows: 'authenticationFlow',
    authenticatorConfig: 'authenticatorConfig',
    requiredActions: 'requiredAction',
    roles: 'role',
    organizations: 'organization',
    identityProviders: 'identityProvider',
    identityProviderMappers: 'identityProviderMapper',
    groups: 'group',
    components: 'component',
    localizationTexts: 'localization',
    users: 'user',
    workflows: 'workflow',
  },
  alternativeFields: {
    defaultRoles: 'Keycloak: legacy field; default roles of the realm, which become composites of the default role.',
    clientTemplates: 'Keycloak: legacy field; use clientScopes.',
    applications: 'Keycloak: legacy field; use clients. The name of an application is its client id.',
    oauthClients:
      'Keycloak: legacy field; use clients, with consentRequired. The name of such a client is its client id.',
    applicationScopeMappings: 'Keycloak: legacy field; use clientScopeMappings.',
    userProfile: 'User profile configuration, in the format of keycloak-config-cli.',
    messageBundles:
      'Localization texts by locale, in the format of keycloak-config-cli; the same as localizationTexts.',
    userFederationProviders: 'Keycloak: legacy field; user federation providers, which are components.',
    userFederationMappers: 'Keycloak: legacy field; mappers of user federation providers, which are components.',
    scopeMappings: 'Realm roles in the scope of clients and client scopes.',
    clientScopeMappings: 'Client roles in the scope of clients and client scopes, by the client with the roles.',
  },
  conflict: { create: 'Realm {name} already exists', update: 'Realm with same name exists' },
  // Keycloak: login with an email address is disabled if email addresses can repeat.
  defaults: ({ duplicateEmailsAllowed }) => ({
    ...newRealm,
    enabled: false,
    loginWithEmailAllowed: duplicateEmailsAllowed !== true,
  }),
  fields: {
    realm: text('Name of the realm, which is unique and part of its URLs.'),
    displayName: text('Display name of the realm.'),
    displayNameHtml: text('Display name of the realm with HTML markup, for login pages.'),
    enabled: flag('Whether users and clients can log in to the realm.'),
    sslRequired: {
      ...choice(
        ['all', 'external', 'none'],
        'Requests that require HTTPS: all, those from public addresses (external), or none.',
      ),
      // Keycloak: accepts any case, and returns lower case.
      schema: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['all', 'external', 'none']))
        .meta({ wire: { type: 'string', enum: ['all', 'external', 'none'] } }),
    },
    notBefore: integer('Tokens issued before this time are invalid. In seconds since 1970; 0 for no limit.'),
    // Keycloak: accepts any text, and fails to issue tokens.
    defaultSignatureAlgorithm: choice(
      ['', ...signatureAlgorithms],
      'Default signature algorithm of tokens. Empty: RS256.',
    ),
    attributes: textMap('Further settings by name, such as frontendUrl.', {
      onPut: 'replace',
      loginControl: ['frontendUrl'],
    }),
    requiredCredentials: textSet('Keycloak: legacy field, ignored. Types of credentials that users need.', {
      deprecated: true,
    }),

    revokeRefreshToken: flag('Whether refresh tokens can be used only once, or refreshTokenMaxReuse times more.'),
    refreshTokenMaxReuse: integer('Number of times that a refresh token can be reused, if revokeRefreshToken is set.'),
    accessTokenLifespan: integer('Lifespan of access tokens, in seconds.'),
    accessTokenLifespanForImplicitFlow: integer('Lifespan of access tokens from the implicit flow, in seconds.'),
    ssoSessionIdleTimeout: integer('Seconds without activity after which a user session expires.'),
    ssoSessionMaxLifespan: integer('Maximum lifespan of a user session, in seconds.'),
    ssoSessionIdleTimeoutRememberMe: integer(
      'Seconds without activity after which a user session with "remember me" expires. 0: ssoSessionIdleTimeout.',
    ),
    ssoSessionMaxLifespanRememberMe: integer(
      'Maximum lifespan of a user session with "remember me", in seconds. 0: ssoSessionMaxLifespan.',
    ),
    offlineSessionIdleTimeout: integer('Seconds without activity after which an offline session expires.'),
    offlineSessionMaxLifespanEnabled: flag('Whether offline sessions have a maximum lifespan.'),
    offlineSessionMaxLifespan: integer(
      'Maximum lifespan of an offline session, in seconds, if offlineSessionMaxLifespanEnabled is set.',
    ),
    clientSessionIdleTimeout: integer(
      'Seconds without activity after which a client session expires. 0: that of the user session.',
    ),
    clientSessionMaxLifespan: integer('Maximum lifespan of a client session, in seconds. 0: that of the user session.'),
    clientOfflineSessionIdleTimeout: integer(
      'Seconds without activity after which an offline client session expires. 0: that of the offline session.',
    ),
    clientOfflineSessionMaxLifespan: integer(
      'Maximum lifespan of an offline client session, in seconds. 0: that of the offline session.',
    ),
    accessCodeLifespan: integer('Lifespan of authorization codes, in seconds.'),
    accessCodeLifespanUserAction: integer('Seconds that a user has for a required action, such as a new password.'),
    accessCodeLifespanLogin: integer('Seconds that a user has for the whole login.'),
    actionTokenGeneratedByAdminLifespan: integer('Lifespan of links in emails that administrators send, in seconds.'),
    actionTokenGeneratedByUserLifespan: integer('Lifespan of links in emails that users request, in seconds.'),
    oauth2DeviceCodeLifespan: integer('Lifespan of device codes, in seconds.', {
      onPut: 'clear',
      default: 600,
    }),
    oauth2DevicePollingInterval: integer('Seconds between the token requests of a device.', {
      onPut: 'clear',
      default: 5,
    }),

    registrationAllowed: flag('Whether users can register themselves.'),
    registrationEmailAsUsername: flag('Whether the email address is the username of users who register.'),
    rememberMe: flag('Whether users can stay logged in after the browser is closed.'),
    verifyEmail: flag('Whether users must verify their email address.'),
    loginWithEmailAllowed: flag('Whether users can log in with their email address.'),
    duplicateEmailsAllowed: flag('Whether several users can have the same email address.'),
    resetPasswordAllowed: flag('Whether login pages have a link for a forgotten password.'),
    editUsernameAllowed: flag('Whether users can change their username.'),
    userManagedAccessAllowed: flag('Whether users can manage access to their resources (User-Managed Access).'),
    passwordPolicy: text('Password policy, such as "length(8) and digits(1)".'),

    bruteForceProtected: flag('Whether failed logins lock a user (brute force detection).'),
    bruteForceStrategy: choice(
      ['MULTIPLE', 'LINEAR'],
      'Increase of the wait time: at each multiple of failureFactor (MULTIPLE), or with each further failure (LINEAR).',
      { schemaName: 'BruteForceStrategy' },
    ),
    permanentLockout: flag('Whether failed logins disable a user permanently.'),
    maxTemporaryLockouts: integer(
      'Number of temporary lockouts before a user is disabled permanently, if permanentLockout is set.',
    ),
    failureFactor: integer('Number of failed logins that lock a user.'),
    waitIncrementSeconds: integer('Seconds by which the wait time of each lockout increases.'),
    maxFailureWaitSeconds: integer('Maximum wait time of a temporary lockout, in seconds.'),
    minimumQuickLoginWaitSeconds: integer('Wait time after two failed logins in quick succession, in seconds.'),
    quickLoginCheckMilliSeconds: integer('Milliseconds between two failed logins that count as quick succession.'),
    maxDeltaTimeSeconds: integer('Seconds after which failed logins are reset.'),
    maxSecondaryAuthFailures: integer('Number of failed one-time codes that disable a user permanently. 0: no limit.'),

    otpPolicyType: choice(['totp', 'hotp'], 'Type of one-time codes: based on time (totp) or on a counter (hotp).'),
    otpPolicyAlgorithm: choice(['HmacSHA1', 'HmacSHA256', 'HmacSHA512'], 'Hash algorithm of one-time codes.'),
    otpPolicyDigits: integer('Number of digits of a one-time code.'),
    otpPolicyPeriod: integer('Seconds that a one-time code is valid, for totp.'),
    otpPolicyInitialCounter: integer('Initial value of the counter, for hotp.'),
    otpPolicyLookAheadWindow: integer(
      'Number of adjacent codes that are also accepted, for inexact clocks and counters; at most 100.',
      { loginControl: true },
    ),
    otpPolicyCodeReusable: flag('Whether a one-time code can be used more than once.', { loginControl: true }),
    otpSupportedApplications: textList('Applications that support the policy for one-time codes.', { computed: true }),

    webAuthnPolicyRpEntityName: text(
      'Name of the realm that security keys show during registration (relying party entity name).',
    ),
    webAuthnPolicyRpId: text(
      'Domain that security keys are bound to (relying party id). Empty: the domain of the server.',
    ),
    webAuthnPolicySignatureAlgorithms: textList('Signature algorithms for security keys, in order of preference.'),
    webAuthnPolicyAttestationConveyancePreference: text(
      'Attestation preference for the registration of a security key: none, indirect or direct.',
    ),
    webAuthnPolicyAuthenticatorAttachment: text(
      'Whether a security key must be part of the device (platform) or external (cross-platform).',
    ),
    webAuthnPolicyRequireResidentKey: text('Keycloak: legacy field, Yes or No; use webAuthnPolicyResidentKey.'),
    webAuthnPolicyResidentKey: text(
      'Whether a security key must be a discoverable credential: required, preferred or discouraged.',
    ),
    webAuthnPolicyUserVerificationRequirement: text(
      'Whether a security key must verify the user, by PIN or biometrics: required, preferred or discouraged.',
    ),
    webAuthnPolicyCreateTimeout: integer('Seconds for the registration of a security key. 0: no limit.'),
    webAuthnPolicyAvoidSameAuthenticatorRegister: flag('Whether a security key can be registered only once per user.'),
    webAuthnPolicyAcceptableAaguids: textSet('Accepted models of security keys, by AAGUID. Empty: all.'),
    webAuthnPolicyExtraOrigins: textSet('Further origins where security keys can be used.'),

    webAuthnPolicyPasswordlessRpEntityName: text(
      'Name of the realm that passkeys show during registration (relying party entity name).',
    ),
    webAuthnPolicyPasswordlessRpId: text(
      'Domain that passkeys are bound to (relying party id). Empty: the domain of the server.',
    ),
    webAuthnPolicyPasswordlessSignatureAlgorithms: textList(
      'Signature algorithms for passkeys, in order of preference.',
    ),
    webAuthnPolicyPasswordlessAttestationConveyancePreference: text(
      'Attestation preference for the registration of a passkey: none, indirect or direct.',
    ),
    webAuthnPolicyPasswordlessAuthenticatorAttachment: text(
      'Whether a passkey must be part of the device (platform) or external (cross-platform).',
    ),
    webAuthnPolicyPasswordlessRequireResidentKey: text(
      'Keycloak: legacy field, Yes or No; use webAuthnPolicyPasswordlessResidentKey.',
    ),
    webAuthnPolicyPasswordlessResidentKey: text(
      'Whether a passkey must be a discoverable credential: required, preferred or discouraged.',
    ),
    webAuthnPolicyPasswordlessUserVerificationRequirement: text(
      'Whether a passkey must verify the user, by PIN or biometrics: required, preferred or discouraged.',
    ),
    webAuthnPolicyPasswordlessCreateTimeout: integer('Seconds for the registration of a passkey. 0: no limit.'),
    webAuthnPolicyPasswordlessAvoidSameAuthenticatorRegister: flag(
      'Whether a passkey can be registered only once per user.',
    ),
    webAuthnPolicyPasswordlessAcceptableAaguids: textSet('Accepted models of passkeys, by AAGUID. Empty: all.'),
    webAuthnPolicyPasswordlessExtraOrigins: textSet('Further origins where passkeys can be used.'),
    webAuthnPolicyPasswordlessPasskeysEnabled: flag('Whether login pages offer passkeys.'),
    webAuthnPolicyPasswordlessMediation: text('Mediation of passkeys on login pages, such as conditional.'),

    browserSecurityHeaders: textMap('Security headers of pages, such as xFrameOptions.'),
    smtpServer: textMap('Settings for sending emails: host, port, from, user and others. Empty: no emails are sent.', {
      secret: ['password', 'authTokenClientSecret'],
      vaultSecrets: ['password', 'authTokenClientSecret'],
      destination: ({ host, port, ssl, starttls, user, authTokenUrl, authTokenClientId }) => ({
        ...{ host, user, authTokenUrl, authTokenClientId },
        ...(host !== undefined && { port: port ?? (ssl === 'true' ? '465' : '25') }),
        // Without encryption, any host on the way can read the secrets.
        ...(host !== undefined && ssl !== 'true' && starttls !== 'true' && { isUnencrypted: true }),
      }),
      onPut: 'replace',
      loginControl: true,
    }),
    loginTheme: text('Theme of login pages.'),
    accountTheme: text('Theme of the account console.'),
    adminTheme: text('Theme of the admin console.'),
    emailTheme: text('Theme of emails.'),
    internationalizationEnabled: flag("Whether pages and emails are in the user's language."),
    supportedLocales: textSet('Supported languages, such as de.', { format: 'locale' }),
    defaultLocale: text('Language of users who have not chosen one.', { format: 'locale' }),

    eventsEnabled: flag('Whether user events are stored.'),
    eventsExpiration: integer('Seconds after which user events are deleted. 0 or absent: never.'),
    eventsListeners: textSet('Event listeners, such as email.'),
    enabledEventTypes: textSet('Types of user events that are stored. Empty: the default types.'),
    adminEventsEnabled: flag('Whether admin events are stored.'),
    adminEventsDetailsEnabled: flag('Whether admin events contain the representation that was sent.'),

    browserFlow: text('Authentication flow of logins in a browser.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    registrationFlow: text('Authentication flow of registrations.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    directGrantFlow: text('Authentication flow of direct access grants (username and password sent by a client).', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    resetCredentialsFlow: text('Authentication flow for a forgotten password.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    clientAuthenticationFlow: text('Authentication flow of clients.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    dockerAuthenticationFlow: text('Authentication flow of logins to a Docker registry.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    firstBrokerLoginFlow: text('Authentication flow of the first login through an identity provider.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    defaultDefaultClientScopes: textSet('Default client scopes of new clients.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultOptionalClientScopes',
      late: 'afterTarget',
    }),
    defaultOptionalClientScopes: textSet('Optional client scopes of new clients.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultDefaultClientScopes',
      late: 'afterTarget',
    }),

    defaultGroups: groupPaths('Default groups, which new users join, by path.', { late: true, grants: true }),

    clientProfiles,
    clientPolicies,

    organizationsEnabled: flag('Whether organizations are enabled.'),
    adminPermissionsEnabled: flag('Whether fine-grained admin permissions are enabled.', {
      late: true,
    }),
    adminPermissionsClient: opaque('Client with the fine-grained admin permissions, created when they are enabled.', {
      computed: true,
    }),
    verifiableCredentialsEnabled: flag('Whether the realm issues verifiable credentials.'),
    scimApiEnabled: flag('Whether the SCIM API is enabled, for managing users and groups.'),

    defaultRole: opaque(
      'Default role, which all users have. In documents, its name if it is not default-roles-<realm>.',
      { computed: true },
    ),
    keycloakVersion: text('Version of the server that exported the realm.', { computed: true }),
    serviceVersion: text('Version of the server. Never returned, as in Keycloak.', { computed: true }),
    passwordCredentialGrantAllowed: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    userCacheEnabled: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    realmCacheEnabled: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    social: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    updateProfileOnInitialSocialLogin: flag('Keycloak: legacy field, ignored.', {
      computed: true,
      legacy: true,
    }),
    federatedUsers: legacyContent('data of federated users that the realm stores'),
    privateKey: legacyContent('the signing key'),
    publicKey: legacyContent('the public signing key'),
    certificate: legacyContent('the certificate of the signing key'),
    codeSecret: legacyContent('the secret of authorization codes'),
    protocolMappers: legacyContent('protocol mappers of the realm'),
    socialProviders: legacyContent('identity providers'),
  },
})

/**
 * The settings that are stored as attributes, with the names of these. Keycloak: returns both. In an update, the field takes precedence,
 * and replacing the attributes resets the settings that are not in the body.
 */
export const settingsStoredAsAttributes: Readonly<Record<string, string>> = {
  clientSessionIdleTimeout: 'clientSessionIdleTimeout',
  clientSessionMaxLifespan: 'clientSessionMaxLifespan',
  clientOfflineSessionIdleTimeout: 'clientOfflineSessionIdleTimeout',
  clientOfflineSessionMaxLifespan: 'clientOfflineSessionMaxLifespan',
  oauth2DeviceCodeLifespan: 'oauth2DeviceCodeLifespan',
  oauth2DevicePollingInterval: 'oauth2DevicePollingInterval',
  otpPolicyCodeReusable: 'realmReusableOtpCode',
  webAuthnPolicyExtraOrigins: 'webAuthnPolicyExtraOrigins',
  webAuthnPolicyPasswordlessExtraOrigins: 'webAuthnPolicyExtraOriginsPasswordless',
  scimApiEnabled: 'scimApiEnabled',
}

/** Returns the applications that support the realm's policy for one-time codes. */
export function listOtpApplications({
  otpPolicyType,
  otpPolicyDigits,
  otpPolicyAlgorithm,
  otpPolicyPeriod,
}: Representation): string[] {
  const isTimeBased = otpPolicyType === 'totp'
  const hasDefaultPeriod = otpPolicyPeriod === 30
  return [
    'totpAppFreeOTPName',
    ...(!isTimeBased || hasDefaultPeriod ? ['totpAppGoogleName'] : []),
    ...(isTimeBased && hasDefaultPeriod && otpPolicyDigits === 6 && otpPolicyAlgorithm === 'HmacSHA1'
      ? ['totpAppMicrosoftAuthenticatorName']
      : []),
  ]
}
