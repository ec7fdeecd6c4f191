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
    withoutId: true,
  },
  conflict: { create: 'Protocol mapper exists with same name' },
  parents: ['clientScope', 'client'],
  fields: {
    name: text('Name of the mapper; unique in its client or client scope.'),
    protocol: text('Protocol that the mapper serves: openid-connect or saml.', { default: 'openid-connect' }),
    protocolMapper: text('Type of the mapper, such as oidc-usermodel-attribute-mapper.', {
      provider: {
        what: 'protocol mapper',
        known: new Set(Object.keys(mapperTypes)),
        otherwise: 'tokens do without it',
      },
    }),
    consentRequired: flag('Keycloak: of an earlier form; always false.', {
      computed: true,
      earlier: true,
      default: false,
    }),
    consentText: text('Keycloak: of an earlier form; ignored.', { computed: true, earlier: true }),
    config: textMap('Settings of the mapper, by name.', {
      onPut: 'replace',
      default: {},
      // What the other role is called by, and so what tokens show.
      namesGiven: { role: ['role', 'new.role.name'], group: [] },
    }),
  },
})
