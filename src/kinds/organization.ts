import * as z from 'zod'
import { flag, lowerCaseText, objectList, structured, text, textListMap } from './fields.ts'
import { isEmpty, type Json, type Representation } from './json.ts'
import { defineKind } from './kind.ts'

/** The computed fields of a group of an organization. */
const COMPUTED_FIELDS = ['id', 'path', 'parentId', 'subGroupCount', 'access']

/** A group of an organization. Empty values are not stored. */
const group: z.ZodType<Representation> = z.lazy(() =>
  z
    .strictObject({
      name: z.string().describe('Name of the group, which is unique in its parent group.'),
      description: z.string().nullish().describe('Description of the group.'),
      attributes: z.record(z.string(), z.array(z.string())).nullish().describe('Attributes: lists of values by name.'),
      realmRoles: z.array(z.string()).nullish().describe('Realm roles of the members of the group, by name.'),
      clientRoles: z
        .record(z.string(), z.array(z.string()))
        .nullish()
        .describe('Client roles of the members of the group, by client id and name.'),
      subGroups: z.array(group).nullish().describe('Subgroups.'),
      ...Object.fromEntries(COMPUTED_FIELDS.map((name) => [name, z.json().optional().describe('Ignored.')])),
    })
    .transform((fields) => Object.fromEntries(Object.entries(fields as Representation).filter(isStored))),
)

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
    members: 'Members of the organization: username, and membershipType MANAGED if the organization manages the user.',
    identityProviders: 'Identity providers of the organization, by alias.',
  },
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
    groups: structured(z.array(group), 'Groups of the organization, as a tree.'),
  },
})

function isStored([name, value]: [string, Json]): boolean {
  return !COMPUTED_FIELDS.includes(name) && !isEmpty(value)
}
