// What the service does besides when a realm of these objects is made. Pure.
import { creationOrder } from '../../kinds/order.ts'
import { writers } from '../../service/kinds/index.ts'
import type { SaidObject } from '../../service/objects/live.ts'
import type { Following } from './minimal.ts'

/** What follows from the objects of a realm, which is one of them. */
export function following(objects: readonly SaidObject[]): Following {
  const realm = objects.find(({ kind }) => kind === 'realm')!
  const additions = new Map(creationOrder.map((kind) => [kind, writers[kind].additions?.(realm)]))
  return {
    additions: (kind, stated) => additions.get(kind)?.(stated) ?? {},
    brought: objects.flatMap((live) => writers[live.kind].brings?.(live) ?? []),
  }
}
