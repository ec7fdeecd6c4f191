// One of several servers: it follows the sources while it has the lease, and waits for it otherwise.
import { follow } from '../reconcile/following/follow.ts'
import { type Healing, startHealing } from '../reconcile/following/heal.ts'
import type { Candidate } from '../service/leases.ts'
import type { Service } from '../service/service.ts'
import { terminal } from './follow-told.ts'
import { paint } from './paint.ts'
import type { Watched } from './watched.ts'

/** Follows the sources while this process has the lease. `failed`: the store cannot be asked for it. */
export function replica(service: Service, sources: readonly Watched[], failed: Candidate['failed']): Candidate {
  let waiting = false
  return {
    begin(lease) {
      if (waiting) console.log('This server applies the sources now.\n')
      waiting = false
      const follower = follow(service, lease, terminal)
      const tell = (line: string) => console.error(`${line}\n`)
      let healing: Healing | undefined
      let ended = false
      const unsubscribe = service.subscribe(({ topic, name }) => {
        if (topic === 'source' && name !== undefined) follower.woken(name).catch(failed)
      })
      const beginning = (async () => {
        const watches: string[] = []
        // Before they are read: what changes in between would never be noticed.
        for (const source of sources) watches.push(await source.watch(follower))
        await follower.add(sources)
        if (ended) return
        healing = startHealing(service, follower, tell, failed)
        for (const line of watches) console.log(`${line}\n`)
      })()
      return {
        async end() {
          ended = true
          unsubscribe()
          healing?.close()
          await Promise.all([beginning, follower.end()])
          for (const source of sources) await source.unwatch()
        },
      }
    },
    waits(holder, had) {
      waiting = true
      if (had)
        console.error(`${paint('red', 'Another server has taken over:')} what this one had not committed is not kept.`)
      console.log(`The server ${holder} applies the sources. This one serves, and takes over when that one ends.\n`)
    },
    failed,
  }
}
