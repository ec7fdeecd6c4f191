// Admin events of objects that another operation changes, such as an import or an apply.
import { kinds } from '../../kinds/index.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import { maskRepresentation } from '../../kinds/mask-representation.ts'
import type { AdminEvent } from '../../store/journal/admin-events.ts'
import type { JournalEntry } from '../../store/journal/journal.ts'
import type { WriteContext } from '../context/context.ts'
import { hasAdminEvents } from '../journal/admin-events.ts'
import type { LiveObject } from './live-objects.ts'

/** A change of an object. */
export interface ObjectChange {
  readonly operation: JournalEntry['operation']
  /** The object after the change; before it, for a deletion. */
  readonly object: LiveObject
}

const OPERATIONS = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const

/** Records an admin event for each change, if the realm stores admin events. */
export function recordObjectEvents(context: WriteContext, changes: readonly ObjectChange[]): void {
  if (!hasAdminEvents(context)) return
  for (const { operation, object } of changes) {
    const kind = kinds[object.kind]
    if (kind.hasNoAdminEvents) continue
    const id = { [kind.idField]: object.id }
    const representation =
      operation === 'delete'
        ? { ...id, [kind.naturalKey]: object.key.at(-1)! }
        : maskRepresentation(kind, { ...object.representation, ...id })
    context.adminEvents.push({
      operationType: OPERATIONS[operation],
      resourceType: getEventType(kind, object.parent?.kind),
      ...toResourcePath(kind, object),
      representation,
    })
  }
}

/** Returns the resource type of events of a kind's objects below a parent of that kind, or in the realm itself. */
export function getEventType({ events }: Kind, parent: KindName | undefined): AdminEvent['resourceType'] {
  return (parent && events.typeByParent?.[parent]) ?? events.type
}

function toResourcePath({ events }: Kind, { id, key, parent }: LiveObject): Pick<AdminEvent, 'resourcePath'> {
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
