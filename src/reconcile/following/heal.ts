// Puts back at once what a source says is to heal; more slowly where somebody changes it again and again.
import { describe } from '../../kinds/tree.ts'
import type { Service } from '../../service/service.ts'
import type { Drift } from '../drift.ts'
import { driftWatch } from '../drift-watch.ts'
import { by } from '../words.ts'
import type { Follower } from './follow.ts'

/** What is done about drift until it is closed. */
export interface Healing {
  close(): void
}

/** How often a source has put something back in a realm lately. */
interface Turns {
  times: number
  last: number
  /** Whether the last time was without success. */
  failed: boolean
  next: NodeJS.Timeout | undefined
}

/** How long to wait, in milliseconds, when it was put back so many times before; the last one for all that follow. */
const DELAYS = [0, 0, 1_000, 5_000, 30_000, 120_000, 300_000]
/** After so many milliseconds without drift nobody is thought to change it again and again. */
const CALM = 600_000
/** After how many milliseconds to begin again where the store did not answer. */
const AGAIN = 5_000

/** Begins to put back: also what has drifted already. `tell` says where it is slow, `failed` that the store does not answer. */
export function startHealing(
  service: Service,
  follower: Pick<Follower, 'heals' | 'heal'>,
  tell: (line: string) => void,
  failed: (error: unknown) => void,
): Healing {
  const turns = new Map<string, Turns>()
  let closed = false
  const drifted = (all: readonly Drift[]) => {
    for (const drift of all) if (follower.heals(drift)) healSoon(drift)
  }
  const healSoon = (drift: Drift) => {
    const name = JSON.stringify([drift.realm, drift.source])
    const own = turns.get(name) ?? { times: 0, last: 0, failed: false, next: undefined }
    turns.set(name, own)
    if (own.next) return
    const now = service.clock().getTime()
    if (now - own.last > CALM) own.times = 0
    const delay = DELAYS[Math.min(own.times, DELAYS.length - 1)]!
    if (delay && !own.failed) tell(`${again(drift, own.times)}; it is put back in ${delay / 1000} s`)
    own.next = setTimeout(() => void healNow(drift, own), delay)
  }
  const healNow = async (drift: Drift, own: Turns) => {
    Object.assign(own, { times: own.times + 1, last: service.clock().getTime(), next: undefined })
    own.failed = !(await follower.heal(drift.source))
    // Why it failed is told already; it may pass, and nobody is woken then.
    if (own.failed && own.times < DELAYS.length && !closed) healSoon(drift)
  }
  let stop = () => {}
  const begin = async () => {
    const watching = await driftWatch(service).subscribe(
      ({ events }) => drifted(events.flatMap(({ event, drift }) => (event === 'drift' ? [drift] : []))),
      'acts',
    )
    stop = watching.stop
    if (closed) stop()
    else for (const all of watching.now.values()) drifted(all)
  }
  const beginAtLast = (): void => {
    begin().catch((error: unknown) => {
      if (closed) return
      failed(error)
      const next = setTimeout(beginAtLast, AGAIN)
      stop = () => clearTimeout(next)
    })
  }
  beginAtLast()
  return {
    close() {
      closed = true
      stop()
      for (const { next } of turns.values()) clearTimeout(next)
    },
  }
}

/** Names both who change it. */
function again({ realm, source, kind, key, path, by: who }: Drift, times: number): string {
  const what = `${realm} ${describe(kind, key)}${path === undefined ? '' : `: ${path}`}`
  return `${what} was put back ${times} times by ${source}, and changed again${who ? ` by ${by(who)}` : ''}`
}
