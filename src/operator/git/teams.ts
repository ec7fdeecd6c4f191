// Sources in git by namespace: those of one are applied one after the other, and hold up no other namespace.
import { messageOf } from '../../lib/message-of.ts'
import { DocumentError, renderPosition } from '../../realm-file/problem.ts'
import { ActionError } from '../../reconcile/apply.ts'
import { type Follower, follow } from '../../reconcile/following/follow.ts'
import type { Audience } from '../../reconcile/following/followed.ts'
import { startHealing } from '../../reconcile/following/heal.ts'
import type { Lease } from '../../service/leases.ts'
import type { Service } from '../../service/service.ts'

/** The followers of namespaces. */
export interface Teams {
  /** That of the namespace, from now on. */
  of(namespace: string): Follower
  /** Ends that of a namespace that has no sources any more. */
  end(namespace: string): void
  close(): Promise<void>
}

/** Followers that say how sources stand. */
export function teams(
  service: Service,
  lease: Lease,
  stands: NonNullable<Audience['stands']>,
  say: (line: string) => void,
  failed: (error: unknown) => void,
): Teams {
  const all = new Map<string, { readonly follower: Follower; end(): Promise<void> }>()
  const ended: Promise<void>[] = []
  const end = (namespace: string) => {
    const team = all.get(namespace)
    all.delete(namespace)
    if (team) ended.push(team.end())
  }
  return {
    of(namespace) {
      const known = all.get(namespace)
      if (known) return known.follower
      const follower = follow(service, lease, { words, stands })
      const healing = startHealing(service, follower, say, failed)
      all.set(namespace, {
        follower,
        end() {
          healing.close()
          return follower.end()
        },
      })
      return follower
    },
    end,
    async close() {
      for (const namespace of [...all.keys()]) end(namespace)
      await Promise.all(ended)
    },
  }
}

/** An error in one line: of documents, the place of each problem. */
export function words(error: unknown): string {
  const problems = error instanceof DocumentError || error instanceof ActionError ? error.problems : []
  if (problems.length) return problems.map((one) => `${renderPosition(one.position)}: ${one.message}`).join('; ')
  return messageOf(error)
}
