// Wake-ups: when a transaction commits, it notifies all processes that use the store of a change (LISTEN and NOTIFY).
import { AsyncLocalStorage } from 'node:async_hooks'
import type { PGlite } from '@electric-sql/pglite'
import { type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import { getSteppedBackOff } from '../../lib/timing/back-off.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Transaction } from './transaction.ts'

/** A notification of a change. It has no details: the listener reads the store. */
export interface WakeUp {
  /**
   * `drift`: managed objects of a realm were changed, or corrected; `source`: a source must be read again, or was resumed; `lease`: the
   * process that applies sources has changed; `plan`: a saved plan was approved or rejected; `everything`: wake-ups may have been missed.
   */
  readonly topic: 'drift' | 'source' | 'lease' | 'plan' | 'everything'
  /** Number of the realm, whose name may have changed when the wake-up arrives. */
  readonly realm?: number
  /** Name of the source or other object. */
  readonly name?: string
}

/** A listener. It must not throw, and must do its work asynchronously. */
export type WakeUpListener = (wake: WakeUp) => void

/** The channel of wake-ups, with its listeners. */
export interface WakeUpChannel {
  /**
   * Adds a listener for the wake-ups of all processes, including this one. The listener also gets `everything` when the connection is
   * established, for the first time or again: a caller who subscribes before reading the store misses nothing. Returns a function that
   * removes the listener.
   */
  subscribe(listener: WakeUpListener): () => void
  close(): Promise<void>
}

const CHANNEL = 'regent'
const EVERYTHING: WakeUp = { topic: 'everything' }

/** Milliseconds to wait before each attempt to connect again; the last value is used for all further attempts. */
const DELAYS = [0, 100, 500, 2_000, 5_000]

/** Returns the SQL call that sends a wake-up when the transaction commits. Equal wake-ups of a transaction are sent once. */
export function buildWakeUp(wakeUp: WakeUp): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNEL}, ${JSON.stringify(wakeUp)})`
}

/** Sends a wake-up when the transaction commits. One statement. */
export async function sendWakeUp(tx: Transaction, wakeUp: WakeUp): Promise<void> {
  await sql`select ${buildWakeUp(wakeUp)}`.execute(tx)
}

/** Opens the channel of a PostgreSQL database. It connects at the first subscription, and reconnects if the connection breaks. */
export function openPostgresWakeUps(url: string): WakeUpChannel {
  let client: pg.Client | undefined
  let notify: (payload?: string) => void = () => {}
  const listen = async () => {
    const connection = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'regent wake-ups' })
    client = connection
    // Any failure ends the connection. Without a handler, the event would end the process.
    connection.on('error', () => {})
    connection.on('notification', ({ payload }) => notify(payload))
    try {
      await connection.connect()
      await connection.query(`listen ${CHANNEL}`)
    } catch (error) {
      await connection.end().catch(() => {})
      throw error
    }
    connection.once('end', () => connections.retry(CHANNEL))
    notify()
  }
  const connections = new WorkQueue(listen, { backOff: (failures) => getSteppedBackOff(failures, DELAYS) })
  return createWakeUpChannel(
    (listener) => {
      notify = listener
      connections.add(CHANNEL)
    },
    async () => {
      const closed = connections.close()
      await client?.end().catch(() => {})
      await closed
    },
  )
}

/** Opens the channel of an embedded store, which one process uses only. */
export function openEmbeddedWakeUps(pglite: PGlite, db: Transaction): WakeUpChannel {
  let stop: (() => void) | undefined
  const listen = (notify: (payload?: string) => void) => {
    stop = pglite.onNotification((channel, payload) => {
      if (channel === CHANNEL) notify(payload)
    })
    // Uses the Kysely handle, which waits for an open transaction: inside of one, `listen` could be rolled back.
    void sql
      .raw(`listen ${CHANNEL}`)
      .execute(db)
      .then(() => notify())
  }
  return createWakeUpChannel(listen, async () => stop?.())
}

function createWakeUpChannel(
  listen: (notify: (payload?: string) => void) => void,
  close: () => Promise<void>,
): WakeUpChannel {
  const listeners = new Set<WakeUpListener>()
  let isListening = false
  const notify = (payload?: string) => {
    const wakeUp = parseWakeUp(payload)
    for (const listener of [...listeners]) listener(wakeUp)
  }
  return {
    subscribe(listener) {
      // PGlite calls listeners during the commit: without `bind`, they would count as part of that transaction.
      const bound = AsyncLocalStorage.bind(listener)
      listeners.add(bound)
      if (!isListening) listen(notify)
      isListening = true
      return () => listeners.delete(bound)
    },
    close() {
      listeners.clear()
      return close()
    },
  }
}

/** Returns the wake-up of a payload; `everything` if it is invalid. */
function parseWakeUp(payload: string | undefined): WakeUp {
  try {
    if (!payload) return EVERYTHING
    const wakeUp: WakeUp = JSON.parse(payload)
    return wakeUp
  } catch {
    return EVERYTHING
  }
}
