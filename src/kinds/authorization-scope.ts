import { opaque, text } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: ScopeRepresentation. Something that can be done with the resources of a client, such as viewing them. */
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
    name: text('Name of the scope; unique in its client.'),
    displayName: text('Name of the scope as people see it.', { onPut: 'clear' }),
    iconUri: text('Address of an icon.', { onPut: 'clear' }),
    policies: opaque('Keycloak: without effect; policies name the scope.', { computed: true }),
    resources: opaque('Keycloak: without effect; resources name the scope.', { computed: true }),
  },
})
