// Regent's own API: unmanaged objects, and the declarations that accept drift.
import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { findAcceptedDrift } from '../../reconcile/accept/accept.ts'
import { listUnmanaged } from '../../reconcile/accept/unmanaged.ts'
import { readHandler } from '../handlers.ts'
import { type Operation, tagged } from '../operation.ts'
import { queryTexts } from '../query.ts'
import { badRequest, errorResponses } from '../responses.ts'
import { attribution, key } from './schemas.ts'

const permission = 'administer-realm'
const users = z.stringbool().optional().describe('Whether to include users. Default: false.')
const kind = z.string().describe('Kind of the object.')

const unmanaged = nameSchema(
  'UnmanagedRepresentation',
  z
    .object({
      realm: z.string().describe('Name of the realm.'),
      objects: z
        .array(z.object({ kind, key, id: z.string().describe('Id of the object.'), by: attribution.optional() }))
        .describe('Objects that no source declares and that are not built in, without their child objects.'),
      users: z.number().describe('Number of unmanaged users.'),
    })
    .describe('Unmanaged objects of a realm.'),
)

const edit = nameSchema(
  'EditRepresentation',
  z
    .object({
      source: z.string().describe('Source with the declaration.'),
      file: z.string().describe('File with the declaration.'),
      line: z.number().describe('Line of the declaration, from 1.'),
      kind,
      key,
      path: z
        .string()
        .optional()
        .describe('Field. Absent if the object was deleted and its declaration must be removed.'),
      declared: z.json().optional().describe('Declared value; absent for secrets and encrypted values.'),
      live: z.json().optional().describe('Live value, to declare instead; absent for secrets and encrypted values.'),
      encrypted: z.literal(true).optional().describe('Whether the value is encrypted in its file.'),
      by: attribution.optional(),
    })
    .describe('A declaration that differs from the live value.'),
)

const acceptedDrift = nameSchema(
  'AcceptedDriftRepresentation',
  z.object({
    document: z
      .record(z.string(), z.json())
      .optional()
      .describe('Realm file with unmanaged objects, to add to a source. Absent if there are none.'),
    edits: z.array(edit).describe('Declarations to change in documents of sources.'),
  }),
)

/** The operations on unmanaged objects and accepted drift. */
export const regentUnmanagedOperations: readonly Operation[] = tagged('Drift', [
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
    permission: 'accept-drift',
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
