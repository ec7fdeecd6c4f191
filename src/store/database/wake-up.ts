// Wake-ups: when a transaction commits, it notifies all processes that use the store of a change (LISTEN and NOTIFY).
import { AsyncLocalStorage } from 'node:async_hooks'
import type { PGlite } from '@electric-sql/pglite'
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import { CHANNEL, ListeningConnection } from './listening-connection.ts'
import type { Transaction } from './transaction.ts'

/** A notification of a change. It has no details: the listener reads the store. */
export interface WakeUp {
  /**
   * `drift`: managed objects of a realm were changed, or corrected; `source`: a source must be read again, or was resumed; `status`:
   * the status of a source was written; `lease`: the process that applies sources has changed; `plan`: saved plans were created, approved,
   * applied or deleted; `access`: something changed on which the
   * validity or permissions of tokens depend, or the row of a realm; `everything`: wake-ups may have been missed.
   */
  readonly topic: 'drift' | 'source' | 'status' | 'lease' | 'plan' | 'access' | 'everything'
  /** Number of the realm, whose name may have changed when the wake-up arrives. */
  readonly realm?: number
  /** Name of the source; for `access`, id of the user, session or token. Absent for `access`: all of the realm. */
  readonly name?: string
  /** For `access`: no token depends on the change. Absent: tokens of the realm may depend on it. */
  readonly keepsTokens?: true
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
  /** Whether the listeners were called for all changes that were committed more than a second ago. False before the first subscription. */
  isUpToDate(): boolean
  close(): Promise<void>
}

const EVERYTHING: WakeUp = { topic: 'everything' }

/** Returns the SQL call that sends a wake-up when the transaction commits. Equal wake-ups of a transaction are sent once. */
export function buildWakeUp(wakeUp: WakeUp): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNEL}, ${JSON.stringify(wakeUp)})`
}

/** Sends a wake-up when the transaction commits. One statement. */
export async function sendWakeUp(tx: Transaction, wakeUp: WakeUp): Promise<void> {
  await sql`select ${buildWakeUp(wakeUp)}`.execute(tx)
}

/**
 * Returns a query of one row that sends wake-ups when the transaction commits, those of `conditional` only if the condition holds.
 */
export function buildWakeUps(
  wakeUps: readonly WakeUp[],
  conditional: { readonly wakeUps: readonly WakeUp[]; readonly condition: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`select count(pg_notify(${CHANNEL}, x.payload))
    from unnest(${toPayloads(wakeUps)}::text[] || case when ${conditional.condition}
      then ${toPayloads(conditional.wakeUps)}::text[] end) as x(payload)`
}

const toPayloads = (wakeUps: readonly WakeUp[]): string[] => wakeUps.map((wakeUp) => JSON.stringify(wakeUp))

/** Opens the channel of a PostgreSQL database. It connects at the first subscription, and reconnects if the connection breaks. */
export function openPostgresWakeUps(url: string, pool: pg.Pool): WakeUpChannel {
  const connection = new ListeningConnection(url, async (payload) => {
    await pool.query('select pg_notify($1, $2)', [CHANNEL, payload])
  })
  return createWakeUpChannel({
    listen: (notify) => connection.open(notify),
    isUpToDate: () => connection.isUpToDate(),
    close: () => connection.close(),
  })
}

/** Opens the channel of an embedded store, which one process uses only. */
export function openEmbeddedWakeUps(pglite: PGlite, db: Transaction): WakeUpChannel {
  let stop: (() => void) | undefined
  return createWakeUpChannel({
    listen(notify) {
      stop = pglite.onNotification((channel, payload) => {
        if (channel === CHANNEL) notify(payload)
      })
      // Uses the Kysely handle, which waits for an open transaction: inside of one, `listen` could be rolled back.
      void sql
        .raw(`listen ${CHANNEL}`)
        .execute(db)
        .then(() => notify())
    },
    // All changes are made by this process.
    isUpToDate: () => true,
    close: async () => stop?.(),
  })
}

interface Notifications {
  /** Begins to call `notify` with the payload of each notification, and without one when notifications may have been missed. */
  readonly listen: (notify: (payload?: string) => void) => void
  readonly isUpToDate: () => boolean
  readonly close: () => Promise<void>
}

function createWakeUpChannel({ listen, isUpToDate, close }: Notifications): WakeUpChannel {
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
    isUpToDate: () => isListening && isUpToDate(),
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
