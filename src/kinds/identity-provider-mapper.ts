import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: IdentityProviderMapperRepresentation. Maps data of a user at an identity provider to the user of the realm. */
export const identityProviderMapper = defineKind({
  name: 'identityProviderMapper',
  title: 'identity provider mapper',
  representation: 'IdentityProviderMapperRepresentation',
  naturalKey: 'name',
  events: {
    type: 'IDENTITY_PROVIDER_MAPPER',
    paths: { identityProvider: 'identity-provider/instances/{parentName}/mappers/{id}' },
    omitsId: true,
  },
  parents: ['identityProvider'],
  parentField: 'identityProviderAlias',
  fields: {
    name: text('Name of the mapper, which is unique in the identity provider.'),
    identityProviderAlias: text('Alias of the identity provider.', { computed: true }),
    identityProviderMapper: text('Type of the mapper, such as oidc-user-attribute-idp-mapper.', {}),
    config: textMap('Settings of the mapper, by name.', {
      emptyIsAbsent: true,
      onPut: 'clear',
      default: {},
      grantKeys: { role: ['role'], group: ['group'] },
    }),
  },
})
