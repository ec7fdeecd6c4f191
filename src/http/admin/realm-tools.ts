// The operations on credential registrators, partial exports and caches of a realm.
import * as z from 'zod'
import { exportRealmPartially } from '../../realm-file/export/export-realm.ts'
import { listCredentialActions } from '../../service/admin-api/authentication/required-actions.ts'
import { announceAccessChange } from '../../service/context/access-changes.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { queryFlag } from '../query.ts'
import { errorResponses, noContentResponse } from '../responses.ts'

const aliases = z.array(z.string())

/** Operations that clear caches. Regent updates its cache by itself, and has one for all that they name. */
const caches = [
  {
    operationId: 'clearUserCache',
    path: '/admin/realms/{realm}/clear-user-cache',
    summary: 'Clear the user cache',
  },
  {
    operationId: 'clearRealmCache',
    path: '/admin/realms/{realm}/clear-realm-cache',
    summary: 'Clear the realm cache',
  },
  {
    operationId: 'clearCrlCache',
    path: '/admin/realms/{realm}/clear-crl-cache',
    summary: 'Clear the cache of certificate revocation lists',
  },
] as const

/** The operations on credential registrators, exports and caches. */
export const realmToolOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'listCredentialRegistrators',
    method: 'GET',
    path: '/admin/realms/{realm}/credential-registrators',
    summary: 'List the required actions that set up a credential (credential registrators)',
    permission: 'view-realm',
    responses: { 200: { description: 'The aliases, by priority.', schema: aliases }, ...errorResponses },
    handle: readHandler(listCredentialActions),
  },
  {
    operationId: 'exportPartially',
    method: 'POST',
    path: '/admin/realms/{realm}/partial-export',
    summary: 'Export a realm partially: without users, with masked secrets',
    permission: 'manage-realm',
    event: false,
    query: z.object({
      exportClients: queryFlag.describe(
        'Whether to export clients, client roles and service accounts. Default: false.',
      ),
      exportGroupsAndRoles: queryFlag.describe('Whether to export groups and roles. Default: false.'),
    }),
    responses: {
      200: { description: 'The realm.', schema: z.record(z.string(), z.json()).describe('A realm file.') },
      ...errorResponses,
    },
    handle: readHandler((context, { query }) =>
      exportRealmPartially(context, {
        clients: query.exportClients === true,
        groupsAndRoles: query.exportGroupsAndRoles === true,
      }),
    ),
  },
  ...caches.map((cache) => ({
    ...cache,
    method: 'POST' as const,
    permission: 'manage-realm' as const,
    event: { type: 'REALM', operation: 'ACTION', asCalled: true } as const,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler(async (context) => {
      requirePermissions(context, 'manage-realm')
      await announceAccessChange(context)
    }),
  })),
])
