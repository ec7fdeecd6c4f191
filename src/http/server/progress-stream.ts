// The response of an operation whose caller accepts server-sent events: its progress, and at the end its outcome or error.
import { Readable } from 'node:stream'
import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { type Deadline, expireOnAbort } from '../../lib/timing/deadline.ts'
import { listenToProgress, PROGRESS_PHASES } from '../../lib/timing/progress.ts'
import { runEvery } from '../../lib/timing/run-every.ts'
import { failure } from '../../service/context/errors.ts'
import type { ErrorAnswer } from '../errors.ts'
import type { Answer } from '../operation.ts'

/** The media type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream'

/** Milliseconds between comments that keep a stream open: proxies end silent connections. */
const HEARTBEAT = 15_000

/** The schema of the data of a `progress` event. */
export const progressEvent = z
  .object({
    phase: z.enum(PROGRESS_PHASES).describe('Step of the work. `applied`: the changes of the realm are committed.'),
    realm: z.string().optional().describe('Name of the realm.'),
    kind: z.string().optional().describe('Kind of the objects.'),
    dryRun: z.boolean().optional().describe('Whether the changes are rolled back after their consequences are known.'),
    done: z.int().optional().describe('Number of items so far: passwords, objects or rows.'),
    total: z.int().optional().describe('Number of all items. Absent: unknown.'),
  })
  .describe('Progress of the operation.')
  .register(namedSchemas, { id: 'ProgressRepresentation' })

/** Whether a caller accepts server-sent events by name. */
export function acceptsEvents(accept: string | undefined): boolean {
  return accept?.split(',').some((range) => range.split(';')[0]!.trim().toLowerCase() === EVENT_STREAM) === true
}

/** Returns the text of an event. `data`: JSON, which has no line breaks. */
const renderEvent = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`

/** The work of an operation, and how its result and its errors are rendered. */
interface StreamedWork {
  /** Aborted when the caller closes the connection. */
  readonly disconnected: AbortSignal
  /** Runs the operation until the deadline, which passes when the caller closes the connection. */
  readonly work: (deadline: Deadline) => Promise<Answer>
  /** Renders the body of the result as JSON. */
  readonly renderBody: (response: Answer) => string
  /** Returns the response to an error, and logs it. */
  readonly toErrorAnswer: (error: unknown) => ErrorAnswer
}

/**
 * Runs an operation, and streams its progress. The stream ends with one event, `outcome` or `error`, with the status and the body of the
 * response without a stream. If the caller closes the connection before the commit, what is not committed is rolled back.
 *
 * @throws the error of the work, if it fails before it reports progress
 */
export async function streamProgress({
  disconnected,
  work,
  renderBody,
  toErrorAnswer,
}: StreamedWork): Promise<Readable> {
  const stream = new Readable({ read() {} })
  const heartbeat = runEvery(HEARTBEAT, () => stream.push(':\n\n'))
  const started = Promise.withResolvers<void>()
  let isStarted = false
  const start = () => {
    isStarted = true
    started.resolve()
  }
  const end = (event: string) => {
    start()
    void heartbeat.close()
    if (stream.destroyed) return
    stream.push(event)
    stream.push(null)
  }
  const deadline = expireOnAbort(disconnected, failure('timeout', CANCELLED))
  const report = (progress: object) => {
    start()
    if (!stream.destroyed) stream.push(renderEvent('progress', JSON.stringify(progress)))
  }
  listenToProgress(report, () => work(deadline)).then(
    (response) => end(renderEvent('outcome', `{"status":${response.status},"body":${renderBody(response)}}`)),
    (error: unknown) => {
      if (isStarted) {
        const { status, body = {} } = toErrorAnswer(error)
        end(renderEvent('error', JSON.stringify({ status, body })))
      } else {
        void heartbeat.close()
        started.reject(error)
      }
    },
  )
  await started.promise
  return stream
}

/** The message of an operation that its caller cancelled. */
const CANCELLED = 'The request was cancelled. What was not committed is rolled back.'
