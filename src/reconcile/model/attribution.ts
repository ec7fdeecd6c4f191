// Who did it: from the journal.
import type { StoredEntry } from '../../service/context/store-types.ts'
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
    name: actor.user ?? actor.source ?? actor.kind,
    kind: actor.kind,
    ...(actor.client !== undefined && { client: actor.client }),
    ...(actor.address !== undefined && { address: actor.address }),
    at: at.toISOString(),
    ...(actor.revision !== undefined && { revision: actor.revision }),
  }
}

/** Who, of a source at which revision, through which client, from where, and when. */
export function by({ name: who, revision, client, address, at: when }: Attribution): string {
  return [
    who,
    revision && `(${shortened(revision)})`,
    client && `by ${client}`,
    address && `from ${address}`,
    `at ${moment(when)}`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** A revision of a source, of a commit what is enough to name it. */
export function shortened(revision: string): string {
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 12) : revision
}

/** A time, to the second. */
export function moment(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z')
}
