// A client that listens to drift events over HTTP.
import { readEvents, type ServerEvent } from '../../src/lib/http/http-request.ts'
import type { Drift } from '../../src/reconcile/drift/drift.ts'
import { createInbox, type Inbox } from './inbox.ts'

/** An open stream of drift events, without the initial state. */
export interface DriftListener extends Inbox<{ readonly event: string; readonly drift: Drift }> {
  readonly state: readonly Drift[]
  /** Resolves when the stream ends, with an error if it broke. */
  readonly ended: Promise<unknown>
  stop(): void
}

/** Opens a stream, and waits for the initial state. Throws with the response if the server refuses. */
export async function listenToDrift(address: string, token: string, query = ''): Promise<DriftListener> {
  const ending = new AbortController()
  const response = await fetch(`${address}/regent/v1/drift/events${query}`, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' },
    signal: ending.signal,
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  const events = readEvents(response.body!)
  const first = (await events.next()).value as ServerEvent
  const news = createInbox<{ event: string; drift: Drift }>()
  const read = async () => {
    for await (const { event, data } of events) news.put({ event, drift: data as Drift })
  }
  const ended = read().catch((error: unknown) => error)
  return { ...news, state: first.data as Drift[], ended, stop: () => ending.abort() }
}
