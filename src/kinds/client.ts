import * as z from 'zod'
import { adminPermissionsDefaults, isAdminPermissions } from './admin-permissions.ts'
import { choice, flag, flagMap, integer, objectSchema, structured, text, textMap, textSet } from './fields.ts'
import { type Json, type Representation, readObject, readTexts } from './json.ts'
import { defineKind } from './kind.ts'
import { loginProtocols, OIDC } from './login-protocols.ts'
import { roleNames } from './role.ts'

/** Keycloak: the settings in ResourceServerRepresentation. */
export const authorizationSettingsFields = {
  allowRemoteResourceManagement: flag('Whether the client can manage its resources remotely.'),
  policyEnforcementMode: choice(
    ['ENFORCING', 'PERMISSIVE', 'DISABLED'],
    'Access to resources without a permission: denied (ENFORCING), granted (PERMISSIVE), or not checked at all (DISABLED).',
    { schemaName: 'PolicyEnforcementMode' },
  ),
  decisionStrategy: choice(
    ['AFFIRMATIVE', 'UNANIMOUS', 'CONSENSUS'],
    'Permissions that must grant access if there are several: one (AFFIRMATIVE), all (UNANIMOUS), or most (CONSENSUS).',
    { schemaName: 'DecisionStrategy' },
  ),
}

