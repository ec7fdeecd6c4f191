// Streams of server-sent events: their limits, and the permissions of their readers.
import { Readable } from 'node:stream'
import { runEvery } from '../../lib/timing/run-every.ts'
import type { Caller } from '../../service/context/service.ts'
import { HttpError } from '../errors.ts'
import type { Call } from '../operation.ts'

/** Milliseconds between comments that keep a stream open: proxies end silent connections. */
const HEARTBEAT = 15_000
/** The most streams of a server, and of one caller. */
const MAX_STREAMS = 200
const MAX_STREAMS_PER_CALLER = 10
/** The most unread characters of a stream. A slower reader is disconnected, to bound memory. */
const MAX_UNREAD = 1024 * 1024

/** Sends the text that is rendered for the reader of a stream, who is authenticated again; empty: nothing. */
export type PushEvents = (render: (reader: Caller) => string | Promise<string>) => void

/** The first text of a stream, and the function that ends its subscription. */
export interface EventSubscription {
  readonly initial: string
  unsubscribe(): void
}

/** The number of open streams by caller. */
const streamCounts = new Map<string, number>()

/**
 * Opens a stream for a caller. `subscribe` may push before it returns; the initial text is sent first. The stream ends with the token of the
 * caller, or if rendering fails. @throws HttpError 503 if there are too many streams
 */
export async function openEventStream(
  call: Call,
  subscribe: (push: PushEvents) => Promise<EventSubscription>,
): Promise<Readable> {
  const leave = acquireStream(call.caller)
  let stop = () => {}
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      leave()
      void heartbeat.close()
      stop()
      done(error)
    },
  })
  const begun = Promise.withResolvers<void>()
  let last = begun.promise
  const push: PushEvents = (render) => {
    last = last
      .then(async () => {
        if (stream.readableLength > MAX_UNREAD) return void stream.destroy()
        const now = await render(await call.reauthenticate())
        if (now && !stream.destroyed) stream.push(now)
      })
      .catch(() => void stream.push(null))
  }
  const heartbeat = runEvery(HEARTBEAT, () =>
    push(async (reader) => {
      await call.service.getPermissions(reader)
      return ':\n\n'
    }),
  )
  try {
    const { initial, unsubscribe } = await subscribe(push)
    stop = unsubscribe
    if (stream.destroyed) stop()
    stream.push(initial)
    begun.resolve()
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** Counts a new stream. Returns the function that ends it. @throws HttpError 503 if there are too many. */
function acquireStream({ user }: Caller): () => void {
  const subscriber = user ? `${user.realm} ${user.id}` : ''
  const ownStreams = streamCounts.get(subscriber) ?? 0
  const all = [...streamCounts.values()].reduce((sum, count) => sum + count, 0)
  const full =
    all >= MAX_STREAMS
      ? `The server already has ${MAX_STREAMS} event streams. Try again later.`
      : user &&
        ownStreams >= MAX_STREAMS_PER_CALLER &&
        `You already have ${MAX_STREAMS_PER_CALLER} event streams. End one of them first.`
  if (full) throw new HttpError(503, { error: 'unavailable', error_description: full })
  streamCounts.set(subscriber, ownStreams + 1)
  return () => {
    const remaining = streamCounts.get(subscriber)! - 1
    if (remaining) streamCounts.set(subscriber, remaining)
    else streamCounts.delete(subscriber)
  }
}

/** Returns the text of an event. */
export const renderEvent = (event: string, value: unknown): string =>
  `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
