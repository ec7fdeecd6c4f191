// Regent's own API: history, rollback, erasure, provenance, and the sources of realms.
import * as z from 'zod'
import { explainObject } from '../../reconcile/history/explain-object.ts'
import { diffRevisions, listHistory, rollback } from '../../reconcile/history/history.ts'
import { eraseUser } from '../../service/operations/erase-user.ts'
import { forgetSourceInRealm, listPermittedSources, resumeSourceInRealm } from '../../service/sources/source-records.ts'
import { HttpError } from '../errors.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import {
  diffAnswer,
  eraseBody,
  erasure,
  historyAnswer,
  realmOutcome,
  reasons,
  rollbackBody,
  sourcesAnswer,
} from './schemas.ts'

const answers = { ...errorResponses, ...badRequest }
const permission = 'administer-realm'
const revision = z.coerce.number().int().min(1)

const historyOperations: readonly UntaggedOperation[] = [
  {
    operationId: 'listRevisions',
    method: 'GET',
    path: '/regent/v1/history/{realm}',
    summary: 'List the revisions of a realm, newest first',
    permission: 'roll-back-realm',
    query: z.object({
      before: revision.optional().describe('Only revisions before this one.'),
      max: z.coerce
        .number()
        .int()
        .min(1)
        .optional()
        .describe('Maximum number of revisions to return, at most 1000. Default: 50.'),
    }),
    responses: { 200: { description: 'The revisions.', schema: historyAnswer }, ...answers },
    handle: readHandler((context, { query }) =>
      listHistory(context, { below: query.before as number | undefined, max: query.max as number | undefined }),
    ),
  },
  {
    operationId: 'compareRevisions',
    method: 'GET',
    path: '/regent/v1/diff/{realm}',
    summary: 'Get the diff between two revisions of a realm, or a revision and the live state',
    permission: 'roll-back-realm',
    query: z.object({
      from: revision.optional().describe('First revision; required.'),
      to: revision.optional().describe('Second revision; default: the live state.'),
    }),
    responses: { 200: { description: 'The changes by object.', schema: diffAnswer }, ...answers },
    handle: readHandler((context, { query }) => {
      if (query.from === undefined)
        throw new HttpError(400, { errorMessage: 'The parameter from is missing. Pass a revision.' })
      return diffRevisions(context, query.from as number, query.to as number | undefined)
    }),
  },
  {
    operationId: 'rollBack',
    method: 'POST',
    path: '/regent/v1/rollback/{realm}',
    summary: 'Roll back a realm to a revision, and suspend its sources until they declare the same',
    permission: 'roll-back-realm',
    body: { schema: rollbackBody, description: 'The revision to roll back to.', namesFields: true },
    responses: { 200: { description: 'The outcome, or the plan.', schema: realmOutcome }, ...answers },
    handle: async (call) => {
      const { revision, dryRun } = call.body as z.output<typeof rollbackBody>
      return {
        status: 200,
        body: await rollback(call.service, call.caller, {
          realm: getParameter(call, 'realm'),
          revision,
          dryRun,
        }),
      }
    },
  },
  {
    operationId: 'eraseUser',
    method: 'POST',
    path: '/regent/v1/erase/{realm}',
    summary: 'Delete a user, and erase their values in journal, events, outbox, inventory and saved plans',
    permission,
    body: { schema: eraseBody, description: 'The user to erase.', namesFields: true },
    responses: { 200: { description: 'What was erased.', schema: erasure }, ...answers },
    handle: async (call) => {
      const { user } = eraseBody.parse(call.body)
      const target = { realm: getParameter(call, 'realm'), isLarge: true } as const
      const erased = await call.service.write(call.caller, target, (context) => eraseUser(context, user))
      return { status: 200, body: erased }
    },
  },
  {
    operationId: 'explain',
    method: 'GET',
    path: '/regent/v1/why/{realm}',
    summary: 'Get the provenance of an object or field: declarations, and who set it when',
    permission,
    query: z.object({
      path: z
        .string()
        .optional()
        .describe('Object or field, as in a realm file: `displayName`, `clients/my-app/redirectUris`.'),
    }),
    responses: { 200: { description: 'The object and its fields.', schema: reasons }, ...answers },
    handle: readHandler((context, { query }) => explainObject(context, String(query.path ?? ''))),
  },
]

const sourceOperations: readonly UntaggedOperation[] = [
  {
    operationId: 'listSources',
    method: 'GET',
    path: '/regent/v1/sources',
    summary: 'List the sources of the realms that the caller administers',
    permission: 'any',
    responses: { 200: { description: 'The sources by realm.', schema: sourcesAnswer }, ...errorResponses },
    handle: async ({ service, caller }) => ({ status: 200, body: await listPermittedSources(service, caller) }),
  },
  {
    operationId: 'resumeSourceInRealm',
    method: 'POST',
    path: '/regent/v1/sources/{realm}/resume',
    summary: 'Resume a source that a rollback of the realm suspended',
    permission: 'suspend-sources',
    query: z.object({ source: z.string().optional().describe('Name of the source; required.') }),
    responses: { ...noContentResponse, ...answers },
    handle: (call) => changeSource(call, resumeSourceInRealm),
  },
  {
    operationId: 'releaseSource',
    method: 'DELETE',
    path: '/regent/v1/sources/{realm}',
    summary: 'Release the objects that a source manages in a realm; they become unmanaged',
    permission,
    query: z.object({ source: z.string().optional().describe('Name of the source; required.') }),
    responses: { ...noContentResponse, ...answers },
    handle: (call) => changeSource(call, forgetSourceInRealm),
  },
]

/** The operations on history and on the sources of realms under /regent/v1. */
export const regentHistoryOperations: readonly Operation[] = [
  ...tagged('History', historyOperations),
  ...tagged('Sources', sourceOperations),
]

async function changeSource(
  call: Parameters<Operation['handle']>[0],
  work: typeof resumeSourceInRealm,
): Promise<{ status: number }> {
  const { source } = call.query
  if (!source) throw new HttpError(400, { errorMessage: 'The parameter source is missing. Pass its name.' })
  await call.service.write(call.caller, getParameter(call, 'realm'), (context) => work(context, String(source)))
  return { status: 204 }
}