/** Keycloak: ClientRepresentation. An application that users log in to, or a service that requests tokens. */
export const client = defineKind({
  name: 'client',
  title: 'client',
  representation: 'ClientRepresentation',
  naturalKey: 'clientId',
  events: { type: 'CLIENT', paths: { realm: 'clients/{id}' } },
  children: {
    protocolMappers: 'protocolMapper',
    authorizationScopes: 'authorizationScope',
    authorizationResources: 'authorizationResource',
    authorizationPolicies: 'authorizationPolicy',
  },
  alternativeFields: {
    authorizationSettings: 'Resources, scopes and policies of the client, for authorization services.',
  },
  conflict: { create: 'Client {name} already exists' },
  defaults: (declared) => ({
    surrogateAuthRequired: false,
    enabled: true,
    alwaysDisplayInConsole: false,
    clientAuthenticatorType: 'client-secret',
    redirectUris: [],
    webOrigins: toWebOrigins(readTexts(declared.redirectUris)),
    notBefore: 0,
    bearerOnly: false,
    consentRequired: false,
    standardFlowEnabled: true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: declared.authorizationServicesEnabled === true,
    publicClient: false,
    frontchannelLogout: false,
    protocol: OIDC,
    attributes: { realm_client: 'false' },
    authenticationFlowBindingOverrides: {},
    fullScopeAllowed: declared.consentRequired !== true,
    nodeReRegistrationTimeout: -1,
    ...(declared.authorizationServicesEnabled === true && { authorizationSettings: defaultAuthorizationSettings }),
    ...(isAdminPermissions(declared) && adminPermissionsDefaults),
    // Keycloak: if one of the two lists is declared, the other one has no defaults of the realm.
    ...((declared.defaultClientScopes ?? declared.optionalClientScopes) == null
      ? {}
      : { defaultClientScopes: [], optionalClientScopes: [] }),
  }),
  fields: {
    clientId: text('Client id, which is unique in the realm and identifies the client in requests.'),
    name: text('Display name of the client.', { cannotAffectTokens: true }),
    description: text('Description of the client.', { cannotAffectTokens: true }),
    type: text('Type of the client, set on creation.'),
    protocol: text('Protocol of the client: openid-connect or saml.', { values: loginProtocols }),
    enabled: flag('Whether the client is enabled. Users cannot log in to a disabled client, and it gets no tokens.', {
      credential: true,
      cannotAffectTokens: true,
    }),
    rootUrl: text('Root URL, which is prepended to relative URLs of the client.', {
      credential: true,
      format: 'url',
    }),
    baseUrl: text('Home page of the client.', { format: 'url' }),
    adminUrl: text(
      'URL of the client for backchannel requests, such as logout and not-before. For SAML, for all requests.',
      { format: 'url' },
    ),
    redirectUris: textSet('Valid redirect URIs after a login. A * at the end is a wildcard.'),
    webOrigins: textSet('Allowed CORS origins. +: the origins of the redirect URIs.'),

    publicClient: flag('Whether the client is public, which means that it cannot keep a secret.', { credential: true }),
    bearerOnly: flag('Whether the client only verifies tokens and never initiates a login.'),
    clientAuthenticatorType: text('Client authenticator, such as client-secret or client-jwt.', {
      credential: true,
    }),
    secret: text('Secret of a confidential client, generated if none is given.', {
      secret: true,
      vaultSecrets: true,
      generated: true,
      credential: true,
    }),
    registrationAccessToken: text('Registration access token, with which the client can update itself.', {
      computed: true,
      secret: true,
    }),
    standardFlowEnabled: flag('Whether the client can use the standard flow (authorization codes).'),
    implicitFlowEnabled: flag('Whether the client can use the implicit flow.'),
    directAccessGrantsEnabled: flag(
      'Whether the client can use direct access grants (username and password of a user).',
    ),
    serviceAccountsEnabled: flag('Whether the client has a service account, for tokens without a user.'),
    authorizationServicesEnabled: flag(
      'Whether authorization services are enabled, which decide on access to resources of the client.',
      {
        onPut: 'clear',
      },
    ),
    authorizationSettings: {
      type: 'map',
      schema: objectSchema(authorizationSettingsFields),
      description: 'Settings of the authorization services.',
      isSeparate: true,
    },
    authenticationFlowBindingOverrides: textMap(
      "Authentication flows of this client instead of the realm's: browser, direct_grant.",
      {
        refersTo: 'authenticationFlow',
        wire: 'id',
        late: true,
        emptyIsAbsent: true,
        loginControl: true,
      },
    ),
    surrogateAuthRequired: flag('Keycloak: legacy field, without effect.'),

    consentRequired: flag('Whether users must consent to the access of the client.'),
    fullScopeAllowed: flag(
      'Whether tokens contain all roles of the user, instead of those in the scope of the client.',
      {
        loginControl: 'onUpdate',
      },
    ),
    scopeMappings: structured(
      roleNames,
      'Roles in the scope of the client. Without effect if fullScopeAllowed is set.',
      {
        refersTo: 'role',
        relation: true,
        late: true,
        isSeparate: true,
        grants: true,
      },
    ),
    defaultClientScopes: textSet('Default client scopes, which apply to all tokens of the client.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'optionalClientScopes',
      grants: 'onUpdate',
    }),
    optionalClientScopes: textSet('Optional client scopes, which the client can request.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultClientScopes',
      grants: 'onUpdate',
    }),
    frontchannelLogout: flag('Whether the client is logged out through the browser (front channel).'),
    alwaysDisplayInConsole: flag(
      'Whether the account console lists the client even if the user has no session of it.',
      {
        cannotAffectTokens: true,
      },
    ),
    notBefore: integer('Tokens issued before this time are invalid. In seconds since 1970; 0 for no limit.', {
      cannotAffectTokens: true,
    }),
    nodeReRegistrationTimeout: integer(
      'Seconds after which a cluster node of the client must register again. -1: never.',
      {
        cannotAffectTokens: true,
      },
    ),
    registeredNodes: {
      ...textMap('Registered cluster nodes of the client, with the time of the registration in seconds since 1970.'),
      schema: z.record(z.string(), z.int().nullable()),
      cannotAffectTokens: true,
    },
    attributes: textMap('Further settings by name, such as post.logout.redirect.uris.', {
      emptyIsAbsent: true,
      generated: ['client.secret.creation.time'],
      secret: [
        'saml.signing.private.key',
        'saml.encryption.private.key',
        'jwt.credential.private.key',
        'client.secret.rotated',
      ],
      credential: [
        'client.secret.rotated',
        'jwks.string',
        'jwks.url',
        'jwt.credential.certificate',
        'jwt.credential.issuer',
        'jwt.credential.public.key',
        'jwt.credential.sub',
        'use.jwks.string',
        'use.jwks.url',
        'x509.allow.regex.pattern.comparison',
        'x509.subjectdn',
      ],
      cannotAffectTokens: ['client.secret.creation.time', 'logoUri', 'policyUri', 'tosUri'],
    }),

    access: flagMap('Permissions of the caller on the client.', { computed: true }),
    origin: text('Origin of the client, if it is not the realm itself.', { computed: true }),
    defaultRoles: textSet(
      'Keycloak: legacy field; in documents, default roles of the client, which become composites of the default role.',
      {
        computed: true,
        legacy: true,
      },
    ),
    directGrantsOnly: flag(
      'Keycloak: legacy field, used only on creation: true for the password grant only, false for the authorization code only.',
      {
        computed: true,
        legacy: true,
      },
    ),
    clientTemplate: text('Keycloak: legacy field; in documents, a further client scope of the client.', {
      computed: true,
      legacy: true,
    }),
    useTemplateConfig: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    useTemplateScope: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    useTemplateMappers: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
  },
})

