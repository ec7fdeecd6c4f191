import { flag, lowerCaseText, objectList, text, textListMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: OrganizationRepresentation. A customer or partner with members among the users of the realm. */
export const organization = defineKind({
  name: 'organization',
  title: 'organization',
  representation: 'OrganizationRepresentation',
  naturalKey: 'alias',
  // The default alias is the name.
  nameField: 'name',
  events: { type: 'ORGANIZATION', paths: { realm: 'organizations/{id}' } },
  conflict: { create: 'A organization with the same alias already exists' },
  alternativeFields: {
    members:
      'Members of the organization: username, membershipType MANAGED if the organization manages the user, and the paths of their groups.',
    identityProviders: 'Identity providers of the organization, by alias.',
    groups: 'Groups of the organization, as a tree.',
  },
  children: { groups: 'organizationGroup' },
  fields: {
    name: text('Name of the organization, which is unique in the realm.'),
    alias: text(
      'Alias of the organization in URLs and scopes, which is unique in the realm and cannot be changed. Default: the name.',
    ),
    enabled: flag('Whether members can log in through the organization.', { onPut: 'clear', default: true }),
    description: text('Description of the organization.', { onPut: 'clear' }),
    redirectUrl: text('URL that users are redirected to after accepting an invitation.', {
      onPut: 'clear',
      format: 'url',
    }),
    attributes: textListMap('Attributes: lists of values by name.', { onPut: 'replace', default: {} }),
    domains: objectList(
      {
        name: lowerCaseText('Name of the domain, which can be in only one organization of the realm.'),
        verified: flag('Whether the domain is verified. Default: false.'),
      },
      'Email domains of the organization.',
      {
        schemaName: 'OrganizationDomainRepresentation',
        storedSeparately: true,
        onPut: 'clear',
        elementKey: 'name',
        optionalMembers: ['verified'],
      },
    ),
  },
})
