// Watches drift: looks at a realm whenever somebody was woken because of it, once for all who want to know.
import { type RealmRow, type Service, SYSTEM } from '../service/service.ts'
import { markedRealms, realmsNumbered } from '../service/sources.ts'
import { type Drift, driftOf } from './drift.ts'
import { type DriftEvent, driftEvents } from './drift-events.ts'

/** What happened in one realm. */
export interface DriftNews {
  /** Number of the realm. */
  readonly realm: number
  readonly events: readonly DriftEvent[]
}

/** Drift as it was when somebody began to be told. */
export interface Watching {
  /** By number of the realm. */
  readonly now: ReadonlyMap<number, readonly Drift[]>
  stop(): void
}

/** Who is told; what they return is waited for, and must not fail. */
export type Told = (news: DriftNews) => void | Promise<void>

/** Tells of drift, of all realms, as soon as it is committed, by whatever process. */
export interface DriftWatch {
  /** How many fields and objects have drifted, as it was seen last. */
  size(): number
  /**
   * Tells of what changes after what it gives; who `acts` on it is told after the others, so that nothing is put back before it was
   * told of. Throws when the store does not answer.
   */
  subscribe(told: Told, acts?: 'acts'): Promise<Watching>
}

/** After how many milliseconds to look again where the store did not answer. */
const AGAIN = 1_000

const watches = new WeakMap<Service, DriftWatch>()

/** The watch of a service: one, which looks as long as somebody wants to know. */
export function driftWatch(service: Service): DriftWatch {
  const known = watches.get(service) ?? watch(service)
  watches.set(service, known)
  return known
}

function watch(service: Service): DriftWatch {
  const found = new Map<number, readonly Drift[]>()
  const [hearing, acting] = [new Set<Told>(), new Set<Told>()]
  const due = new Set<number>()
  let interested = 0
  let everything = false
  let running: Promise<void> | undefined
  let again: NodeJS.Timeout | undefined
  let stop = () => {}

  /** The realms to look at, as they are called now; what is gone has no drift any more. */
  const realmsDue = async (): Promise<RealmRow[]> => {
    const numbers = new Set([...due, ...(everything ? found.keys() : [])])
    const marked = everything ? await service.find(await markedRealms(service)) : []
    everything = false
    due.clear()
    for (const { number } of marked) numbers.delete(number)
    const others = numbers.size ? await realmsNumbered(service, [...numbers]) : []
    for (const number of numbers) if (!others.some((realm) => realm.number === number)) await note(number, [])
    return [...marked, ...others]
  }
  const note = async (realm: number, now: readonly Drift[]) => {
    const events = driftEvents(found.get(realm) ?? [], now)
    if (now.length) found.set(realm, now)
    else found.delete(realm)
    if (!events.length) return
    for (const all of [hearing, acting]) await Promise.all([...all].map((told) => told({ realm, events })))
  }
  const look = async () => {
    try {
      while (everything || due.size) {
        for (const realm of await realmsDue()) await note(realm.number, await service.read(SYSTEM, realm, driftOf))
      }
    } catch (error) {
      everything = true
      again = setTimeout(() => void looking().catch(() => {}), AGAIN).unref()
      throw error
    }
  }
  /** Whoever waits for it, waits for what was due when they came, too. */
  const looking = (): Promise<void> => {
    clearTimeout(again)
    running ??= look()
      .finally(() => {
        running = undefined
      })
      // Whoever was woken since it last looked found it running still.
      .then(() => (everything || due.size ? looking() : undefined))
    return running
  }
  const begin = () => {
    everything = true
    stop = service.subscribe(({ topic, realm }) => {
      if (topic === 'everything') everything = true
      else if (topic === 'drift' && realm !== undefined) due.add(realm)
      else return
      looking().catch(() => {})
    })
  }
  const end = () => {
    if (--interested) return
    stop()
    clearTimeout(again)
    found.clear()
  }
  return {
    size: () => [...found.values()].reduce((sum, { length }) => sum + length, 0),
    async subscribe(told, acts) {
      if (!interested++) begin()
      try {
        await looking()
      } catch (error) {
        end()
        throw error
      }
      const all = acts ? acting : hearing
      all.add(told)
      return {
        now: new Map(found),
        stop() {
          if (all.delete(told)) end()
        },
      }
    },
  }
}
