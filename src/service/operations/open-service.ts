// Opens the service: the one place that puts its parts together.
import { MASTER } from '../../kinds/built-in/index.ts'
import { type Outbound, outboundGuard } from '../../lib/http/outbound.ts'
import { openStore, type StatementListener, type StoreLocation } from '../../store/database/database.ts'
import { boundSilence } from '../../store/database/leases.ts'
import { ping } from '../../store/database/settings.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { wakeAll } from '../../store/database/wake.ts'
import { findRealm, findRealms, listRealms, lockRealms, type RealmRow, rowOf } from '../../store/realms.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, Refusal } from '../context/errors.ts'
import { openBlacklists } from '../context/password-blacklists.ts'
import { everything, isNothing, type Power, within } from '../context/power.ts'
import { type Caller, type Service, SYSTEM, type ToldEvent } from '../context/service.ts'
import { replaceKey, unlock } from '../context/vault-key.ts'
import { flush, writable } from '../journal/journal.ts'
import { demandAdministrator, LastAdministratorError, reachOfAll } from '../kinds/last-administrator.ts'
import { mailsEvents } from '../messages/event-mails.ts'
import { writeUserEvents } from '../messages/user-events.ts'
import { demandIn, powerOf } from '../permissions/administrators.ts'
import { createRealm } from '../realms/new-realm.ts'
import { demandLease } from './leases.ts'

/** What opening needs: where the store is, the key of its secrets, lists of passwords, and what may be watched or set by tests. */
export interface ServiceOptions {
  readonly location: StoreLocation
  readonly key: Uint8Array
  /** The folder of lists of passwords that nobody may choose. */
  readonly passwordLists?: string | undefined
  /** Absent: public addresses only. */
  readonly outbound?: Outbound
  readonly clock?: () => Date
  readonly onStatement?: StatementListener
}

