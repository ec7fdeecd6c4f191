// Who did it: from the journal.
import type { StoredEntry } from '../service/context.ts'
import type { Attribution } from './action.ts'
import type { PlanInput } from './plan-input.ts'

/** Who last changed a path of an object, from its journal entries, newest first. */
export function blame(entries: readonly StoredEntry[]): PlanInput['changedBy'] {
  const byObject = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  return (kind, id, path) => {
    const own = byObject.get(`${kind} ${id}`) ?? []
    const entry =
      own.find(({ operation, fields }) => path === undefined || (operation === 'update' && path in fields)) ?? own[0]
    return entry && attribution(entry)
  }
}

/** Who acted, and when. */
export function attribution({ actor, at }: Pick<StoredEntry, 'actor' | 'at'>): Attribution {
  return {
    who: actor.user ?? actor.source ?? actor.kind,
    kind: actor.kind,
    ...(actor.client !== undefined && { client: actor.client }),
    ...(actor.address !== undefined && { address: actor.address }),
    at: at.toISOString(),
    ...(actor.revision !== undefined && { revision: actor.revision }),
  }
}
