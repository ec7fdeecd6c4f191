import { flag, lowerCaseText, text, textListMap, textSet } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: ResourceRepresentation. Something that a client protects. */
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
    name: text('Name of the resource; unique in its client.'),
    displayName: text('Name of the resource as people see it.', { onPut: 'clear' }),
    type: text('What the resource has in common with others; permissions may be for all of a type.', {
      onPut: 'clear',
    }),
    uris: textSet('Addresses that the resource has in the client.', { onPut: 'clear', default: [] }),
    icon_uri: text('Address of an icon.', { onPut: 'clear' }),
    owner: lowerCaseText('Whose resource it is, by username; absent for the client’s own.', { refersTo: 'user' }),
    ownerManagedAccess: flag('Whether the owner may decide who else has access.', { onPut: 'clear', default: false }),
    scopes: textSet('What can be done with the resource: scopes of its client.', {
      refersTo: 'authorizationScope',
      relation: true,
      targetsSiblings: true,
    }),
    attributes: textListMap('Lists of texts by name.', { onPut: 'replace', default: {} }),
  },
})
