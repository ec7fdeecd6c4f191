// One of several servers: it applies the sources while it holds the lease.
import { SourceController } from '../reconcile/following/source-controller.ts'
import type { Service } from '../service/context/service.ts'
import type { Lease } from '../service/context/store-types.ts'
import type { LeaseCandidate, LeaseWork } from '../service/operations/leases.ts'
import { paint } from './paint.ts'
import { terminalReporter } from './terminal/source-reporter.ts'
import type { WatchedSource } from './watched-source.ts'

/** Returns a candidate for the lease that applies the sources while it holds it. `failed` is called if the store cannot be reached. */
export function createLeaseCandidate(
  service: Service,
  sources: readonly WatchedSource[],
  failed: LeaseCandidate['onError'],
): LeaseCandidate {
  let waiting = false
  return {
    start(lease) {
      if (waiting) console.log('This server now applies the sources.\n')
      waiting = false
      return applySources(lease, { service, sources, failed })
    },
    onNewHolder(holder, had) {
      waiting = true
      if (had)
        console.error(`${paint('red', 'Another server has taken over.')} What this one had not committed is discarded.`)
      console.log(`The server ${holder} applies the sources. This one takes over when that one stops.\n`)
    },
    onError: failed,
  }
}

interface SourceReplica {
  readonly service: Service
  readonly sources: readonly WatchedSource[]
  readonly failed: LeaseCandidate['onError']
}

function applySources(lease: Lease, { service, sources, failed }: SourceReplica): LeaseWork {
  const say = (line: string) => console.error(`${line}\n`)
  const controller = new SourceController(service, lease, { ...terminalReporter, warn: say, reportFailure: failed })
  let hasEnded = false
  const beginning = (async () => {
    const watches: string[] = []
    // Watch before reading: a change in between would be missed.
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
