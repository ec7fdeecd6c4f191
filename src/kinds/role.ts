import * as z from 'zod'
import { flag, structured, text, textListMap } from './fields.ts'
import { defineKind } from './kind.ts'

const names = z.array(z.string())

/** Keycloak: the client role that allows managing the client's resources; its service account has it. */
export const UMA_PROTECTION = 'uma_protection'

/** The schema of references to roles: `{realm: names, client: {<client id>: names}}`. */
export const roleNames = z.strictObject({
  realm: names.nullish().describe('Realm roles, by name.'),
  client: z.record(z.string(), names).nullish().describe('Client roles, by client id and name.'),
})

/** Keycloak: RoleRepresentation. A realm role or client role. A composite role includes others. */
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
    name: text('Name of the role, which is unique in the realm or client.'),
    description: text('Description of the role.', { onPut: 'clear' }),
    composite: flag('Whether the role is composite, which means that it includes other roles.', {
      computed: true,
      default: false,
    }),
    clientRole: flag('Whether the role is a client role.', { computed: true }),
    containerId: text('Id of the realm or client with the role.', { computed: true }),
    composites: structured(roleNames, 'Composites: the roles that this role includes.', {
      schemaName: 'Composites',
      refersTo: 'role',
      relation: true,
      late: true,
      grants: true,
    }),
    scopeParamRequired: flag('Keycloak: legacy field, ignored.', { computed: true, legacy: true }),
    attributes: textListMap('Attributes: lists of values by name.', { onPut: 'replace', default: {} }),
  },
})
