// Somebody who listens to drift over HTTP, as a program of its own would.
import { readEvents, type ServerEvent } from '../../src/cli/event-stream.ts'
import type { Drift } from '../../src/reconcile/drift/drift.ts'
import { type Inbox, createInbox } from './wakes.ts'

/** An open stream of drift, less the state that it begins with. */
export interface DriftListener extends Inbox<{ readonly event: string; readonly drift: Drift }> {
  readonly state: readonly Drift[]
  /** Resolves when the server ends the stream, with nothing, or with what broke it. */
  readonly ended: Promise<unknown>
  stop(): void
}

/** Listens at the server's address; returns when the server has told of its state. Throws what it answers else. */
export async function listenToDrift(address: string, token: string, query = ''): Promise<DriftListener> {
  const ending = new AbortController()
  const answer = await fetch(`${address}/regent/v1/drift/events${query}`, {
    headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' },
    signal: ending.signal,
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const events = readEvents(answer.body!)
  const first = (await events.next()).value as ServerEvent
  const news = createInbox<{ event: string; drift: Drift }>()
  const read = async () => {
    for await (const { event, data } of events) news.put({ event, drift: data as Drift })
  }
  const ended = read().catch((error: unknown) => error)
  return { ...news, state: first.data as Drift[], ended, stop: () => ending.abort() }
}
