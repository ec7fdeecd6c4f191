// The request bodies and query parameters of the protection API.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { bodies } from '../admin/authorization-schemas.ts'
import type { BodyForm } from '../body.ts'
import { page, queryFlag } from '../query.ts'

const text = z.string().nullish()
const texts = z.array(z.string()).nullish()
const scopes = bodies.resource.schema.shape.scopes

/** The request bodies. */
export const bodyForms = {
  resource: {
    schema: bodies.resource.schema.extend({ resource_scopes: scopes }),
    description: 'The resource.',
    representation: 'UmaResourceRepresentation',
  },
  permissions: {
    schema: z
      .array(
        z.strictObject({
          resource_id: text,
          resource_scopes: texts,
          claims: z.record(z.string(), z.array(z.string())).nullish(),
        }),
      )
      .nullish(),
    description: 'The permissions.',
    representation: 'PermissionRequest',
    optional: true,
  },
  ticket: {
    schema: z
      .strictObject({
        ...{ id: text, owner: text, resource: text, scope: text, scopeName: text, resourceName: text },
        ...{ requester: text, ownerName: text, requesterName: text, granted: z.boolean().nullish() },
      })
      .nullable(),
    description: 'The ticket.',
    representation: 'PermissionTicketRepresentation',
  },
  policy: {
    schema: z.strictObject({
      ...{ id: text, name: text, description: text, type: text, owner: text, condition: text },
      ...{
        resources: texts,
        scopes: texts,
        policies: texts,
        roles: texts,
        groups: texts,
        clients: texts,
        users: texts,
      },
      logic: kinds.authorizationPolicy.fields.logic!.schema.nullish(),
      decisionStrategy: kinds.authorizationPolicy.fields.decisionStrategy!.schema.nullish(),
    }),
    description: 'The policy.',
    representation: 'UmaPermissionRepresentation',
  },
} satisfies Record<string, BodyForm>

const queryText = z.string().optional()
/** The query parameters of lists. */
export const queries = {
  resources: z.object({
    ...{ _id: queryText, name: queryText, uri: queryText, owner: queryText, type: queryText, scope: queryText },
    ...{ exactName: queryFlag, matchingUri: queryFlag, deep: queryFlag },
    ...page,
  }),
  tickets: z.object({
    ...{ scopeId: queryText, resourceId: queryText, owner: queryText, requester: queryText },
    ...{ granted: queryFlag, returnNames: queryFlag },
    ...page,
  }),
  policies: z.object({ name: queryText, resource: queryText, scope: queryText, ...page }),
}
