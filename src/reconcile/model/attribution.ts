// Attributions: who changed something, from the journal.
import type { StoredEntry } from '../../service/context/store-types.ts'
import type { Attribution } from './action.ts'
import type { PlanInput } from './plan-input.ts'

/** Returns a function that finds who last changed a path of an object. `entries`: journal entries, newest first. */
export function blame(entries: readonly StoredEntry[]): PlanInput['changedBy'] {
  const byObject = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  return (kind, id, path) => {
    const all = byObject.get(`${kind} ${id}`) ?? []
    const entry =
      all.find(({ operation, fields }) => path === undefined || (operation === 'update' && path in fields)) ?? all[0]
    return entry && toAttribution(entry)
  }
}

/** Returns who made a journal entry, and when. */
export function toAttribution({ actor, at }: Pick<StoredEntry, 'actor' | 'at'>): Attribution {
  return {
    name: getActorName(actor),
    kind: actor.kind,
    ...(actor.client !== undefined && { client: actor.client }),
    ...(actor.address !== undefined && { address: actor.address }),
    at: at.toISOString(),
    ...(actor.revision !== undefined && { revision: actor.revision }),
    ...(actor.rolledBackTo !== undefined && { rolledBackTo: actor.rolledBackTo }),
  }
}

/** Returns the name of an actor: that of the user, source, user federation provider or workflow. */
export function getActorName({ user, source, provider, workflow, kind }: StoredEntry['actor']): string {
  return user ?? source ?? provider ?? (workflow === undefined ? kind : `workflow ${workflow}`)
}

/**
 * Returns an attribution as text: `ann via admin-cli from 10.0.0.7 at 2026-01-31T12:00:00Z`; a source with its revision, a rollback with
 * the one that it went back to.
 */
export function renderAttribution({ name, revision, rolledBackTo, client, address, at }: Attribution): string {
  return [
    name,
    revision && `(${shortenRevision(revision)})`,
    rolledBackTo !== undefined && `(rollback to r${rolledBackTo})`,
    client && `via ${client}`,
    address && `from ${address}`,
    `at ${formatTime(at)}`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Returns a revision with commit hashes cut to 12 characters, also in revisions of Flux such as `main@sha1:<commit>`. */
export function shortenRevision(revision: string): string {
  return revision.replace(/^((?:.*@)?(?:sha1:|sha256:)?)([0-9a-f]{12})[0-9a-f]{28,52}$/, '$1$2')
}

/** Returns an ISO 8601 time to the second. */
export function formatTime(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z')
}
