// Small things that administrators ask of a realm.
import * as z from 'zod'
import { demand } from '../../service/administrators.ts'
import { listRegistrators } from '../../service/resources/required-actions.ts'
import { type Operation, reading, tagged, writing } from '../operation.ts'
import { done, refusals } from '../responses.ts'

const aliases = z.array(z.string())

/** Keycloak: caches that may be emptied. What Regent keeps in memory it keeps for one state of the realm: none is ever stale. */
const caches = [
  {
    operationId: 'clearUserCache',
    path: '/admin/realms/{realm}/clear-user-cache',
    summary: 'Forget people who were read before',
  },
  {
    operationId: 'clearRealmCache',
    path: '/admin/realms/{realm}/clear-realm-cache',
    summary: 'Forget settings that were read before',
  },
  {
    operationId: 'clearCrlCache',
    path: '/admin/realms/{realm}/clear-crl-cache',
    summary: 'Forget lists of revoked certificates that were read before',
  },
] as const

/** What sets up credentials, and caches. */
export const realmToolOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'listCredentialRegistrators',
    method: 'GET',
    path: '/admin/realms/{realm}/credential-registrators',
    summary: 'List the required actions by which people set up credentials',
    permission: 'view-realm',
    responses: { 200: { description: 'Their aliases, in order.', schema: aliases }, ...refusals },
    handle: reading(listRegistrators),
  },
  ...caches.map((cache) => ({
    ...cache,
    method: 'POST' as const,
    permission: 'manage-realm' as const,
    event: { type: 'REALM', operation: 'ACTION', asCalled: true } as const,
    responses: { ...done, ...refusals },
    handle: writing(async (context) => demand(context, 'manage-realm')),
  })),
])
