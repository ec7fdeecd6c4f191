import * as z from 'zod'
import { flag, structured, text, textListMap } from './fields.ts'
import { defineKind } from './kind.ts'

const names = z.array(z.string())

/** Roles of the realm and of clients: `{realm: names, client: {<client id>: names}}`. */
export const roleNames = z.strictObject({
  realm: names.nullish().describe('Roles of the realm, by name.'),
  client: z.record(z.string(), names).nullish().describe('Roles of clients, by client id and name.'),
})

/** Keycloak: RoleRepresentation. A role of the realm or of one client; a composite role contains others. */
export const role = defineKind({
  name: 'role',
  title: 'role',
  representation: 'RoleRepresentation',
  naturalKey: 'name',
  events: {
    type: 'REALM_ROLE',
    typeByParent: { client: 'CLIENT_ROLE' },
    paths: { realm: 'roles/{name}', client: 'clients/{parentId}/roles/{name}' },
  },
  conflict: { create: 'Role with name {name} already exists' },
  parents: ['client'],
  parentOptional: true,
  fields: {
    name: text('Name of the role; unique in its realm or client.'),
    description: text('What the role allows.', { onPut: 'clear' }),
    composite: flag('Whether the role contains other roles.', { computed: true, default: false }),
    clientRole: flag('Whether the role belongs to a client.', { computed: true }),
    containerId: text('Id of the realm or client that the role belongs to.', { computed: true }),
    composites: structured(
      roleNames,
      'Roles that the role contains: realm roles by name, client roles by client id and name.',
      { refersTo: 'role', relation: true, late: true, grants: true },
    ),
    scopeParamRequired: flag('Keycloak: of an earlier form; ignored.', { computed: true, legacy: true }),
    attributes: textListMap('Lists of texts by name.', { onPut: 'replace', default: {} }),
  },
})
