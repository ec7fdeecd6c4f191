// What tells whether a realm is to be looked at again: everything that a run of it depends on, and nothing else. Pure.
import { createHash } from 'node:crypto'
import type { Waits } from './dependencies.ts'
import type { Member, RealmOf } from './desired.ts'
import { APPROVED, REQUESTED_AT } from './resource.ts'

/** The same text as long as nothing is asked for that was not asked for before. */
export function fingerprint(
  realm: RealmOf,
  astray: ReadonlyMap<string, readonly string[]>,
  waits: Waits | undefined,
): string {
  const spaces = [...realm.ceilings.keys()].sort()
  const hash = createHash('sha256').update(
    JSON.stringify([
      [...realm.ceilings],
      spaces.map((namespace) => astray.get(namespace) ?? []),
      realm.settings,
      realm.holder?.resource.spec?.allowedNamespaces,
      waits,
    ]),
  )
  for (const member of realm.members) hash.update(JSON.stringify(askedOf(member)))
  return hash.digest('hex')
}

function askedOf({ resource, file, stated, fault, leaves }: Member): unknown[] {
  const { uid, generation, annotations = {} } = resource.metadata
  return [
    file,
    uid,
    generation,
    stated?.document.digest,
    fault,
    leaves,
    annotations[REQUESTED_AT],
    annotations[APPROVED],
  ]
}
