import type { Actor } from './store-types.ts'

/** Whoever works on the store itself is its operator: a person like any other, and not the server that acts by itself. */
export function inPerson(actor: Actor): Actor {
  return actor.kind === 'system' && actor.source === undefined ? { kind: 'administrator', user: 'operator' } : actor
}
