import { structured, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'
import { loginProtocols } from './login-protocols.ts'
import { roleNames } from './role.ts'

/** The client scope of clients with a service account. */
export const SERVICE_ACCOUNT_SCOPE = 'service_account'

/** Keycloak: ClientScopeRepresentation. A named set of protocol mappers and role scope mappings that clients share. */
export const clientScope = defineKind({
  name: 'clientScope',
  title: 'client scope',
  representation: 'ClientScopeRepresentation',
  naturalKey: 'name',
  events: { type: 'CLIENT_SCOPE', paths: { realm: 'client-scopes/{id}' }, omitsId: true },
  children: { protocolMappers: 'protocolMapper' },
  ignoresUnknownFields: true,
  conflict: { create: 'Client Scope {name} already exists', update: 'Client Scope {name} already exists' },
  fields: {
    name: text('Name of the client scope, as in the scope parameter.'),
    description: text('Description of the client scope.'),
    protocol: text('Protocol of the client scope: openid-connect or saml.', { values: loginProtocols }),
    scopeMappings: structured(roleNames, 'Roles that the client scope adds to the scope of its clients.', {
      refersTo: 'role',
      relation: true,
      late: true,
      isSeparate: true,
      grants: true,
    }),
    attributes: textMap('Settings by name, such as include.in.token.scope and consent.screen.text.', { default: {} }),
  },
})
