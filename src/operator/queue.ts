// Whose turn it is: each realm by itself, one turn after the other, again when it failed, and now and then.
import { backOff } from '../lib/back-off.ts'
import { limited } from '../lib/limited.ts'

/** How soon a realm is looked at again by itself, in milliseconds, if at all; `failed`: that it is tried again because of that. */
export interface Next {
  readonly wait?: number
  readonly failed: boolean
}

/** Realms that wait for their turn. */
export interface Queue {
  /** Looks at the realm as soon as it can be; once more where it is being looked at. */
  add(realm: string): void
  /** Begins nothing more, and lets what runs end. */
  close(): Promise<void>
}

interface Turn {
  /** What runs; `again`: somebody asked meanwhile. */
  running: Promise<void> | undefined
  again: boolean
  failures: number
  timer: NodeJS.Timeout | undefined
}

/** Realms that are looked at at a time. */
const AT_ONCE = 4
/** Milliseconds after the first failure, and at most. */
const [FIRST, LONGEST] = [500, 300_000]

/** `look` says when the realm is to be looked at again. It must not throw. */
export function queue(look: (realm: string, failures: number) => Promise<Next>): Queue {
  const turns = new Map<string, Turn>()
  const turn = limited(AT_ONCE)
  let closed = false

  const run = async (realm: string, own: Turn) => {
    do {
      own.again = false
      const { wait, failed } = await turn(
        async (): Promise<Next> => (closed ? { failed: false } : look(realm, own.failures)),
      )
      own.failures = failed ? own.failures + 1 : 0
      clearTimeout(own.timer)
      if (!closed && wait !== undefined) own.timer = setTimeout(() => add(realm), wait).unref()
    } while (own.again && !closed)
    own.running = undefined
  }
  const add = (realm: string) => {
    if (closed) return
    const own = turns.get(realm) ?? { running: undefined, again: false, failures: 0, timer: undefined }
    turns.set(realm, own)
    if (own.running) own.again = true
    else own.running = run(realm, own)
  }
  return {
    add,
    async close() {
      closed = true
      for (const { timer } of turns.values()) clearTimeout(timer)
      await Promise.all([...turns.values()].map(({ running }) => running))
    },
  }
}

/** Milliseconds to wait after a failure that so many came before. */
export function waitAfter(failures: number): number {
  return backOff(failures + 1, FIRST, LONGEST)
}

/** Does it again, later and later, as long as it fails. */
export function retried(
  task: (name: string) => Promise<void>,
  failed: (error: unknown) => void,
): (name: string, failures: number) => Promise<Next> {
  return async (name, failures) => {
    try {
      await task(name)
      return { failed: false }
    } catch (error) {
      failed(error)
      return { wait: waitAfter(failures), failed: true }
    }
  }
}
