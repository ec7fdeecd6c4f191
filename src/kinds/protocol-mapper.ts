import { flag, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'
import { loginProtocols, OIDC } from './login-protocols.ts'

/** Keycloak: ProtocolMapperRepresentation. Adds a claim or role to the tokens of a client, or of clients with a client scope. */
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
    name: text('Name of the mapper, which is unique in the client or client scope.'),
    protocol: text('Protocol of the mapper: openid-connect or saml.', { default: OIDC, values: loginProtocols }),
    protocolMapper: text('Type of the mapper, such as oidc-usermodel-attribute-mapper.', {}),
    consentRequired: flag('Keycloak: legacy field, always false.', {
      computed: true,
      legacy: true,
      default: false,
    }),
    consentText: text('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    config: textMap('Settings of the mapper, by name.', {
      onPut: 'replace',
      default: {},
      // `new.role.name` is the name of a role in tokens.
      grantKeys: { role: ['role', 'new.role.name'], group: [] },
    }),
  },
})
