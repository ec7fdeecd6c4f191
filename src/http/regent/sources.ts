// Regent's own API: how sources are doing, and what is wanted of them.
import * as z from 'zod'
import { requestReconciliation, listSourceStates, renameSourceTo, resumeSourceEverywhere, suspendSourceFor } from '../../service/sources/source-status.ts'
import { HttpError } from '../errors.ts'
import { type Operation, tagged, type Untagged } from '../operation.ts'
import { badRequest, components, done, refusals } from '../responses.ts'

const at = z.iso.datetime().describe('When.')

const attempt = z
  .object({
    revision: z.string().optional().describe('The revision; absent when it could not be read.'),
    at,
    message: z.string().optional().describe('What was wrong; absent: it was applied.'),
  })
  .describe('One attempt to apply the source.')

const condition = (what: string) =>
  z
    .object({
      status: z.enum(['True', 'False']).describe('Whether it is so.'),
      reason: z.string().describe('Why, in one word.'),
      message: z.string().describe('Why, for people.'),
      since: at,
    })
    .optional()
    .describe(what)

const state = z
  .object({
    name: z.string().describe('Name of the source.'),
    realms: z.array(z.string()).describe('The realms that it has applied to.'),
    suspended: z
      .object({
        by: z.string().describe('Who wanted it.'),
        at,
        renamedTo: z.string().optional().describe('It is called so now, and is not read by its former name.'),
      })
      .nullable()
      .describe('Since when it is not read; null: it is.'),
    status: z
      .object({
        attempted: attempt.optional(),
        applied: attempt.optional(),
        ready: condition('What it states now is live.'),
        reconciling: condition('It will be tried again by itself.'),
        stalled: condition('Nothing but another statement, or a person, helps.'),
        problems: z
          .array(
            z.object({
              file: z.string().describe('The file.'),
              line: z.int().describe('The line, from 1.'),
              column: z.int().describe('The column, from 1.'),
              message: z.string().describe('What is wrong there.'),
            }),
          )
          .optional()
          .describe('What is wrong in its documents, at the revision that was attempted: the first 20.'),
        nextTryAt: at.optional().describe('When it is tried again by itself.'),
        attempts: z.array(attempt).optional().describe('The last attempts, newest first.'),
      })
      .describe('How it is doing; empty where no server has followed it.'),
  })
  .register(components, { id: 'SourceStateRepresentation' })

const source = z.string().min(1).describe('Name of the source.')
const answers = { ...refusals, ...badRequest }

type Work = (call: Parameters<Operation['handle']>[0], name: string) => Promise<void>

/** An operation on one source, which its query names. */
function onSource(
  described: Pick<Operation, 'operationId' | 'path' | 'summary'>,
  work: Work,
  more: z.ZodRawShape = {},
): Untagged {
  return {
    ...described,
    method: 'POST',
    permission: 'administer-realm',
    query: z.object({ source: source.optional(), ...more }),
    responses: { ...done, ...answers },
    async handle(call) {
      if (!call.query.source) throw new HttpError(400, { errorMessage: 'source is missing: state its name' })
      await work(call, String(call.query.source))
      return { status: 204 }
    },
  }
}

/** The operations about sources under /regent/v1, whoever follows them. */
export const regentSourceOperations: readonly Operation[] = tagged('Regent', [
  {
    operationId: 'listSourceStates',
    method: 'GET',
    path: '/regent/v1/source-states',
    summary: 'List the status of sources',
    permission: 'any',
    responses: { 200: { description: 'Each source.', schema: z.array(state) }, ...refusals },
    handle: async ({ service, caller }) => ({ status: 200, body: await listSourceStates(service, caller) }),
  },
  onSource(
    {
      operationId: 'suspendSource',
      path: '/regent/v1/source-states/suspend',
      summary: 'Suspend a source until it is resumed',
    },
    ({ service, caller }, name) => suspendSourceFor(service, caller, name),
  ),
  onSource(
    {
      operationId: 'resumeSourceEverywhere',
      path: '/regent/v1/source-states/resume',
      summary: 'Resume a source in all realms, also one that a rollback suspended',
    },
    ({ service, caller }, name) => resumeSourceEverywhere(service, caller, name),
  ),
  onSource(
    {
      operationId: 'forceSource',
      path: '/regent/v1/source-states/force',
      summary: 'Reconcile a source now',
    },
    ({ service, caller }, name) => requestReconciliation(service, caller, name),
  ),
  onSource(
    {
      operationId: 'renameSource',
      path: '/regent/v1/source-states/rename',
      summary: 'Rename a source',
    },
    async ({ service, caller, query }, name) => {
      if (!query.to) throw new HttpError(400, { errorMessage: 'to is missing: state the new name' })
      await renameSourceTo(service, caller, name, String(query.to))
    },
    { to: z.string().min(1).optional().describe('The new name.') },
  ),
])
