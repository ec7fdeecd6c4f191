// One of several servers: it applies the sources while it has the lease, and waits for it otherwise.
import { SourceController } from '../reconcile/following/source-controller.ts'
import type { Service } from '../service/context/service.ts'
import type { Lease } from '../service/context/store-types.ts'
import type { Candidate, Tenure } from '../service/operations/leases.ts'
import { terminal } from './follow-told.ts'
import { paint } from './paint.ts'
import type { Watched } from './watched.ts'

/** Applies the sources while this process has the lease. `failed`: the store cannot be asked for it. */
export function replica(service: Service, sources: readonly Watched[], failed: Candidate['failed']): Candidate {
  let waiting = false
  return {
    begin(lease) {
      if (waiting) console.log('This server applies the sources now.\n')
      waiting = false
      return applySources(lease, { service, sources, failed })
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

interface Applied {
  readonly service: Service
  readonly sources: readonly Watched[]
  readonly failed: Candidate['failed']
}

function applySources(lease: Lease, { service, sources, failed }: Applied): Tenure {
  const say = (line: string) => console.error(`${line}\n`)
  const controller = new SourceController(service, lease, { ...terminal, say, failed })
  let hasEnded = false
  const beginning = (async () => {
    const watches: string[] = []
    // Before they are read: a change in between would never be noticed.
    for (const source of sources) watches.push(await source.watch(controller))
    await controller.add(sources)
    if (!hasEnded) for (const line of watches) console.log(`${line}\n`)
  })()
  return {
    async end() {
      hasEnded = true
      await Promise.all([beginning, controller.close()])
      for (const source of sources) await source.unwatch()
    },
  }
}
