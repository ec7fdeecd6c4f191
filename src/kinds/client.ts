import * as z from 'zod'
import { adminPermissionsDefaults, isAdminPermissions } from './admin-permissions.ts'
import { clientAuthenticators } from './authentication-providers.ts'
import { choice, flag, flagMap, integer, objectSchema, structured, text, textMap, textSet } from './fields.ts'
import type { Representation } from './json.ts'
import { defineKind } from './kind.ts'
import { roleNames } from './role.ts'

/** Keycloak: the settings of ResourceServerRepresentation. */
export const authorizationSettingsFields = {
  allowRemoteResourceManagement: flag('Whether the client itself may manage its resources.'),
  policyEnforcementMode: choice(
    ['ENFORCING', 'PERMISSIVE', 'DISABLED'],
    'Whether what has no permission is refused, granted, or nothing is looked at.',
  ),
  decisionStrategy: choice(
    ['AFFIRMATIVE', 'UNANIMOUS', 'CONSENSUS'],
    'What several permissions must say: one of them yes, all of them, or most.',
  ),
}

/** Keycloak: ClientRepresentation. An application that people log in to, or a service that asks for tokens. */
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
    authorizationSettings:
      'Resources of the client, scopes and policies; counts where authorization services are enabled.',
  },
  conflict: { create: 'Client {name} already exists' },
  defaults: (stated) => ({
    surrogateAuthRequired: false,
    enabled: true,
    alwaysDisplayInConsole: false,
    clientAuthenticatorType: 'client-secret',
    redirectUris: [],
    webOrigins: toWebOrigins((stated.redirectUris ?? []) as string[]),
    notBefore: 0,
    bearerOnly: false,
    consentRequired: false,
    standardFlowEnabled: stated.directGrantsOnly !== true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: stated.directGrantsOnly === true,
    serviceAccountsEnabled: stated.authorizationServicesEnabled === true,
    publicClient: false,
    frontchannelLogout: false,
    protocol: OIDC,
    attributes: { realm_client: 'false' },
    authenticationFlowBindingOverrides: {},
    fullScopeAllowed: stated.consentRequired !== true,
    nodeReRegistrationTimeout: -1,
    ...(stated.authorizationServicesEnabled === true && { authorizationSettings: defaultAuthorizationSettings }),
    ...(isAdminPermissions(stated) && adminPermissionsDefaults),
    // Keycloak: who states one of the two lists gets nothing from the realm for the other.
    ...((stated.defaultClientScopes ?? stated.optionalClientScopes) == null
      ? {}
      : { defaultClientScopes: [], optionalClientScopes: [] }),
  }),
  fields: {
    clientId: text('Name of the client, as it appears in requests; unique in its realm.'),
    name: text('Name of the client as people see it.', { cannotAffectTokens: true }),
    description: text('What the client is for.', { cannotAffectTokens: true }),
    type: text('Type that the client follows; set when it is created.'),
    protocol: text('Protocol that the client speaks: openid-connect or saml.'),
    enabled: flag('Whether the client can be used.', { credential: true, cannotAffectTokens: true }),
    rootUrl: text('Address that relative addresses of the client start from, that of its keys among them.', {
      credential: true,
    }),
    baseUrl: text('Page that a link to the client leads to.'),
    adminUrl: text('Address at which the client is told of log-outs and revocations; for SAML, of everything.'),
    redirectUris: textSet('Addresses that a log-in may return to; a * at the end stands for anything.'),
    webOrigins: textSet('Origins whose scripts may call the realm; + for those of the redirect URIs.'),

    publicClient: flag('Whether the client cannot keep a secret, as in a browser or on a phone.', { credential: true }),
    bearerOnly: flag('Whether the client only checks tokens and never starts a log-in.'),
    clientAuthenticatorType: text('How the client proves who it is, such as client-secret or client-jwt.', {
      provider: {
        label: 'client authenticator',
        supported: clientAuthenticators,
        consequence: 'the client gets no tokens',
      },
      credential: true,
    }),
    secret: text('Secret of a confidential client; made when none is stated.', {
      secret: true,
      generated: true,
      credential: true,
    }),
    registrationAccessToken: text('Token with which the client may change itself.', { computed: true, secret: true }),
    standardFlowEnabled: flag('Whether people log in with a browser that returns with a code.'),
    implicitFlowEnabled: flag('Whether people log in with a browser that returns with tokens.'),
    directAccessGrantsEnabled: flag('Whether the client may send username and password of people.'),
    serviceAccountsEnabled: flag('Whether the client may get tokens for itself; it has a user of its own then.'),
    authorizationServicesEnabled: flag('Whether permissions on resources of the client are decided here.', {
      onPut: 'clear',
    }),
    authorizationSettings: {
      type: 'map',
      schema: objectSchema(authorizationSettingsFields),
      description: 'How permissions on resources of the client are decided.',
      isSeparate: true,
    },
    authenticationFlowBindingOverrides: textMap(
      'Flows of this client in place of those of the realm: browser, direct_grant.',
      {
        refersTo: 'authenticationFlow',
        wire: 'id',
        late: true,
        emptyIsAbsent: true,
        loginControl: true,
      },
    ),
    surrogateAuthRequired: flag('Keycloak: of an earlier form; without effect.'),

    consentRequired: flag('Whether people must agree to what the client learns about them.'),
    fullScopeAllowed: flag('Whether tokens show all roles of a person, whatever the scope of the client.', {
      loginControl: 'onUpdate',
    }),
    scopeMappings: structured(roleNames, 'Roles that tokens of the client may show where it has not the full scope.', {
      refersTo: 'role',
      relation: true,
      late: true,
      isSeparate: true,
      grants: true,
    }),
    defaultClientScopes: textSet('Client scopes that every token of the client follows.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'optionalClientScopes',
      grants: 'onUpdate',
    }),
    optionalClientScopes: textSet('Client scopes that the client may ask for.', {
      refersTo: 'clientScope',
      relation: true,
      exclusiveWith: 'defaultClientScopes',
      grants: 'onUpdate',
    }),
    frontchannelLogout: flag('Whether log-out tells the client through the browser.'),
    alwaysDisplayInConsole: flag('Whether people see the client in their account before they used it.', {
      cannotAffectTokens: true,
    }),
    notBefore: integer('Tokens from before this time are refused; seconds since 1970, 0 for none.', {
      cannotAffectTokens: true,
    }),
    nodeReRegistrationTimeout: integer('Seconds after which a node of the client must register again; -1 for never.', {
      cannotAffectTokens: true,
    }),
    registeredNodes: {
      ...textMap('Nodes of the client, and when each registered; seconds since 1970.'),
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
    }),

    access: flagMap('What the caller may do with the client.', { computed: true }),
    origin: text('Where the client comes from, when that is not the realm itself.', { computed: true }),
    defaultRoles: textSet('Keycloak: of an earlier form; in documents, roles of the client that everybody has.', {
      computed: true,
      legacy: true,
    }),
    directGrantsOnly: flag('Keycloak: of an earlier form; counts only when the client is created.', {
      computed: true,
      legacy: true,
    }),
    clientTemplate: text('Keycloak: of an earlier form; in documents, a client scope besides those of the realm.', {
      computed: true,
      legacy: true,
    }),
    useTemplateConfig: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    useTemplateScope: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    useTemplateMappers: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
  },
})

