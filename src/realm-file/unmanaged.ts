// What documents may state although nothing comes of it: kinds that are not managed yet, and fields of an earlier form.
import { isEmpty } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { describe, type TreeObject } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Document } from './document.ts'

/** A field that is left alone, as people are told. */
export interface Unmanaged {
  readonly field: string
  readonly position: Position
}

/** The realm less the fields whose kinds are not managed yet, and those of them that say something. */
export function setAside(value: Representation): { managed: Representation; unmanaged: string[] } {
  const unmanaged = Object.keys(value).filter((field) => Object.hasOwn(kinds.realm.later, field))
  const managed = Object.fromEntries(Object.entries(value).filter(([field]) => !unmanaged.includes(field)))
  return { managed, unmanaged: unmanaged.filter((field) => !isEmpty(value[field])) }
}

/** Fields of an earlier form that say something: one entry for all objects of a kind. */
export function ignored(document: Document, tree: readonly TreeObject[]): Unmanaged[] {
  const stated = tree.flatMap(({ kind, key, representation, path }) =>
    Object.entries(representation)
      .filter(([field, value]) => kinds[kind].fields[field]?.earlier && value !== false && !isEmpty(value))
      .map(([field]) => ({ kind, field, name: describe(kind, key), path: [...path, field] })),
  )
  return [...Map.groupBy(stated, ({ kind, field }) => `${kind} ${field}`).values()].map((all) => {
    const { kind, field, name, path } = all[0]!
    const owner = all.length === 1 ? name : `${all.length} ${kinds[kind].title}s`
    return { field: kind === 'realm' ? field : `${field} of ${owner}`, position: document.locate(path) }
  })
}