/** Opens the service on its store. Throws FolderInUse, what the database says, or that the key is not the store's. */
export async function openService({
  location,
  key,
  passwordLists,
  outbound = outboundGuard({}),
  clock = () => new Date(),
  onStatement,
}: ServiceOptions): Promise<Service> {
  const store = await openStore(location, onStatement)
  const blacklists = openBlacklists(passwordLists)
  const vault = await unlock(store, key).catch(async (error: unknown) => {
    await store.close()
    throw error
  })

  const contextFor = async (
    tx: Transaction,
    caller: Caller,
    realm: RealmRow,
    outbox = { filled: false },
    power?: Power,
  ): Promise<Context> => {
    return {
      tx,
      realm,
      actor: caller.actor,
      now: clock(),
      vault,
      blacklists,
      power: power ?? (await powerFor(tx, caller)),
      mayLockOut: caller.mayLockOut,
      mayDrift: caller.mayDrift,
      overwritten: caller.overwritten,
      outbox,
    }
  }
  const found = (realm: RealmRow | undefined): RealmRow => {
    if (!realm) throw failure('not_found', 'Realm not found.')
    return realm
  }
  const rowFor = async (tx: Transaction, realm: string | RealmRow): Promise<RealmRow> =>
    typeof realm === 'string' ? found(await findRealm(tx, realm)) : realm
  /** One transaction, after whose commit leaves what it has put into the outbox. The lease is looked at last of all. */
  const committed = async <T>(
    work: (tx: Transaction, outbox: Context['outbox']) => Promise<T>,
    { lease, deadline }: Pick<Caller, 'lease' | 'deadline'> = {},
  ): Promise<T> => {
    const outbox = { filled: false }
    const result = await store.transaction(
      async (tx) => {
        if (lease) await boundSilence(tx, lease.seconds)
        const done = await work(tx, outbox)
        if (lease) await demandLease(tx, lease)
        return done
      },
      { deadline },
    )
    if (outbox.filled) service.outbox?.wake()
    return result
  }
  const listeners = new Set<(event: ToldEvent) => void>()
  const tellAll = (events: readonly ToldEvent[]) => {
    for (const listener of listeners) events.forEach(listener)
  }
  const finish = async <T>(context: WriteContext, work: (context: WriteContext) => Promise<T>): Promise<T> => {
    const result = await work(context)
    await demandAdministrator(context)
    await flush(context)
    return result
  }

  const service: Service = {
    engine: store.engine,
    vault,
    clock,
    outbound,
    outbox: undefined,
    blacklists,
    applies: { changed: 0, unchanged: 0, failed: 0 },
    attempts: { delivered: 0, postponed: 0, dropped: 0 },
    read: (caller, realm, work) =>
      store.read(async (tx) => work(await contextFor(tx, caller, await rowFor(tx, realm), undefined, caller.power))),
    snapshot: (caller, name, work) =>
      store.transaction(
        async (tx) => {
          const realm = await findRealm(tx, name)
          return work(realm && (await contextFor(tx, caller, realm)))
        },
        { snapshot: true, deadline: caller.deadline },
      ),
    async write(caller, name, work, { master } = {}) {
      const attempt = (caller: Caller) =>
        committed(async (tx, outbox) => {
          const locked = await lockRealms(tx, master ? [name, MASTER] : [name])
          const realm = found(locked.find((one) => one.name === name))
          return finish(await writable(await contextFor(tx, caller, realm, outbox)), work)
        }, caller)
      try {
        return await attempt(caller)
      } catch (error) {
        // Where nobody administered so before, nobody is locked out by this.
        if (!(error instanceof LastAdministratorError)) throw error
        if ((await service.read(SYSTEM, MASTER, reachOfAll)) > error.reach) throw error
        return attempt({ ...caller, mayLockOut: true })
      }
    },
    async runtime(caller, which, work) {
      const { refusal, value, told } = await committed(async (tx, outbox) => {
        const realm = await rowFor(tx, which)
        const context = { ...(await contextFor(tx, caller, realm, outbox)), userEvents: [] }
        const outcome = await work(context).then(
          (value) => ({ value, refusal: undefined }),
          (error) => {
            if (error instanceof Refusal) return { value: undefined as never, refusal: error }
            throw error
          },
        )
        return { ...outcome, told: await writeUserEvents(context, context.userEvents) }
      })
      tellAll(told)
      if (refusal) throw refusal
      return value
    },
    async tell(realm, events) {
      const write = async (tx: Transaction, outbox: Context['outbox']) =>
        writeUserEvents(await contextFor(tx, SYSTEM, realm, outbox), events)
      // One statement needs no transaction; mails go with the event or not at all.
      const told = mailsEvents(realm) ? committed(write) : store.read((tx) => write(tx, { filled: false }))
      tellAll(await told)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    subscribe: store.subscribe,
    notify: ({ tx }, wake) => wakeAll(tx, wake),
    create: (caller, realm, work) =>
      committed(async (tx, outbox) => {
        // Locked is master only when its own part is written: what is new, nobody else waits for.
        const master = await findRealm(tx, MASTER)
        // The first realm of a store is master itself, which nobody but Regent makes.
        const context = await contextFor(tx, caller, master ?? rowOf({ number: 0, id: '', name: '' }, {}), outbox)
        return finish(await createRealm(context, realm.representation, realm), work)
      }, caller),
    async demand(caller, permission, realms) {
      const power = await store.read((tx) => powerFor(tx, caller))
      for (const name of realms) demandIn(power, name, permission)
    },
    async demandPower(caller) {
      const power = caller.power ?? (await store.read((tx) => powerFor(tx, caller)))
      if (isNothing(power)) throw failure('forbidden', 'HTTP 403 Forbidden')
      return power
    },
    look: (work) => store.read(work),
    find: (names) => store.read((tx) => findRealms(tx, names)),
    realms: () => store.read(listRealms),
    ping: () => store.read(ping),
    replaceKey: (next) => replaceKey(store, key, next),
    announce: (url) => store.announce(url),
    async close() {
      await service.outbox?.close()
      await store.close()
    },
  }
  return service
}

async function powerFor(tx: Transaction, { user, limit }: Caller): Promise<Power> {
  const power = user ? await powerOf(tx, user) : everything
  return limit ? within(power, limit) : power
}
