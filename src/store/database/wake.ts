// Wake-ups: one process tells all others over the same store, at its commit, that there is something to look at.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { PGlite } from '@electric-sql/pglite'
import { type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import { steppedBackOff } from '../../lib/timing/back-off.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Transaction } from './transaction.ts'

/** What there is to look at. It says no more: whoever is woken reads the store. */
export interface Wake {
  /**
   * `drift`: something that sources own in a realm was changed, or is no longer changed; `source`: a source is to be read or
   * goes on; `lease`: who applies sources has changed; `plan`: a saved plan was decided on; `everything`: nobody knows what
   * was missed.
   */
  readonly topic: 'drift' | 'source' | 'lease' | 'plan' | 'everything'
  /** Number of the realm: its name may have changed when the message comes. */
  readonly realm?: number
  /** What it is about, such as the name of a source. */
  readonly name?: string
}

/** Who is told. It must not throw, and does its work apart. */
export type Woken = (wake: Wake) => void

/** Those who are told, and the channel on which the store tells. */
export interface WakeUps {
  /**
   * Tells of every wake-up from now on, also of one's own, after its commit; of `everything` as soon as the store listens, and
   * whenever it did not for a while. So whoever subscribes first and looks then misses nothing. Gives how to stop that.
   */
  subscribe(woken: Woken): () => void
  close(): Promise<void>
}

const CHANNEL = 'regent'
const EVERYTHING: Wake = { topic: 'everything' }

/** How long to wait before each further attempt to listen, in milliseconds; the last one for all that follow. */
const DELAYS = [0, 100, 500, 2_000, 5_000]

/** The call that wakes everybody when the transaction is committed: part of a statement, once for all that say the same. */
export function waking(wake: Wake): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNEL}, ${JSON.stringify(wake)})`
}

/** Wakes everybody when the transaction is committed. One statement. */
export async function wakeAll(tx: Transaction, wake: Wake): Promise<void> {
  await sql`select ${waking(wake)}`.execute(tx)
}

/** Wake-ups of PostgreSQL, on a connection of their own from the first subscription on, which is made anew when it breaks. */
export function postgresWakeUps(url: string): WakeUps {
  let client: pg.Client | undefined
  let tell: (text?: string) => void = () => {}
  const listen = async () => {
    const own = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'regent wake-ups' })
    client = own
    // Whatever goes wrong ends the connection; unhandled, the event would end the process.
    own.on('error', () => {})
    own.on('notification', ({ payload }) => tell(payload))
    try {
      await own.connect()
      await own.query(`listen ${CHANNEL}`)
    } catch (error) {
      await own.end().catch(() => {})
      throw error
    }
    own.once('end', () => connections.retry(CHANNEL))
    tell()
  }
  const connections = new WorkQueue(listen, { backOff: (failures) => steppedBackOff(failures, DELAYS) })
  return wakeUps(
    (teller) => {
      tell = teller
      connections.add(CHANNEL)
    },
    async () => {
      const closed = connections.close()
      await client?.end().catch(() => {})
      await closed
    },
  )
}

/** Wake-ups of PGlite, which nobody else can have open. */
export function embeddedWakeUps(pglite: PGlite, db: Transaction): WakeUps {
  let stop: (() => void) | undefined
  const listen = (tell: (text?: string) => void) => {
    stop = pglite.onNotification((channel, payload) => {
      if (channel === CHANNEL) tell(payload)
    })
    // By the handle whose transactions follow each other: within another one it would be rolled back with that.
    void sql
      .raw(`listen ${CHANNEL}`)
      .execute(db)
      .then(() => tell())
  }
  return wakeUps(listen, async () => stop?.())
}

function wakeUps(listen: (tell: (text?: string) => void) => void, close: () => Promise<void>): WakeUps {
  const all = new Set<Woken>()
  let listening = false
  const tell = (text?: string) => {
    const wake = wakeOf(text)
    for (const woken of [...all]) woken(wake)
  }
  return {
    subscribe(woken) {
      // Told within what PGlite does for somebody's commit, it would count as part of that transaction.
      const bound = AsyncLocalStorage.bind(woken)
      all.add(bound)
      if (!listening) listen(tell)
      listening = true
      return () => all.delete(bound)
    },
    close() {
      all.clear()
      return close()
    },
  }
}

/** What cannot be read may mean anything. */
function wakeOf(text: string | undefined): Wake {
  try {
    return text ? (JSON.parse(text) as Wake) : EVERYTHING
  } catch {
    return EVERYTHING
  }
}
