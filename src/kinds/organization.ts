import * as z from 'zod'
import { flag, lowerCaseText, objectList, structured, text, textListMap } from './fields.ts'
import { isEmpty, type Json, type Representation } from './json.ts'
import { defineKind } from './kind.ts'

/** Keycloak: shown of a group of an organization, besides what it says. */
const derived = ['id', 'path', 'parentId', 'subGroupCount', 'access']

/** A group of an organization, as it is kept: without what is empty. */
const group: z.ZodType<Representation> = z.lazy(() =>
  z
    .strictObject({
      name: z.string().describe('Name of the group; unique among those beside it.'),
      description: z.string().nullish().describe('What the group is for.'),
      attributes: z.record(z.string(), z.array(z.string())).nullish().describe('Lists of texts by name.'),
      realmRoles: z.array(z.string()).nullish().describe('Roles of the realm that members of the group have, by name.'),
      clientRoles: z
        .record(z.string(), z.array(z.string()))
        .nullish()
        .describe('Roles of clients that members of the group have, by client id and name.'),
      subGroups: z.array(group).nullish().describe('Groups that belong to this one.'),
      ...Object.fromEntries(derived.map((name) => [name, z.json().optional().describe('Ignored.')])),
    })
    .transform((stated) => Object.fromEntries(Object.entries(stated as Representation).filter(says))),
)

/** Keycloak: OrganizationRepresentation. A customer or partner of the realm, whose people are people of the realm too. */
export const organization = defineKind({
  name: 'organization',
  title: 'organization',
  representation: 'OrganizationRepresentation',
  naturalKey: 'alias',
  // An alias that is not stated is the name.
  nameField: 'name',
  events: { type: 'ORGANIZATION', paths: { realm: 'organizations/{id}' } },
  conflict: { create: 'A organization with the same alias already exists' },
  alternativeFields: {
    members: 'People who belong to the organization: username, and membershipType MANAGED where it made their account.',
    identityProviders: 'Identity providers of the organization, each by its alias.',
  },
  fields: {
    name: text('Name of the organization as people see it; unique in the realm.'),
    alias: text(
      'Name of the organization in addresses and scopes; unique in the realm, and stays. Without it, the name.',
    ),
    enabled: flag('Whether people can log in by way of the organization.', { onPut: 'clear', default: true }),
    description: text('What the organization is.', { onPut: 'clear' }),
    redirectUrl: text('Where people go who have accepted an invitation.', { onPut: 'clear' }),
    attributes: textListMap('Lists of texts by name.', { onPut: 'replace', default: {} }),
    domains: objectList(
      {
        name: lowerCaseText('Name of the domain; in one organization of the realm.'),
        verified: flag('Whether the domain is known to be theirs; false unless it says otherwise.'),
      },
      'Domains of mail addresses of the organization.',
      { storedSeparately: true, onPut: 'clear', elementKey: 'name', optionalMembers: ['verified'] },
    ),
    groups: structured(z.array(group), 'Groups inside of the organization, as a tree.'),
  },
})

function says([name, value]: [string, Json]): boolean {
  return !derived.includes(name) && !isEmpty(value)
}
