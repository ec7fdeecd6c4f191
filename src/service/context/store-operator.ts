import type { Actor } from './store-types.ts'

/** Returns the actor; commands on the store itself act as the administrator `operator` rather than as the system. */
export function asStoreOperator(actor: Actor): Actor {
  return actor.kind === 'system' && actor.source === undefined ? { kind: 'administrator', user: 'operator' } : actor
}
