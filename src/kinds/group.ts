import * as z from 'zod'
import {
  type Field,
  type FieldFacts,
  flagMap,
  integer,
  opaque,
  structured,
  text,
  textListMap,
  textSet,
} from './fields.ts'
import { defineKind } from './kind.ts'

const names = z.array(z.string())

/** The role mappings of a user or group. */
export const mappedRoles = {
  realmRoles: textSet('Realm roles, by name.', {
    refersTo: 'role',
    relation: true,
    targetParent: 'realm',
    grants: true,
  }),
  clientRoles: structured(z.record(z.string(), names), 'Client roles, by client id and name.', {
    refersTo: 'role',
    relation: true,
    targetParent: 'client',
    grants: true,
  }),
}

/** Creates a field with groups by path. Keycloak: the slash at the beginning is optional. */
export const groupPaths = (description: string, facts: FieldFacts = {}): Field<readonly string[]> => ({
  ...textSet(description, { refersTo: 'group', relation: true, ...facts }),
  schema: z.array(
    z
      .string()
      .transform((path) => (path.startsWith('/') ? path : `/${path}`))
      .meta({ wire: { type: 'string' } }),
  ),
})

/**
 * Keycloak: GroupRepresentation. Groups form a tree, and the natural key is the path, with `~/` for a slash in a name. In documents and
 * REST, subgroups are in their parent.
 */
export const group = defineKind({
  name: 'group',
  title: 'group',
  representation: 'GroupRepresentation',
  naturalKey: 'path',
  nameField: 'name',
  events: { type: 'GROUP', paths: { realm: 'groups/{id}' } },
  fields: {
    name: text('Name of the group, which is unique in its parent group.', { computed: true }),
    description: text('Description of the group.', { onPut: 'clear' }),
    path: text('Path: the names of the ancestors and of the group, each after a slash. It is unique in the realm.'),
    parentId: text('Id of the parent group.', { computed: true }),
    subGroupCount: integer('Number of direct subgroups.', { computed: true }),
    subGroups: opaque('Subgroups.', { computed: true, default: [] }),
    attributes: textListMap('Attributes: lists of values by name.', { onPut: 'replace', default: {} }),
    ...mappedRoles,
    access: flagMap('Permissions of the caller on the group.', { computed: true }),
  },
})

/** Converts a name to a segment of a path. */
export function toPathSegment(name: string): string {
  return `/${name.replaceAll('/', '~/')}`
}

/** Returns the path of the parent group; empty at the top level. */
export function getParentPath(path: string): string {
  return path.slice(0, findLastSegment(path))
}

/** Returns the name of the group with a path. */
export function getNameFromPath(path: string): string {
  return path.slice(findLastSegment(path) + 1).replaceAll('~/', '/')
}

/** Returns the path as REST shows it. Keycloak: slashes in names are not escaped there. */
export function toWirePath(path: string): string {
  return path.replaceAll('~/', '/')
}

function findLastSegment(path: string): number {
  let index = path.lastIndexOf('/')
  while (index > 0 && path[index - 1] === '~') index = path.lastIndexOf('/', index - 1)
  return index
}