/** The default settings of authorization services. */
export const defaultAuthorizationSettings = {
  allowRemoteResourceManagement: true,
  policyEnforcementMode: 'ENFORCING',
  decisionStrategy: 'UNANIMOUS',
} as const

/** Reads the legacy field `directGrantsOnly` of a new client. Keycloak: it takes precedence over both fields that replace it. */
export function readDirectGrantsOnly({ directGrantsOnly, ...client }: Representation): Representation {
  if (typeof directGrantsOnly !== 'boolean') return client
  return { ...client, standardFlowEnabled: !directGrantsOnly, directAccessGrantsEnabled: directGrantsOnly }
}

/**
 * Adds the defaults for a declared protocol. Keycloak: only if a client is created on its own. In an import, and for the clients of a new
 * realm, a protocol has no defaults.
 */
export function addProtocolDefaults(declared: Representation): Representation {
  const defaults = typeof declared.protocol === 'string' ? protocolDefaults[declared.protocol] : undefined
  if (!defaults) return declared
  const { attributes: defaultAttributes, ...defaultFields } = defaults
  const fields = Object.fromEntries(Object.entries(declared).filter(([, value]) => value !== null))
  const attributes = readObject(fields.attributes)
  const hasLogoutUrl = Boolean(attributes['backchannel.logout.url'])
  return {
    ...defaultFields,
    ...fields,
    attributes:
      declared.protocol === OIDC
        ? { ...attributes, ...(hasLogoutUrl ? {} : defaultAttributes) }
        : { ...defaultAttributes, ...attributes },
  }
}

/**
 * Whether a new client gets a key to sign with. Keycloak: a SAML client that must sign, and has no certificate, if it is created on its own. It
 * replaces a declared private key.
 */
export function lacksSigningKey(declared: Representation): boolean {
  const { protocol, attributes } = addProtocolDefaults(declared)
  const { 'saml.client.signature': signs, 'saml.signing.certificate': certificate = null } = readObject(attributes)
  return protocol === 'saml' && signs === 'true' && certificate === null
}

interface ProtocolDefaults {
  readonly [field: string]: Json
  readonly attributes: Readonly<Record<string, string>>
}

const protocolDefaults: Readonly<Record<string, ProtocolDefaults>> = {
  [OIDC]: {
    standardFlowEnabled: true,
    publicClient: true,
    directAccessGrantsEnabled: true,
    attributes: { 'backchannel.logout.session.required': 'true', 'backchannel.logout.revoke.offline.tokens': 'false' },
  },
  saml: {
    frontchannelLogout: true,
    attributes: {
      'saml.allow.ecp.flow': 'false',
      'saml.authnstatement': 'true',
      'saml.client.signature': 'true',
      'saml.force.post.binding': 'true',
      'saml.server.signature': 'true',
      'saml.signature.algorithm': 'RSA_SHA256',
      saml_force_name_id_format: 'false',
      saml_name_id_format: 'username',
      saml_signature_canonicalization_method: 'http://www.w3.org/2001/10/xml-exc-c14n#',
    },
  },
}

/** Returns the origins of redirect URIs. Keycloak: the part of a URI that begins with http, up to the first slash after the host. */
export function toWebOrigins(redirectUris: readonly string[]): string[] {
  const origins = redirectUris
    .filter((uri) => uri.startsWith('http'))
    .map((uri) => {
      const slash = uri.indexOf('/', 'https://'.length)
      return slash < 0 ? uri : uri.slice(0, slash)
    })
  return [...new Set(origins)]
}
