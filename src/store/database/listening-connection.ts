// The connection that receives the notifications of a PostgreSQL database.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { getSteppedBackOff } from '../../lib/timing/back-off.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'

/** The channel of all notifications. */
export const CHANNEL = 'regent'

/** Milliseconds to wait before each attempt to connect again; the last value is used for all further attempts. */
const DELAYS = [0, 100, 500, 2_000, 5_000]

/** Milliseconds for which a successful check proves that no notification is missing. */
const VALIDITY = 800
/** Milliseconds after which the connection is checked again while callers ask whether it is up to date. */
const CHECK_INTERVAL = 250
/** Milliseconds after which a check includes a notification by another connection, which must arrive on this one. */
const NOTIFICATION_INTERVAL = 10_000
/** Milliseconds after which a connection that does not respond to a check is replaced. */
const RESPONSE_LIMIT = 10_000

/** The prefix of notifications that check the connection. */
const CHECK = 'check '

/** A check of the connection. It succeeds when the database has responded, and the notification has arrived if one was sent. */
interface Check {
  /** By `performance.now()`. */
  readonly sentAt: number
  readonly payload: string
  hasResponse: boolean
}

/**
 * A connection that listens for notifications, and is opened again when it breaks. It checks whether notifications arrive: through a
 * connection pooler in transaction mode they do not, and a failure of the network may not break the connection.
 */
export class ListeningConnection {
  readonly #url: string
  readonly #send: (payload: string) => Promise<void>
  readonly #connections = new WorkQueue(() => this.#connect(), {
    backOff: (failures) => getSteppedBackOff(failures, DELAYS),
  })
  #notify: (payload?: string) => void = () => {}
  #client: pg.Client | undefined
  #isListening = false
  /** The time when the last notification of a check that has arrived was sent. */
  #receivedAt = Number.NEGATIVE_INFINITY
  /** The time when the last successful check was sent, by `performance.now()`. */
  #checkedAt = Number.NEGATIVE_INFINITY
  /** The check in progress. */
  #check: Check | undefined

  /** `send` sends a notification on another connection to the database. */
  constructor(url: string, send: (payload: string) => Promise<void>) {
    this.#url = url
    this.#send = send
  }

  /** Opens the connection. `notify` is called with each payload, and without one when the connection is opened, also again. */
  open(notify: (payload?: string) => void): void {
    this.#notify = notify
    this.#connections.add(CHANNEL)
  }

  /** Whether all notifications have arrived that were sent more than a second ago. Starts a check if the last one is too old. */
  isUpToDate(): boolean {
    const now = performance.now()
    if (!this.#isListening) return false
    if (this.#check && now - this.#check.sentAt > RESPONSE_LIMIT) this.#giveUp(this.#check)
    else if (!this.#check && now - this.#checkedAt > CHECK_INTERVAL) void this.#startCheck(now)
    return now - this.#checkedAt < VALIDITY
  }

  async close(): Promise<void> {
    const closed = this.#connections.close()
    await this.#client?.end().catch(() => {})
    await closed
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      keepAlive: true,
      connectionTimeoutMillis: RESPONSE_LIMIT,
      application_name: 'regent wake-ups',
    })
    this.#client = client
    // Any failure ends the connection. Without a handler, the event would end the process.
    client.on('error', () => {})
    client.on('notification', ({ payload }) => this.#receive(payload))
    // The promise of `connect` stays pending in pg if the client is ended meanwhile.
    const { promise: ended, reject } = Promise.withResolvers<never>()
    client.once('end', () => reject(new Error('The connection has ended.')))
    ended.catch(() => {})
    try {
      await Promise.race([client.connect(), ended])
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    client.once('end', () => {
      this.#isListening = false
      this.#connections.retry(CHANNEL)
    })
    this.#isListening = true
    this.#receivedAt = Number.NEGATIVE_INFINITY
    this.#checkedAt = Number.NEGATIVE_INFINITY
    this.#check = undefined
    this.#notify()
  }

  /** Checks that the database responds, and sometimes that the notifications of other connections arrive. */
  async #startCheck(sentAt: number): Promise<void> {
    const check = { sentAt, payload: `${CHECK}${randomUUID()}`, hasResponse: false }
    this.#check = check
    try {
      await this.#client?.query('select')
      check.hasResponse = true
      if (sentAt - this.#receivedAt < NOTIFICATION_INTERVAL) this.#finishCheck(check)
      else await this.#send(check.payload)
    } catch {
      // The next call of `isUpToDate` checks again.
      if (this.#check === check) this.#check = undefined
    }
  }

  /** Ends a connection that does not respond, which opens a new one. If only the notification is missing, another one may arrive. */
  #giveUp({ hasResponse }: Check): void {
    this.#check = undefined
    if (hasResponse) return
    this.#isListening = false
    this.#client?.end().catch(() => {})
  }

  #finishCheck(check: Check): void {
    if (this.#check !== check) return
    this.#checkedAt = check.sentAt
    this.#check = undefined
  }

  #receive(payload: string | undefined): void {
    if (!payload?.startsWith(CHECK)) this.#notify(payload)
    else if (payload === this.#check?.payload) {
      this.#receivedAt = this.#check.sentAt
      this.#finishCheck(this.#check)
    }
  }
}
