// Serves the admission webhook on a port of its own, which only API servers should reach.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { REVIEW_LIMIT, REVIEWS_AT_ONCE } from '../../http/server/limits.ts'
import { type CertificateOptions, createSecureServer } from '../../http/server/secure-server.ts'
import type { Representation } from '../../kinds/json.ts'
import { createDeadline, type Deadline, expireAfter } from '../../lib/timing/deadline.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { type AdmissionRequest, parseAdmissionReview, renderAdmissionReview } from './admission-review.ts'
import type { AdmissionReviewer } from './admission-reviewer.ts'

/** The address and the certificate of the server. */
export interface AdmissionServerOptions extends CertificateOptions {
  readonly host: string
  readonly port: number
}

/** The running server of the admission webhook. */
export interface AdmissionServer {
  readonly port: number
  close(): Promise<void>
}

/** The path of the admission webhook. */
export const ADMISSION_PATH = '/admission'

/** Reviews in progress at a time, since each plans a realm. */
const MAX_REVIEWS = 2
/** Reviews that are in progress or queued; more are refused at once. */
const MAX_PENDING = 64
const MAX_CONNECTIONS = 256
/** The seconds that the API server waits for a response, unless the request specifies them, and at most. */
const [DEFAULT_TIMEOUT, MAX_TIMEOUT] = [10, 30]
/** Milliseconds that are reserved for the transfer of the response. */
const TRANSFER_TIME = 250

/** An HTTP error, which is returned instead of a review. */
class AdmissionHttpError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Limits the reviews of a server. */
class ReviewQueue {
  readonly #reviewer: AdmissionReviewer
  readonly #limit = limitConcurrency(MAX_REVIEWS)
  #pendingCount = 0

  constructor(reviewer: AdmissionReviewer) {
    this.#reviewer = reviewer
  }

  /** Reviews a request and returns the response. Throws AdmissionHttpError if too many are pending, and the reason of the signal. */
  async review({ uid, change }: AdmissionRequest, signal: AbortSignal, deadline: Deadline): Promise<Representation> {
    if (!change) return renderAdmissionReview(uid, { warnings: [] })
    if (this.#pendingCount >= MAX_PENDING) throw new AdmissionHttpError(503, 'Too many reviews are pending.')
    this.#pendingCount++
    const decision = this.#limit(async () => {
      signal.throwIfAborted()
      return this.#reviewer.review(change, signal, deadline)
    }).finally(() => this.#pendingCount--)
    return renderAdmissionReview(uid, await raceAbort(decision, signal))
  }
}

/** Serves the webhook until it is closed. Failures are reported, and the API server applies its failure policy. */
export async function serveAdmission(
  reviewer: AdmissionReviewer,
  { host, port, ...certificate }: AdmissionServerOptions,
  onError: (error: unknown) => void,
): Promise<AdmissionServer> {
  const reviews = new ReviewQueue(reviewer)
  const limitReads = limitConcurrency(REVIEWS_AT_ONCE)

  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, query] = (request.url ?? '').split('?')
    const timeout = new Error('A resource was not reviewed within the timeout of the API server.')
    const deadline = createDeadline(getTimeout(new URLSearchParams(query)) * 1000 - TRANSFER_TIME, timeout)
    const ending = new AbortController()
    response.on('close', () => ending.abort(new AdmissionHttpError(499, 'The client closed the connection.')))
    const cancel = expireAfter(deadline.remaining(), () => ending.abort(timeout))
    const send = (status: number, body: string, type = 'text/plain') => {
      if (response.destroyed) return
      response.shouldKeepAlive = server.listening && request.complete
      response.writeHead(status, { 'content-type': type }).end(body)
    }
    try {
      if (request.method !== 'POST' || path !== ADMISSION_PATH) throw new AdmissionHttpError(404, 'Not found.')
      const review = parseAdmissionReview(await limitReads(() => readJson(request, ending.signal)))
      if (!review) throw new AdmissionHttpError(400, 'The body must be an AdmissionReview of admission.k8s.io/v1.')
      const result = await reviews.review(review, ending.signal, deadline)
      send(200, JSON.stringify(result), 'application/json')
    } catch (error) {
      if (error instanceof AdmissionHttpError) return send(error.status, error.message)
      // The body did not arrive in time, and the connection is closed.
      if (request.destroyed && !request.complete) return
      onError(error)
      // The details are reported to the operator of the server only.
      send(500, 'The review failed.')
    } finally {
      cancel()
    }
  }

  const server = await createSecureServer(certificate, (request, response) => void respond(request, response), onError)
  server.maxConnections = MAX_CONNECTIONS
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

/** Reads the body of a request. Throws AdmissionHttpError if it is too large or no JSON, and the reason of the signal. */
async function readJson(request: IncomingMessage, signal: AbortSignal): Promise<unknown> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let length = 0
  addAbortSignal(signal, request)
  // Reading the body sends 100 Continue, for which some clients wait.
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= REVIEW_LIMIT) return void chunks.push(chunk)
    request.pause()
    reject(new AdmissionHttpError(413, 'The body is larger than the largest resource.'))
  })
  request.on('error', reject).on('end', () => resolve(Buffer.concat(chunks)))
  const body = await promise
  try {
    return JSON.parse(body.toString())
  } catch {
    throw new AdmissionHttpError(400, 'The body is not valid JSON.')
  }
}

/** Returns the seconds that the API server waits for a response, from the query parameter `timeout`, such as `10s`. */
function getTimeout(query: URLSearchParams): number {
  const [, seconds] = /^(\d+)s$/.exec(query.get('timeout') ?? '') ?? []
  return Math.min(Math.max(Number(seconds ?? DEFAULT_TIMEOUT), 1), MAX_TIMEOUT)
}
