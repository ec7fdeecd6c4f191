// Admin events of objects that change otherwise than by an operation on them, such as those that an import creates.
import { kinds } from '../../kinds/index.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import { masked } from '../../kinds/masked.ts'
import type { AdminEvent } from '../../store/journal/admin-events.ts'
import type { JournalEntry } from '../../store/journal/journal.ts'
import type { WriteContext } from '../context/context.ts'
import { keepsEvents } from '../journal/admin-events.ts'
import type { LiveObject } from './live.ts'

/** What happened to one object. */
export interface ObjectChange {
  readonly operation: JournalEntry['operation']
  /** As it is then; deleted, as it was. */
  readonly object: LiveObject
}

const OPERATIONS = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const

/** Notes an event for each object that was changed otherwise than by an operation on it. */
export function noteChanges(context: WriteContext, changes: readonly ObjectChange[]): void {
  if (!keepsEvents(context)) return
  for (const { operation, object } of changes) {
    const kind = kinds[object.kind]
    if (kind.silent) continue
    const id = { [kind.idField]: object.id }
    const representation =
      operation === 'delete'
        ? { ...id, [kind.naturalKey]: object.key.at(-1)! }
        : masked(kind, { ...object.representation, ...id })
    context.events.push({
      operationType: OPERATIONS[operation],
      resourceType: typeOf(kind, object.parent?.kind),
      ...pathOf(kind, object),
      representation,
    })
  }
}

/** The type of the objects of a kind that belong to an object of that kind, or to the realm itself. */
export function typeOf({ events }: Kind, parent: KindName | undefined): AdminEvent['resourceType'] {
  return (parent && events.typeOf?.[parent]) ?? events.type
}

function pathOf({ events }: Kind, { id, key, parent }: LiveObject): Partial<AdminEvent> {
  const path = events.paths[parent?.kind ?? 'realm']
  if (path === undefined) return {}
  const values: Record<string, string | undefined> = {
    id,
    name: key.at(-1),
    parentId: parent?.id,
    parentName: key.at(-2),
  }
  return { resourcePath: path.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!) }
}
