// The partial import of objects into a realm.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { anyRepresentation, nameSchema } from '../../kinds/json-schema.ts'
import { getPluralTitle, type KindName } from '../../kinds/kind.ts'
import { hashCredentials } from '../../reconcile/import/import-content.ts'
import {
  importedTypes,
  importPartially,
  importPolicies,
  type PartialContent,
  requireImportPermissions,
} from '../../reconcile/import/partial-import.ts'
import type { Context } from '../../service/context/context.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { createRealmPasswordHasher } from '../../service/users/credentials.ts'
import { bodySchema } from '../body.ts'
import { getParameter, type Operation, readBodyAfter, tagged } from '../operation.ts'
import { representationOf } from '../representations.ts'
import { badRequest, errorResponses } from '../responses.ts'

const policy = z.enum(importPolicies).nullish()
const many = (kind: 'client' | 'identityProvider' | 'identityProviderMapper' | 'user') =>
  z
    .array(bodySchema(kinds[kind]))
    .nullish()
    .describe(`The ${getPluralTitle(kinds[kind])} to import.`)
const { groups, roles } = bodySchema(kinds.realm).shape as Record<string, z.ZodType>

const content = z.object({
  ifResourceExists: policy.describe(
    'Behavior if an object exists: fail, skip it, or overwrite it. Default: the value of `policy`, or FAIL.',
  ),
  policy: policy.describe('Behavior if an object exists and `ifResourceExists` is absent.'),
  clients: many('client'),
  roles: roles!.describe('The realm roles, and the client roles by client id, to import.'),
  identityProviders: many('identityProvider'),
  identityProviderMappers: many('identityProviderMapper'),
  groups: groups!.describe('The groups to import, with their subgroups.'),
  users: many('user'),
})

/** The same content as OpenAPI describes it. */
const documented = nameSchema(
  'PartialImportRepresentation',
  content.extend({
    ...representationsOf({ clients: 'client', identityProviders: 'identityProvider', users: 'user' }),
    ...representationsOf({ identityProviderMappers: 'identityProviderMapper', groups: 'group' }),
    roles: anyRepresentation('RolesRepresentation').nullish().describe(content.shape.roles.description!),
  }),
)

function representationsOf(fields: Readonly<Record<string, KindName>>): z.ZodRawShape {
  const shape = content.shape as Record<string, z.ZodType>
  return Object.fromEntries(
    Object.entries(fields).map(([field, kind]) => [
      field,
      z.array(representationOf(kinds[kind])).nullish().describe(shape[field]!.description!),
    ]),
  )
}

const results = z.object({
  overwritten: z.int().describe('Number of overwritten objects.'),
  added: z.int().describe('Number of created objects.'),
  skipped: z.int().describe('Number of skipped objects.'),
  results: z
    .array(
      z.object({
        action: z.enum(['ADDED', 'SKIPPED', 'OVERWRITTEN']).describe('Outcome.'),
        resourceType: z.enum(importedTypes).describe('Type of the object.'),
        resourceName: z.string().describe('Name of the object.'),
        id: z.string().describe('Id of the object.'),
      }),
    )
    .describe('Outcome of each object.'),
})

/** The operation that imports objects into a realm. */
export const partialImportOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'importPartially',
    method: 'POST',
    path: '/admin/realms/{realm}/partialImport',
    summary: 'Import objects into a realm in one transaction (partial import)',
    permission: 'manage-realm',
    event: 'REALM',
    body: {
      schema: content,
      description: 'The objects to import.',
      documented,
      representation: 'PartialImportRepresentation',
    },
    responses: {
      200: { description: 'The outcome of each object.', schema: results },
      ...errorResponses,
      ...badRequest,
    },
    async handle(call) {
      const realm = getParameter(call, 'realm')
      const lookUp = (checkPermissions: (context: Context) => void) =>
        call.service.read(call.caller, realm, async (context) => {
          checkPermissions(context)
          return (user: Parameters<typeof createRealmPasswordHasher>[1]) => createRealmPasswordHasher(context, user)
        })
      const body = (await readBodyAfter(call, () =>
        lookUp((context) => requirePermissions(context, 'manage-realm')),
      )) as z.infer<typeof content> & PartialContent
      const passwords = await lookUp((context) => requireImportPermissions(context, body))
      const prepared = await hashCredentials(body, passwords)
      const results = await call.service.write(call.caller, { realm, isLarge: true }, (context) =>
        importPartially(context, prepared, body.ifResourceExists ?? body.policy ?? 'FAIL'),
      )
      const count = (action: string) => results.filter((result) => result.action === action).length
      return {
        status: 200,
        body: { overwritten: count('OVERWRITTEN'), added: count('ADDED'), skipped: count('SKIPPED'), results },
      }
    },
  },
])
