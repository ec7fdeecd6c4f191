import { flag, text, textList, textMap } from './fields.ts'
import { identityProviderTypes } from './identity-provider-types.ts'
import type { Representation } from './json.ts'
import { defineKind } from './kind.ts'

/** Keycloak: IdentityProviderRepresentation. A server elsewhere at which people of the realm can log in. */
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
    alias: text('Name of the provider, as it appears in addresses; unique in its realm.'),
    displayName: text('Name of the provider as people see it.', { onPut: 'clear' }),
    providerId: text('Type of the provider: oidc, saml, github and so on.', {
      provider: {
        label: 'type of identity providers',
        supported: new Set(Object.keys(identityProviderTypes)),
        consequence: 'nobody can log in through it',
      },
      credential: true,
    }),
    enabled: flag('Whether people can log in through the provider.', { onPut: 'clear', credential: true }),
    trustEmail: flag('Whether addresses that the provider gives count as verified.', {
      onPut: 'clear',
      credential: true,
    }),
    storeToken: flag('Whether the tokens of the provider are kept.', { onPut: 'clear' }),
    addReadTokenRoleOnCreate: flag('Whether new people may read the tokens of the provider that are kept.', {
      onPut: 'clear',
    }),
    authenticateByDefault: flag('Keycloak: of an earlier form; the flow that redirects to a provider took its place.', {
      onPut: 'clear',
    }),
    linkOnly: flag('Whether people can only link an account of theirs, and not log in.', { onPut: 'clear' }),
    hideOnLogin: flag('Whether the provider is not offered at log-in.', { onPut: 'clear' }),
    firstBrokerLoginFlowAlias: text('Flow of the first log-in through the provider, in place of the realm’s.', {
      refersTo: 'authenticationFlow',
      loginControl: true,
      safeValue: 'first broker login',
      emptyIsAbsent: true,
      onPut: 'clear',
    }),
    postBrokerLoginFlowAlias: text('Flow after each log-in through the provider.', {
      refersTo: 'authenticationFlow',
      loginControl: true,
      emptyIsAbsent: true,
      onPut: 'clear',
    }),
    config: textMap('Settings of the provider, by name.', {
      secret: ['clientSecret'],
      // Social networks of one's own are named by the last two; without these, the public one is asked.
      destination: ({ tokenUrl, tokenIntrospectionUrl, userInfoUrl, logoutUrl, baseUrl, apiUrl }, { providerId }) => ({
        ...{ providerId, tokenUrl, tokenIntrospectionUrl, userInfoUrl, logoutUrl },
        ...{ baseUrl: baseUrl ?? '', apiUrl: apiUrl ?? '' },
      }),
      emptyIsAbsent: true,
      onPut: 'clear',
      credential: true,
    }),
    types: textList('What the provider can do for the realm.', { computed: true }),
    organization: text('Organization that the provider belongs to, by alias.', {
      refersTo: 'organization',
      isSeparate: true,
    }),
    organizationId: text('Id of the organization that the provider belongs to.', { computed: true }),
    updateProfileFirstLoginMode: text('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    updateProfileFirstLogin: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
  },
})

/** Keycloak: whether a provider is offered at log-in was a setting among the others, and is read as one still. */
export function removeLegacySettings(provider: Representation): Representation {
  const { hideOnLoginPage, ...config } = (provider.config ?? {}) as Representation
  if (hideOnLoginPage === undefined || hideOnLoginPage === null) return provider
  return { ...provider, config, hideOnLogin: String(hideOnLoginPage).toLowerCase() === 'true' }
}
