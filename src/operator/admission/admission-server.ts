// Where an API server asks whether it may take a resource: a port of its own, which only API servers are meant to reach.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { REVIEW_LIMIT, REVIEWS_AT_ONCE } from '../../http/server/limits.ts'
import { type CertificateFiles, createSecureServer } from '../../http/server/secure-server.ts'
import type { Representation } from '../../kinds/json.ts'
import { createDeadline, type Deadline, expireAfter } from '../../lib/timing/deadline.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { type Asked, answered, askedIn } from './admission-review.ts'
import type { Reviewer } from './review.ts'

/** Where to listen, and with which certificate. */
export interface AdmissionListening extends CertificateFiles {
  readonly host: string
  readonly port: number
}

/** A server that answers. */
export interface AdmissionServer {
  readonly port: number
  close(): Promise<void>
}

/** The address that is posted to. */
export const ADMISSION_PATH = '/admission'

/** Reviews at a time: each plans a realm. Of more than so many that wait, the API server is told at once. */
const [AT_ONCE, WAITING] = [2, 64]
const CONNECTIONS = 256
/** Seconds that are waited for an answer: unless the API server says so, and at most. */
const [USUAL, LONGEST] = [10, 30]
/** Milliseconds that an answer needs to arrive. */
const MARGIN = 250

/** What is answered without a review. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Reviews of one server: a few at a time, while others wait. */
class ReviewQueue {
  readonly #reviewer: Reviewer
  readonly #slot = limitConcurrency(AT_ONCE)
  #pending = 0

  constructor(reviewer: Reviewer) {
    this.#reviewer = reviewer
  }

  /** Returns the answer to what an API server asks. Throws Refusal where too many wait, and the reason of the signal. */
  async answer({ uid, change }: Asked, signal: AbortSignal, deadline: Deadline): Promise<Representation> {
    if (!change) return answered(uid, { warnings: [] })
    if (this.#pending >= WAITING) throw new Refusal(503, 'too many resources are being reviewed')
    this.#pending++
    const reviewed = this.#slot(async () => {
      signal.throwIfAborted()
      return this.#reviewer.review(change, signal, deadline)
    }).finally(() => this.#pending--)
    return answered(uid, await raceAbort(reviewed, signal))
  }
}

/** Listens until it is closed. What fails is told, and the API server decides as its configuration says. */
export async function serveAdmission(
  reviewer: Reviewer,
  { host, port, ...files }: AdmissionListening,
  failed: (error: unknown) => void,
): Promise<AdmissionServer> {
  const reviews = new ReviewQueue(reviewer)
  const readingTurn = limitConcurrency(REVIEWS_AT_ONCE)

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, query] = (request.url ?? '').split('?')
    const overdue = new Error('a resource was not reviewed in the time that the API server waits')
    const deadline = createDeadline(secondsIn(new URLSearchParams(query)) * 1000 - MARGIN, overdue)
    const gone = new AbortController()
    response.on('close', () => gone.abort(new Refusal(499, 'nobody waits for the answer any more')))
    const cancel = expireAfter(deadline.remaining(), () => gone.abort(overdue))
    const send = (status: number, body: string, type = 'text/plain') => {
      if (response.destroyed) return
      response.shouldKeepAlive = server.listening && request.complete
      response.writeHead(status, { 'content-type': type }).end(body)
    }
    try {
      if (request.method !== 'POST' || path !== ADMISSION_PATH) throw new Refusal(404, 'there is nothing here')
      const asked = askedIn(await readingTurn(() => bodyOf(request, gone.signal)))
      if (!asked) throw new Refusal(400, 'the body must be an AdmissionReview of admission.k8s.io/v1')
      const verdict = await reviews.answer(asked, gone.signal, deadline)
      send(200, JSON.stringify(verdict), 'application/json')
    } catch (error) {
      if (error instanceof Refusal) return send(error.status, error.message)
      // The body did not arrive in time: the connection is closed, and nobody waits for an answer.
      if (request.destroyed && !request.complete) return
      failed(error)
      // What went wrong is told to whoever runs the server.
      send(500, 'the review failed')
    } finally {
      cancel()
    }
  }

  const server = await createSecureServer(files, (request, response) => void answer(request, response), failed)
  server.maxConnections = CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close()
      server.closeIdleConnections()
      await once(server, 'close')
    },
  }
}

async function bodyOf(request: IncomingMessage, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let length = 0
  addAbortSignal(signal, request)
  // Callers that wait until they are asked for the body are asked now.
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= REVIEW_LIMIT) return void chunks.push(chunk)
    request.pause()
    reject(new Refusal(413, 'the body is larger than that of any resource'))
  })
  request.on('error', reject).on('end', () => resolve(Buffer.concat(chunks)))
  const body = await promise
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new Refusal(400, 'the body is no JSON')
  }
}

/** API servers say how long they wait, such as `10s`. */
function secondsIn(query: URLSearchParams): number {
  const [, seconds] = /^(\d+)s$/.exec(query.get('timeout') ?? '') ?? []
  return Math.min(Math.max(Number(seconds ?? USUAL), 1), LONGEST)
}
