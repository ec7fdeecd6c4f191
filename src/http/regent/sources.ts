// Regent's own API: the status of sources, and operations on them.
import * as z from 'zod'
import { namedSchemas, nameSchema } from '../../kinds/json-schema.ts'
import {
  listSourceStates,
  renameSource,
  requestReconciliation,
  resumeSource,
  suspendSource,
} from '../../service/sources/source-status.ts'
import { HttpError } from '../errors.ts'
import { type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const at = z.iso.datetime().describe('Time, in ISO 8601.')

const attempt = nameSchema(
  'SourceAttemptRepresentation',
  z
    .object({
      revision: z.string().optional().describe('Revision. Absent if it could not be read.'),
      at,
      message: z.string().optional().describe('Error message. Absent if the source was applied.'),
    })
    .describe('An attempt to apply a source.'),
)

const condition = (description: string) =>
  z
    .object({
      status: z.enum(['True', 'False']).describe('Status of the condition.'),
      reason: z.string().describe('Reason, in one word.'),
      message: z.string().describe('Message.'),
      since: at,
    })
    .optional()
    .describe(description)

const state = z
  .object({
    name: z.string().describe('Name of the source.'),
    realms: z.array(z.string()).describe('Realms of the source.'),
    suspended: z
      .object({
        by: z.string().describe('User who suspended it.'),
        at,
        renamedTo: z.string().optional().describe('New name of a renamed source.'),
      })
      .nullable()
      .describe('Suspension of the source; null if it is not suspended.'),
    status: z
      .object({
        attempted: attempt.optional(),
        applied: attempt.optional(),
        ready: condition('The last revision is applied.'),
        reconciling: condition('Another attempt is scheduled.'),
        stalled: condition('No attempt is scheduled: it needs a new revision or an administrator.'),
        problems: z
          .array(
            z.object({
              file: z.string().describe('File.'),
              line: z.int().describe('Line, from 1.'),
              column: z.int().describe('Column, from 1.'),
              message: z.string().describe('Error message.'),
            }),
          )
          .optional()
          .describe('The first 20 problems in the documents of the attempted revision.'),
        nextTryAt: at.optional().describe('Time of the next attempt.'),
        attempts: z.array(attempt).optional().describe('The last attempts, newest first.'),
      })
      .describe('Status of the source; empty if no server has reconciled it.'),
  })
  .register(namedSchemas, { id: 'SourceStateRepresentation' })

const source = z.string().describe('Name of the source; required.')
const answers = { ...errorResponses, ...badRequest }

type Work = (call: Parameters<Operation['handle']>[0], name: string) => Promise<void>

/** Returns an operation on the source that its query names. */
function onSource(
  described: Pick<Operation, 'operationId' | 'path' | 'summary' | 'permission'>,
  work: Work,
  more: z.ZodRawShape = {},
): UntaggedOperation {
  return {
    ...described,
    method: 'POST',
    query: z.object({ source: source.optional(), ...more }),
    responses: { ...noContentResponse, ...answers },
    async handle(call) {
      if (!call.query.source)
        throw new HttpError(400, { errorMessage: 'The parameter source is missing. Pass its name.' })
      await work(call, String(call.query.source))
      return { status: 204 }
    },
  }
}

/** The operations on the status of sources under /regent/v1. */
export const regentSourceOperations: readonly Operation[] = tagged('Sources', [
  {
    operationId: 'listSourceStates',
    method: 'GET',
    path: '/regent/v1/source-states',
    summary: 'List the status of sources',
    permission: 'any',
    responses: { 200: { description: 'The sources.', schema: z.array(state) }, ...errorResponses },
    handle: async ({ service, caller }) => ({ status: 200, body: await listSourceStates(service, caller) }),
  },
  onSource(
    {
      operationId: 'suspendSource',
      path: '/regent/v1/source-states/suspend',
      summary: 'Suspend a source until it is resumed',
      permission: 'suspend-sources',
    },
    ({ service, caller }, name) => suspendSource(service, caller, name),
  ),
  onSource(
    {
      operationId: 'resumeSource',
      path: '/regent/v1/source-states/resume',
      summary: 'Resume a source in all realms, also one that a rollback suspended',
      permission: 'suspend-sources',
    },
    ({ service, caller }, name) => resumeSource(service, caller, name),
  ),
  onSource(
    {
      operationId: 'forceSource',
      path: '/regent/v1/source-states/force',
      summary: 'Reconcile a source now',
      permission: 'administer-realm',
    },
    ({ service, caller }, name) => requestReconciliation(service, caller, name),
  ),
  onSource(
    {
      operationId: 'renameSource',
      path: '/regent/v1/source-states/rename',
      summary: 'Rename a source',
      permission: 'administer-realm',
    },
    async ({ service, caller, query }, name) => {
      if (!query.to) throw new HttpError(400, { errorMessage: 'The parameter to is missing. Pass the new name.' })
      await renameSource(service, caller, { source: name, newName: String(query.to) })
    },
    { to: z.string().optional().describe('New name; required.') },
  ),
])
