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

/** Roles that a person or a group has, in the two fields of the wire. */
export const mappedRoles = {
  realmRoles: textSet('Roles of the realm, by name.', {
    refersTo: 'role',
    relation: true,
    targetParent: 'realm',
    grants: true,
  }),
  clientRoles: structured(z.record(z.string(), names), 'Roles of clients, by client id and name.', {
    refersTo: 'role',
    relation: true,
    targetParent: 'client',
    grants: true,
  }),
}

/** Groups by path. Keycloak: the slash at the beginning may be missing. */
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
 * Keycloak: GroupRepresentation. Groups form a tree; each is known by its path, in which a slash that belongs to a name is
 * written `~/`. In documents and on the wire a group stands inside of the one that it belongs to.
 */
export const group = defineKind({
  name: 'group',
  title: 'group',
  representation: 'GroupRepresentation',
  naturalKey: 'path',
  nameField: 'name',
  events: { type: 'GROUP', paths: { realm: 'groups/{id}' } },
  fields: {
    name: text('Name of the group; unique among those beside it.', { computed: true }),
    description: text('What the group is for.', { onPut: 'clear' }),
    path: text('Names of the groups from the top down to this one, each after a slash; unique in the realm.'),
    parentId: text('Id of the group that this one belongs to.', { computed: true }),
    subGroupCount: integer('How many groups belong to this one directly.', { computed: true }),
    subGroups: opaque('Groups that belong to this one.', { computed: true, default: [] }),
    attributes: textListMap('Lists of texts by name.', { onPut: 'replace', default: {} }),
    ...mappedRoles,
    access: flagMap('What the caller may do with the group.', { computed: true }),
  },
})

/** The name as a step of a path. */
export function toPathSegment(name: string): string {
  return `/${name.replaceAll('/', '~/')}`
}

/** The path of the group that the one at the path belongs to; empty at the top. */
export function getParentPath(path: string): string {
  return path.slice(0, lastStep(path))
}

/** The name of the group at the path. */
export function getNameFromPath(path: string): string {
  return path.slice(lastStep(path) + 1).replaceAll('~/', '/')
}

/** Keycloak: the path as the wire shows it: what in it is a slash of a name cannot be told. */
export function toWirePath(path: string): string {
  return path.replaceAll('~/', '/')
}

function lastStep(path: string): number {
  let at = path.lastIndexOf('/')
  while (at > 0 && path[at - 1] === '~') at = path.lastIndexOf('/', at - 1)
  return at
}
