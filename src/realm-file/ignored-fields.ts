// Fields that documents may declare without effect: those of early versions of Keycloak.

import { kinds } from '../kinds/index.ts'
import { isEmpty } from '../kinds/json.ts'
import { describe, type TreeObject } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Document } from './yaml/document.ts'
import type { Notice } from './yaml/problem.ts'

/** Fields of an earlier form that say something: one entry for all objects of a kind, in the order of the file. */
export function ignoredFields(document: Pick<Document, 'locate'>, tree: readonly TreeObject[]): Notice[] {
  const stated = tree.flatMap(({ kind, key, representation, path }) =>
    Object.entries(representation)
      .filter(([field, value]) => kinds[kind].fields[field]?.earlier && value !== false && !isEmpty(value))
      .map(([field]) => ({ kind, field, name: describe(kind, key), path: [...path, field] })),
  )
  const notices = [...Map.groupBy(stated, ({ kind, field }) => `${kind} ${field}`).values()].map((all) => {
    const { kind, field, name, path } = all[0]!
    const owner = all.length === 1 ? name : `${all.length} ${kinds[kind].title}s`
    return leftAlone(kind === 'realm' ? field : `${field} of ${owner}`, document.locate(path))
  })
  return notices.sort((a, b) => a.position.line - b.position.line)
}

function leftAlone(field: string, position: Position): Notice {
  return { position, message: `${field} is not managed by this version and left alone` }
}
