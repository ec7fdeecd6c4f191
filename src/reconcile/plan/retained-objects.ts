// Objects that are no longer declared and stay, since their source prunes nothing. Pure.
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'

/** Whether an object that is no longer declared may be deleted: its source declared it fully, no other source manages it, it is not built in. */
export function isDeletable({ otherSources, builtIn }: PlanInput, managed: ManagedObject): boolean {
  const { kind, object, key, fields } = managed
  const isShared = otherSources.some((other) => other.kind === kind && other.object === object)
  const isReference = !(kinds[kind].naturalKey in fields)
  return !isShared && !isReference && kind !== 'realm' && !builtIn.has(formatAddress(kind, key))
}

/** Whether an object is a user of a directory, who is never deleted: the user would be imported again. */
export function isOfDirectory({ kind, fields }: LiveState): boolean {
  return kind === 'user' && fields.federationLink != null
}

/** Returns the live objects that would be deleted if their source pruned. */
export function findRetainedObjects(input: PlanInput): ManagedObject[] {
  const retained = input.managed.filter(
    ({ isRetained, kind, key }) => isRetained && !input.declared.has(formatAddress(kind, key)),
  )
  if (!retained.length) return []
  const live = new Set(input.live.filter((state) => !isOfDirectory(state)).map(({ kind, id }) => `${kind} ${id}`))
  return retained.filter((managed) => live.has(`${managed.kind} ${managed.object}`) && isDeletable(input, managed))
}