/** What a client that decides permissions has where it says nothing of it. */
export const defaultAuthorizationSettings = {
  allowRemoteResourceManagement: true,
  policyEnforcementMode: 'ENFORCING',
  decisionStrategy: 'UNANIMOUS',
} as const

const OIDC = 'openid-connect'

/**
 * What is stated, and what naming a protocol states besides. Keycloak: so it is for a client that is made by itself; in an
 * import, and for the clients of a new realm, a protocol is a field like any other.
 */
export function addProtocolDefaults(stated: Representation): Representation {
  const given = typeof stated.protocol === 'string' ? protocolDefaults[stated.protocol] : undefined
  if (!given) return stated
  const own = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== null))
  const attributes = (own.attributes ?? {}) as Representation
  return {
    ...given,
    ...(own.directGrantsOnly === false && { directAccessGrantsEnabled: false }),
    ...own,
    attributes:
      stated.protocol === OIDC
        ? { ...attributes, ...(attributes['backchannel.logout.url'] ? {} : (given.attributes as Representation)) }
        : { ...(given.attributes as Representation), ...attributes },
  }
}

const protocolDefaults: Readonly<Record<string, Representation>> = {
  [OIDC]: {
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

/** The origins that redirect URIs imply. Keycloak: what begins like http, up to the first slash after the scheme's. */
export function toWebOrigins(redirectUris: readonly string[]): string[] {
  const origins = redirectUris
    .filter((uri) => uri.startsWith('http'))
    .map((uri) => {
      const slash = uri.indexOf('/', 'https://'.length)
      return slash < 0 ? uri : uri.slice(0, slash)
    })
  return [...new Set(origins)]
}
