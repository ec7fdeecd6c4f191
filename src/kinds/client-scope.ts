import { structured, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'
import { roleNames } from './role.ts'

/** The client scope of clients that have an account of their own. */
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
    name: text('Name of the scope, as it appears in the scope parameter.'),
    description: text('What the scope is for.'),
    protocol: text('Protocol that the scope serves: openid-connect or saml.'),
    scopeMappings: structured(
      roleNames,
      'Roles that tokens show because of the scope, where the client has not the full scope.',
      {
        refersTo: 'role',
        relation: true,
        late: true,
        isSeparate: true,
        grants: true,
      },
    ),
    attributes: textMap('Settings by name, such as include.in.token.scope and consent.screen.text.', { default: {} }),
  },
})
