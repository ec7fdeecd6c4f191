import * as z from 'zod'
import { flagMap, integer, opaque, structured, text, textListMap, textSet } from './fields.ts'
import { defineKind } from './kind.ts'

const roles = { refersTo: 'role', relation: true } as const

/**
 * Keycloak: GroupRepresentation. A group of members of one organization. Its members do not get its roles, which are
 * only part of the organization claim.
 */
export const organizationGroup = defineKind({
  name: 'organizationGroup',
  title: 'organization group',
  representation: 'OrganizationGroupRepresentation',
  naturalKey: 'path',
  nameField: 'name',
  parents: ['organization'],
  isSeparate: true,
  events: { type: 'ORGANIZATION_GROUP', paths: { organization: 'organizations/{parentId}/groups/{id}' } },
  conflict: { create: 'Group with the given name already exists.' },
  fields: {
    name: text('Name of the group, which is unique in its parent group.', { computed: true }),
    description: text('Description of the group.', { onPut: 'clear' }),
    path: text(
      'Path: the names of the ancestors and of the group, each after a slash. It is unique in the organization.',
    ),
    parentId: text('Id of the parent group.', { computed: true }),
    subGroupCount: integer('Number of direct subgroups.', { computed: true }),
    subGroups: opaque('Subgroups.', { computed: true, default: [] }),
    attributes: textListMap('Attributes: lists of values by name.', { onPut: 'replace', default: {} }),
    realmRoles: textSet('Realm roles in the organization claim of members, by name.', {
      ...roles,
      targetParent: 'realm',
    }),
    clientRoles: structured(
      z.record(z.string(), z.array(z.string())),
      'Client roles in the organization claim of members, by client id and name.',
      { ...roles, targetParent: 'client' },
    ),
    access: flagMap('Permissions of the caller on the group.', { computed: true }),
  },
})
