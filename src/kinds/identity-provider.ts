import { flag, text, textList, textMap } from './fields.ts'
import { identityProviderTypes } from './identity-provider-types.ts'
import { type Representation, readObject } from './json.ts'
import { defineKind } from './kind.ts'

/** Keycloak: IdentityProviderRepresentation. An external server through which users of the realm can log in. */
export const identityProvider = defineKind({
  name: 'identityProvider',
  title: 'identity provider',
  representation: 'IdentityProviderRepresentation',
  naturalKey: 'alias',
  idField: 'internalId',
  events: { type: 'IDENTITY_PROVIDER', paths: { realm: 'identity-provider/instances/{name}' } },
  conflict: { create: 'Identity Provider {name} already exists' },
  defaults: ({ providerId }) => ({ enabled: true, config: {}, ...identityProviderTypes[String(providerId)]?.defaults }),
  fields: {
    alias: text('Alias of the identity provider, which is unique in the realm and part of its URLs.', {
      credential: true,
    }),
    displayName: text('Display name of the identity provider.', { onPut: 'clear' }),
    providerId: text('Type of the identity provider: oidc, saml, github and others.', {
      credential: true,
    }),
    enabled: flag('Whether users can log in through the identity provider.', { onPut: 'clear', credential: true }),
    trustEmail: flag('Whether email addresses from the identity provider count as verified.', {
      onPut: 'clear',
      credential: true,
    }),
    storeToken: flag('Whether tokens of the identity provider are stored.', { onPut: 'clear' }),
    addReadTokenRoleOnCreate: flag('Whether new users can read the stored tokens of the identity provider.', {
      onPut: 'clear',
    }),
    authenticateByDefault: flag('Keycloak: legacy field; use the authenticator identity-provider-redirector.', {
      onPut: 'clear',
    }),
    linkOnly: flag('Whether users can only link their account, and not log in.', { onPut: 'clear' }),
    hideOnLogin: flag('Whether the login page hides the identity provider.', { onPut: 'clear' }),
    firstBrokerLoginFlowAlias: text("Authentication flow of the first login, instead of the realm's.", {
      refersTo: 'authenticationFlow',
      loginControl: true,
      safeValue: 'first broker login',
      emptyIsAbsent: true,
      onPut: 'clear',
    }),
    postBrokerLoginFlowAlias: text('Authentication flow after each login.', {
      refersTo: 'authenticationFlow',
      loginControl: true,
      emptyIsAbsent: true,
      onPut: 'clear',
    }),
    config: textMap('Settings of the identity provider, by name.', {
      secret: ['clientSecret'],
      vaultSecrets: ['clientSecret'],
      // The last two are the URLs of a private instance. Without them, the public social network is used.
      destination: ({ tokenUrl, tokenIntrospectionUrl, userInfoUrl, logoutUrl, baseUrl, apiUrl }, { providerId }) => ({
        ...{ providerId, tokenUrl, tokenIntrospectionUrl, userInfoUrl, logoutUrl },
        ...{ baseUrl: baseUrl ?? '', apiUrl: apiUrl ?? '' },
      }),
      emptyIsAbsent: true,
      onPut: 'clear',
      credential: true,
    }),
    types: textList('Types of the identity provider.', { computed: true }),
    organization: text('Organization of the identity provider, by alias.', {
      refersTo: 'organization',
      isSeparate: true,
    }),
    organizationId: text('Id of the organization of the identity provider.', { computed: true }),
    updateProfileFirstLoginMode: text('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    updateProfileFirstLogin: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
  },
})

/** Converts a legacy setting to the field `hideOnLogin`. Keycloak: still accepts it. */
export function removeLegacySettings(provider: Representation): Representation {
  const { hideOnLoginPage, ...config } = readObject(provider.config)
  if (hideOnLoginPage === undefined || hideOnLoginPage === null) return provider
  return { ...provider, config, hideOnLogin: String(hideOnLoginPage).toLowerCase() === 'true' }
}
