import { flag, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'
import { mapperTypes } from './mapper-types.ts'

/** Keycloak: ProtocolMapperRepresentation. Puts one thing into the tokens of a client, or of the clients of a client scope. */
export const protocolMapper = defineKind({
  name: 'protocolMapper',
  title: 'protocol mapper',
  representation: 'ProtocolMapperRepresentation',
  naturalKey: 'name',
  events: {
    type: 'PROTOCOL_MAPPER',
    paths: {
      clientScope: 'client-scopes/{parentId}/protocol-mappers/models/{id}',
      client: 'clients/{parentId}/protocol-mappers/models/{id}',
    },
    omitsId: true,
  },
  conflict: { create: 'Protocol mapper exists with same name' },
  parents: ['clientScope', 'client'],
  fields: {
    name: text('Name of the mapper; unique in its client or client scope.'),
    protocol: text('Protocol that the mapper serves: openid-connect or saml.', { default: 'openid-connect' }),
    protocolMapper: text('Type of the mapper, such as oidc-usermodel-attribute-mapper.', {
      provider: {
        label: 'protocol mapper',
        supported: new Set(Object.keys(mapperTypes)),
        consequence: 'tokens do without it',
      },
    }),
    consentRequired: flag('Keycloak: of an earlier form; always false.', {
      computed: true,
      legacy: true,
      default: false,
    }),
    consentText: text('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    config: textMap('Settings of the mapper, by name.', {
      onPut: 'replace',
      default: {},
      // What the other role is called by, and so what tokens show.
      grantKeys: { role: ['role', 'new.role.name'], group: [] },
    }),
  },
})
