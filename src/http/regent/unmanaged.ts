// Regent's own API: unmanaged objects, and the declarations that accept drift.
import * as z from 'zod'
import { findAcceptedDrift } from '../../reconcile/accept/accept.ts'
import { listUnmanaged } from '../../reconcile/accept/unmanaged.ts'
import { readHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { queryTexts } from '../query.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { attribution, key } from './schemas.ts'

const permission = 'administer-realm'
const users = z.stringbool().optional().describe('Include users; the default leaves them out.')
const kind = z.string().describe('Kind of the object.')

const unmanaged = z
  .object({
    realm: z.string().describe('Name of the realm.'),
    objects: z
      .array(z.object({ kind, key, id: z.string().describe('Id of the object.'), by: attribution.optional() }))
      .describe('Objects that no source states and that did not come with the realm, without what belongs to them.'),
    users: z.number().describe('Number of unmanaged users.'),
  })
  .describe('What nobody states in a realm.')

const edit = z
  .object({
    source: z.string().describe('The source that states it.'),
    file: z.string().describe('The file that states it.'),
    line: z.number().describe('The line that states it, from 1.'),
    kind,
    key,
    path: z
      .string()
      .optional()
      .describe('The field; absent if the object was deleted and its declaration must be removed.'),
    declared: z.json().optional().describe('The declared value; absent for secrets.'),
    live: z.json().optional().describe('What to state instead; absent for secrets.'),
    by: attribution.optional(),
  })
  .describe('A place in a document that states what is not so any more.')

const acceptedDrift = z.object({
  document: z
    .record(z.string(), z.json())
    .optional()
    .describe('A realm file to add to a source: what nobody states. Absent: there is nothing.'),
  edits: z.array(edit).describe('Places in documents of sources that must say something else.'),
})

/** The operations about what nobody states. */
export const regentUnmanagedOperations: readonly Operation[] = tagged('Regent', [
  {
    operationId: 'findUnmanaged',
    method: 'GET',
    path: '/regent/v1/unmanaged',
    summary: 'List unmanaged objects, with who created them',
    permission,
    query: z.object({ realm: z.string().optional().describe('Only this realm.'), users }),
    responses: {
      200: { description: 'The unmanaged objects by realm.', schema: z.array(unmanaged) },
      ...errorResponses,
      ...badRequest,
    },
    handle: async ({ service, caller, query }) => ({
      status: 200,
      body: await listUnmanaged(service, caller, query as { realm?: string; users?: boolean }),
    }),
  },
  {
    operationId: 'acceptDrift',
    method: 'GET',
    path: '/regent/v1/accept/{realm}',
    summary: 'Get the declarations to commit that accept the live values: a document, and edits of existing documents',
    permission,
    query: z.object({
      path: queryTexts.describe(
        'Only these objects or fields, as in a realm file: `clients/my-app`, `clients/my-app/redirectUris`; repeatable.',
      ),
      users,
    }),
    responses: {
      200: { description: 'The declarations to commit.', schema: acceptedDrift },
      ...errorResponses,
      ...badRequest,
    },
    handle: readHandler((context, { query }) =>
      findAcceptedDrift(context, { paths: (query.path as string[] | undefined) ?? [], users: query.users === true }),
    ),
  },
])
