import * as z from 'zod'
import recorded from './built-in/realm.json' with { type: 'json' }
import { clientPolicies, clientProfiles } from './client-policies.ts'
import { choice, type Field, flag, integer, opaque, text, textList, textMap, textSet } from './fields.ts'
import { groupPaths } from './group.ts'
import type { Json, Representation } from './json.ts'
import { defineKind } from './kind.ts'

/** Algorithms of JWS (RFC 7518, section 3.1; RFC 8037) that keys of a realm have. */
const signatureAlgorithms = ['RS', 'PS', 'ES', 'HS']
  .flatMap((name) => [256, 384, 512].map((bits) => `${name}${bits}`))
  .concat('EdDSA')

const newRealm: Representation = recorded.settings

/** Content that exports of early versions have, which is not read: a document that declares it gets a notice. */
const unreadContent = (content: string): Field<Json> =>
  opaque(`Keycloak: of an early version; ${content}. Not read.`, { computed: true, legacy: true })

/** Keycloak: RealmRepresentation. A tenant: its settings, and everything that belongs to it. */
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
    defaultRoles: 'Keycloak: of an earlier form; roles of the realm that everybody has.',
    clientTemplates: 'Keycloak: of an earlier form; see clientScopes.',
    userProfile: 'Attributes of people, as keycloak-config-cli states them: a component is the same.',
    messageBundles: 'Texts by language, as keycloak-config-cli names them: localizationTexts are the same.',
    userFederationProviders: 'User stores as earlier versions list them: components are the same.',
    userFederationMappers: 'Mappers of user stores as earlier versions list them, each with the name of its store.',
    scopeMappings: 'Realm roles in the scope of clients and client scopes: who has which.',
    clientScopeMappings: 'Client roles in the scope of clients and client scopes, by the client whose roles they are.',
  },
  conflict: { create: 'Realm {name} already exists', update: 'Realm with same name exists' },
  // Keycloak: a new realm is disabled until it says otherwise, and log-in by address ends where addresses may repeat.
  defaults: ({ duplicateEmailsAllowed }) => ({
    ...newRealm,
    enabled: false,
    loginWithEmailAllowed: duplicateEmailsAllowed !== true,
  }),
  fields: {
    realm: text('Name of the realm; unique, and part of its address.'),
    displayName: text('Name of the realm as people see it.'),
    displayNameHtml: text('The same with HTML markup, for the pages of log-in.'),
    enabled: flag('Whether anybody can log in to the realm.'),
    sslRequired: {
      ...choice(
        ['all', 'external', 'none'],
        'Who must come over HTTPS: everybody, addresses that are not private, or nobody.',
      ),
      // Keycloak: taken in any case, shown in lower case.
      schema: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['all', 'external', 'none']))
        .meta({ wire: { type: 'string', enum: ['all', 'external', 'none'] } }),
    },
    notBefore: integer('Tokens from before this time are refused; seconds since 1970, 0 for none.'),
    // Keycloak: it keeps any text, and fails when it makes a token.
    defaultSignatureAlgorithm: choice(
      ['', ...signatureAlgorithms],
      'Algorithm that signs tokens where a client does not choose one; empty: RS256.',
    ),
    attributes: textMap('Further settings by name, such as frontendUrl.', {
      onPut: 'replace',
      loginControl: ['frontendUrl'],
    }),
    requiredCredentials: textSet('Keycloak: of an earlier form; kinds of credentials that everybody must have.'),

    revokeRefreshToken: flag('Whether a refresh token is spent by its use.'),
    refreshTokenMaxReuse: integer('How often a refresh token may be used again where it is spent by its use.'),
    accessTokenLifespan: integer('Seconds that an access token is valid.'),
    accessTokenLifespanForImplicitFlow: integer('Seconds that an access token of the implicit flow is valid.'),
    ssoSessionIdleTimeout: integer('Seconds without activity after which a session ends.'),
    ssoSessionMaxLifespan: integer('Seconds after which a session ends in any case.'),
    ssoSessionIdleTimeoutRememberMe: integer('Idle seconds of a remembered session; 0 for those of any session.'),
    ssoSessionMaxLifespanRememberMe: integer(
      'Longest life of a remembered session in seconds; 0 for that of any session.',
    ),
    offlineSessionIdleTimeout: integer('Seconds without use after which an offline session ends.'),
    offlineSessionMaxLifespanEnabled: flag('Whether offline sessions end at all while they are used.'),
    offlineSessionMaxLifespan: integer('Seconds after which an offline session ends, where offline sessions do.'),
    clientSessionIdleTimeout: integer('Idle seconds of the session of one client; 0 for those of the whole session.'),
    clientSessionMaxLifespan: integer(
      'Longest life of the session of one client in seconds; 0 for that of the whole session.',
    ),
    clientOfflineSessionIdleTimeout: integer(
      'Idle seconds of the offline session of one client; 0 for those of the whole one.',
    ),
    clientOfflineSessionMaxLifespan: integer(
      'Longest life of the offline session of one client in seconds; 0 for that of the whole one.',
    ),
    accessCodeLifespan: integer('Seconds in which a client must exchange a code for tokens.'),
    accessCodeLifespanUserAction: integer('Seconds that a person has for one step, such as a new password.'),
    accessCodeLifespanLogin: integer('Seconds that a person has for the whole log-in.'),
    actionTokenGeneratedByAdminLifespan: integer('Seconds that a link in a mail caused by an administrator is valid.'),
    actionTokenGeneratedByUserLifespan: integer(
      'Seconds that a link in a mail that people caused themselves is valid.',
    ),
    oauth2DeviceCodeLifespan: integer('Seconds that a code shown on a device is valid.', {
      onPut: 'clear',
      default: 600,
    }),
    oauth2DevicePollingInterval: integer('Seconds that a device waits before it asks again.', {
      onPut: 'clear',
      default: 5,
    }),

    registrationAllowed: flag('Whether people may sign up.'),
    registrationEmailAsUsername: flag('Whether the mail address is the username of who signs up.'),
    rememberMe: flag('Whether people may stay logged in when the browser closes.'),
    verifyEmail: flag('Whether people must confirm their mail address.'),
    loginWithEmailAllowed: flag('Whether the mail address serves as username at log-in.'),
    duplicateEmailsAllowed: flag('Whether several people may have the same mail address.'),
    resetPasswordAllowed: flag('Whether log-in offers a link for a forgotten password.'),
    editUsernameAllowed: flag('Whether people may change their username.'),
    userManagedAccessAllowed: flag('Whether people may share their resources with others.'),
    passwordPolicy: text('Rules for passwords, such as "length(8) and digits(1)".'),

    bruteForceProtected: flag('Whether failed log-ins lock an account for a while.'),
    bruteForceStrategy: choice(
      ['MULTIPLE', 'LINEAR'],
      'How waits grow: at each multiple of failureFactor, or with each failure beyond it.',
    ),
    permanentLockout: flag('Whether failed log-ins disable an account for good.'),
    maxTemporaryLockouts: integer('Temporary locks before an account is disabled for good.'),
    failureFactor: integer('Failures that lock an account.'),
    waitIncrementSeconds: integer('Seconds that each lock is longer than the one before.'),
    maxFailureWaitSeconds: integer('Longest temporary lock in seconds.'),
    minimumQuickLoginWaitSeconds: integer('Seconds of a lock after failures that follow each other too fast.'),
    quickLoginCheckMilliSeconds: integer('Milliseconds between two failures that count as too fast.'),
    maxDeltaTimeSeconds: integer('Seconds after which failures are forgotten.'),
    maxSecondaryAuthFailures: integer(
      'Failures with one-time codes before an account is disabled for good; 0 for no limit.',
    ),

    otpPolicyType: choice(['totp', 'hotp'], 'Whether one-time codes follow the time or a counter.'),
    otpPolicyAlgorithm: choice(['HmacSHA1', 'HmacSHA256', 'HmacSHA512'], 'Hash of one-time codes.'),
    otpPolicyDigits: integer('Digits of a one-time code.'),
    otpPolicyPeriod: integer('Seconds that a one-time code is shown; for codes that follow the time.'),
    otpPolicyInitialCounter: integer('Where the counter starts; for codes that follow a counter.'),
    otpPolicyLookAheadWindow: integer(
      'Neighbouring codes that are accepted too, for clocks and counters that are off; 100 at most.',
      { loginControl: true },
    ),
    otpPolicyCodeReusable: flag('Whether a one-time code may be used twice.', { loginControl: true }),
    otpSupportedApplications: textList('Known applications that can show such codes.', { computed: true }),

    webAuthnPolicyRpEntityName: text('Name of this realm as a security key shows it.'),
    webAuthnPolicyRpId: text('Domain that security keys are bound to; empty for that of the server.'),
    webAuthnPolicySignatureAlgorithms: textList('Signature algorithms for security keys, the preferred one first.'),
    webAuthnPolicyAttestationConveyancePreference: text('Whether a security key must show where it comes from.'),
    webAuthnPolicyAuthenticatorAttachment: text(
      'Whether a security key is part of the device (platform) or not (cross-platform).',
    ),
    webAuthnPolicyRequireResidentKey: text('Keycloak: of an earlier form; Yes or No, see webAuthnPolicyResidentKey.'),
    webAuthnPolicyResidentKey: text('Whether a security key must know the account by itself.'),
    webAuthnPolicyUserVerificationRequirement: text(
      'Whether a security key must recognise the person, by PIN or finger.',
    ),
    webAuthnPolicyCreateTimeout: integer('Seconds in which a security key must be registered; 0 for no limit.'),
    webAuthnPolicyAvoidSameAuthenticatorRegister: flag(
      'Whether one security key may be registered only once by a person.',
    ),
    webAuthnPolicyAcceptableAaguids: textSet('Models of security keys that are accepted, by AAGUID; empty for all.'),
    webAuthnPolicyExtraOrigins: textSet('Further origins that security keys may be used at.'),

    webAuthnPolicyPasswordlessRpEntityName: text('Name of this realm as a passkey shows it.'),
    webAuthnPolicyPasswordlessRpId: text('Domain that passkeys are bound to; empty for that of the server.'),
    webAuthnPolicyPasswordlessSignatureAlgorithms: textList(
      'Signature algorithms for passkeys, the preferred one first.',
    ),
    webAuthnPolicyPasswordlessAttestationConveyancePreference: text('Whether a passkey must show where it comes from.'),
    webAuthnPolicyPasswordlessAuthenticatorAttachment: text(
      'Whether a passkey is part of the device (platform) or not (cross-platform).',
    ),
    webAuthnPolicyPasswordlessRequireResidentKey: text(
      'Keycloak: of an earlier form; Yes or No, see webAuthnPolicyPasswordlessResidentKey.',
    ),
    webAuthnPolicyPasswordlessResidentKey: text('Whether a passkey must know the account by itself.'),
    webAuthnPolicyPasswordlessUserVerificationRequirement: text(
      'Whether a passkey must recognise the person, by PIN or finger.',
    ),
    webAuthnPolicyPasswordlessCreateTimeout: integer('Seconds in which a passkey must be registered; 0 for no limit.'),
    webAuthnPolicyPasswordlessAvoidSameAuthenticatorRegister: flag(
      'Whether one passkey may be registered only once by a person.',
    ),
    webAuthnPolicyPasswordlessAcceptableAaguids: textSet(
      'Models of passkeys that are accepted, by AAGUID; empty for all.',
    ),
    webAuthnPolicyPasswordlessExtraOrigins: textSet('Further origins that passkeys may be used at.'),
    webAuthnPolicyPasswordlessPasskeysEnabled: flag('Whether the log-in page itself offers passkeys.'),
    webAuthnPolicyPasswordlessMediation: text(
      'How the browser offers passkeys on the log-in page, such as conditional.',
    ),

    browserSecurityHeaders: textMap('Values of security headers of pages, such as xFrameOptions.'),
    smtpServer: textMap('How mail is sent: host, port, from, user and so on; empty for not at all.', {
      secret: ['password', 'authTokenClientSecret'],
      destination: ({ host, port, ssl, user, authTokenUrl, authTokenClientId }) => ({
        ...{ host, user, authTokenUrl, authTokenClientId },
        ...(host !== undefined && { port: port ?? (ssl === 'true' ? '465' : '25') }),
      }),
      onPut: 'replace',
      loginControl: true,
    }),
    loginTheme: text('Theme of the pages of log-in.'),
    accountTheme: text('Theme of the pages on which people manage their account.'),
    adminTheme: text('Theme of the administration console.'),
    emailTheme: text('Theme of mails.'),
    internationalizationEnabled: flag('Whether pages and mails follow the language of people.'),
    supportedLocales: textSet('Languages that people can choose.'),
    defaultLocale: text('Language of who chose none.'),

    eventsEnabled: flag('Whether events of people are kept.'),
    eventsExpiration: integer('Seconds that events of people are kept; 0 or absent for ever.'),
    eventsListeners: textSet('Listeners that are told of events.'),
    enabledEventTypes: textSet('Types of events of people that are kept; empty for the usual ones.'),
    adminEventsEnabled: flag('Whether events of administration are kept.'),
    adminEventsDetailsEnabled: flag('Whether events of administration show what was sent.'),

    browserFlow: text('Flow of log-in with a browser.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    registrationFlow: text('Flow of signing up.', { refersTo: 'authenticationFlow', late: true, loginControl: true }),
    directGrantFlow: text('Flow of log-in with username and password sent by a client.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    resetCredentialsFlow: text('Flow of a forgotten password.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    clientAuthenticationFlow: text('Flow in which clients prove who they are.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    dockerAuthenticationFlow: text('Flow of log-in to a container registry.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    firstBrokerLoginFlow: text('Flow of the first log-in through an identity provider.', {
      refersTo: 'authenticationFlow',
      late: true,
      loginControl: true,
    }),
    defaultDefaultClientScopes: textSet('Client scopes that a new client has at once.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultOptionalClientScopes',
      late: 'afterTarget',
    }),
    defaultOptionalClientScopes: textSet('Client scopes that a new client may ask for.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultDefaultClientScopes',
      late: 'afterTarget',
    }),

    defaultGroups: groupPaths('Groups that new people join, by path.', { late: true, grants: true }),

    clientProfiles,
    clientPolicies,

    organizationsEnabled: flag('Whether the realm has organizations.'),
    adminPermissionsEnabled: flag('Whether permissions of administrators can be limited to single objects.', {
      late: true,
    }),
    adminPermissionsClient: opaque('The client that decides these permissions; it comes with the switch.', {
      computed: true,
    }),
    verifiableCredentialsEnabled: flag('Whether the realm issues verifiable credentials.'),
    scimApiEnabled: flag('Whether people and groups can be managed over SCIM.'),

    defaultRole: opaque(
      'The role that everybody has; in documents, its name where the realm calls it otherwise than usual.',
      { computed: true },
    ),
    keycloakVersion: text('Version of the server that wrote an export.', { computed: true }),
    serviceVersion: text('Version of the server.', { computed: true }),
    passwordCredentialGrantAllowed: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    userCacheEnabled: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    realmCacheEnabled: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    social: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    updateProfileOnInitialSocialLogin: flag('Keycloak: of an earlier form; ignored.', {
      computed: true,
      legacy: true,
    }),
    federatedUsers: unreadContent('what the realm stores about the users of a user store'),
    privateKey: unreadContent('the signing key'),
    publicKey: unreadContent('the public signing key'),
    certificate: unreadContent('the certificate of the signing key'),
    codeSecret: unreadContent('the secret of authorization codes'),
    protocolMappers: unreadContent('protocol mappers of the realm'),
    socialProviders: unreadContent('identity providers'),
    applications: unreadContent('clients'),
    applicationScopeMappings: unreadContent('client roles in the scope of clients'),
    oauthClients: unreadContent('clients of third parties'),
  },
})

/**
 * Settings and the attribute that each is kept in. Keycloak: they show in both places, the field has precedence in an
 * update, and an update that replaces the attributes resets those that it does not state.
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

/** The known applications that can show one-time codes of the realm's policy. */
export function listOtpApplications({
  otpPolicyType,
  otpPolicyDigits,
  otpPolicyAlgorithm,
  otpPolicyPeriod,
}: Representation): string[] {
  const timed = otpPolicyType === 'totp'
  const usualPeriod = otpPolicyPeriod === 30
  return [
    'totpAppFreeOTPName',
    ...(!timed || usualPeriod ? ['totpAppGoogleName'] : []),
    ...(timed && usualPeriod && otpPolicyDigits === 6 && otpPolicyAlgorithm === 'HmacSHA1'
      ? ['totpAppMicrosoftAuthenticatorName']
      : []),
  ]
}
