import { flag, lowerCaseText, text, textOrListMap, textSet } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: ResourceRepresentation. A resource that a client protects. */
export const authorizationResource = defineKind({
  name: 'authorizationResource',
  title: 'authorization resource',
  representation: 'ResourceRepresentation',
  naturalKey: 'name',
  idField: '_id',
  events: {
    type: 'AUTHORIZATION_RESOURCE',
    paths: { client: 'clients/{parentId}/authz/resource-server/resource/{id}' },
  },
  conflict: { create: 'Resource with name [{name}] already exists.' },
  parents: ['client'],
  isSeparate: true,
  fields: {
    name: text('Name of the resource, which is unique in the client.'),
    displayName: text('Display name of the resource.', { onPut: 'clear' }),
    type: text('Type of the resource. Permissions can be for all resources of a type.', {
      onPut: 'clear',
    }),
    uris: textSet('URIs of the resource.', { onPut: 'clear', default: [] }),
    icon_uri: text('URI of an icon.', { onPut: 'clear' }),
    owner: lowerCaseText('Owner of the resource, by username. Default: the client.', { refersTo: 'user' }),
    ownerManagedAccess: flag('Whether the owner can manage access to the resource.', {
      onPut: 'clear',
      default: false,
    }),
    scopes: textSet('Scopes of the resource, by name.', {
      refersTo: 'authorizationScope',
      relation: true,
      targetsSiblings: true,
    }),
    attributes: textOrListMap('Attributes: lists of values by name.', { onPut: 'replace', default: {} }),
  },
})
