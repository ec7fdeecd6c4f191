import { opaque, text } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: ScopeRepresentation. An action on resources of a client, such as view. */
export const authorizationScope = defineKind({
  name: 'authorizationScope',
  title: 'authorization scope',
  representation: 'ScopeRepresentation',
  naturalKey: 'name',
  events: {
    type: 'AUTHORIZATION_SCOPE',
    paths: { client: 'clients/{parentId}/authz/resource-server/scope/{id}' },
  },
  parents: ['client'],
  isSeparate: true,
  fields: {
    name: text('Name of the scope, which is unique in the client.'),
    displayName: text('Display name of the scope.', { onPut: 'clear' }),
    iconUri: text('URI of an icon.', { onPut: 'clear' }),
    policies: opaque('Keycloak: ignored; policies refer to the scope.', { computed: true }),
    resources: opaque('Keycloak: ignored; resources refer to the scope.', { computed: true }),
  },
})
