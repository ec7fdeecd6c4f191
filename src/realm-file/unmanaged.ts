// What documents may state although nothing comes of it: kinds that are not managed yet, and fields of an earlier form.
import { isEmpty } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { describe, type TreeObject } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Document } from './document.ts'
import type { Notice } from './problem.ts'

/** The realm of a document less the fields whose kinds are not managed yet, and those of them that say something. */
export function setAside(document: Document): { managed: Representation; notices: Notice[] } {
  const value = document.value as Representation
  const unmanaged = Object.keys(value).filter((field) => Object.hasOwn(kinds.realm.later, field))
  const managed = Object.fromEntries(Object.entries(value).filter(([field]) => !unmanaged.includes(field)))
  const telling = unmanaged.filter((field) => !isEmpty(value[field]))
  return { managed, notices: telling.map((field) => leftAlone(field, document.locate([field]))) }
}

/** Fields of an earlier form that say something: one entry for all objects of a kind. */
export function ignored(document: Pick<Document, 'locate'>, tree: readonly TreeObject[]): Notice[] {
  const stated = tree.flatMap(({ kind, key, representation, path }) =>
    Object.entries(representation)
      .filter(([field, value]) => kinds[kind].fields[field]?.earlier && value !== false && !isEmpty(value))
      .map(([field]) => ({ kind, field, name: describe(kind, key), path: [...path, field] })),
  )
  return [...Map.groupBy(stated, ({ kind, field }) => `${kind} ${field}`).values()].map((all) => {
    const { kind, field, name, path } = all[0]!
    const owner = all.length === 1 ? name : `${all.length} ${kinds[kind].title}s`
    return leftAlone(kind === 'realm' ? field : `${field} of ${owner}`, document.locate(path))
  })
}

function leftAlone(field: string, position: Position): Notice {
  return { position, message: `${field} is not managed by this version and left alone` }
}
