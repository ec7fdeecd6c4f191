// Objects that come into a realm in one call.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
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
import { badRequest, components, errorResponses } from '../responses.ts'

const policy = z.enum(importPolicies).nullish()
const many = (kind: 'client' | 'identityProvider' | 'identityProviderMapper' | 'user') =>
  z.array(bodySchema(kinds[kind])).nullish().describe(`Each ${kinds[kind].title} that comes.`)
const { groups, roles } = bodySchema(kinds.realm).shape as Record<string, z.ZodType>

const content = z
  .object({
    ifResourceExists: policy.describe(
      'What is done where the realm has such an object: FAIL, which is the default, SKIP or OVERWRITE.',
    ),
    policy: policy.describe('The same, where ifResourceExists says nothing.'),
    clients: many('client'),
    roles: roles!.describe('The roles that come: of the realm, and by client.'),
    identityProviders: many('identityProvider'),
    identityProviderMappers: many('identityProviderMapper'),
    groups: groups!.describe('Each group that comes, with those in it.'),
    users: many('user'),
  })
  .register(components, { id: 'PartialImportRepresentation' })

const results = z.object({
  overwritten: z.int().describe('How many objects were there and are replaced.'),
  added: z.int().describe('How many are new.'),
  skipped: z.int().describe('How many were there and are as they were.'),
  results: z
    .array(
      z.object({
        action: z.enum(['ADDED', 'SKIPPED', 'OVERWRITTEN']).describe('What became of it.'),
        resourceType: z.enum(importedTypes).describe('Of which kind it is.'),
        resourceName: z.string().describe('What it is called.'),
        id: z.string().describe('Its id now.'),
      }),
    )
    .describe('What became of each object.'),
})

/** Imports into a realm that is there. */
export const partialImportOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'importPartially',
    method: 'POST',
    path: '/admin/realms/{realm}/partialImport',
    summary: 'Import objects into a realm in one transaction (partial import)',
    permission: 'manage-realm',
    event: 'REALM',
    body: { schema: content, description: 'what comes', representation: 'PartialImportRepresentation' },
    responses: {
      200: { description: 'What became of each object.', schema: results },
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
      )) as z.infer<typeof content>
      const passwords = await lookUp((context) => requireImportPermissions(context, body as PartialContent))
      const prepared = await hashCredentials(body as PartialContent, passwords)
      const results = await call.service.write(call.caller, realm, (context) =>
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
