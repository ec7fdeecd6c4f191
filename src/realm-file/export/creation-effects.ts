// The effects of creating the objects of a realm.
import { creationOrder } from '../../kinds/creation-order.ts'
import { writers } from '../../service/kinds/index.ts'
import type { ObjectRepresentation } from '../../service/objects/live-objects.ts'
import type { CreationEffects } from './minimize-objects.ts'

/** Returns the effects of creating the objects of a realm, which include the realm itself. Pure. */
export function getCreationEffects(objects: readonly ObjectRepresentation[]): CreationEffects {
  const realm = objects.find(({ kind }) => kind === 'realm')!
  const defaults = new Map(creationOrder.map((kind) => [kind, writers[kind].getCreationDefaults?.(realm)]))
  return {
    defaults: (kind, declared) => defaults.get(kind)?.(declared) ?? {},
    createdWith: objects.flatMap((object) => writers[object.kind].listCreatedWith?.(object) ?? []),
  }
}
