// What people lose when objects end: counted before they do, since what goes with them stands in no journal.
import type { KindName } from '../../kinds/kind.ts'
import { type EffectCount, countEffects, type IdsByKind } from '../../store/journal/effects.ts'
import type { Context } from '../context/context.ts'
import { getSessionLimits } from '../login/sessions.ts'
import { listObjects } from '../objects/live-objects.ts'

/** An object that is about to end. */
export interface EndingObject {
  readonly kind: KindName
  readonly id: string
  /** Whether it is deleted, or can be used no more. */
  readonly change: 'deleted' | 'disabled'
}

/** What people lose with the objects: links, roles, memberships, sessions, consents. A few statements, whatever the number; none for none. */
export async function getEffects(context: Context, objects: readonly EndingObject[]): Promise<EffectCount[]> {
  if (!objects.length) return []
  const [realm] = await listObjects(context, 'realm', {})
  const [online, offline] = [false, true].map((one) => getSessionLimits(realm!.representation, one, context.now))
  const ending = { deleted: idsOf(objects, 'deleted'), disabled: idsOf(objects, 'disabled') }
  return countEffects(context.tx, context.realm.number, { ending, limits: { online: online!, offline: offline! } })
}

function idsOf(objects: readonly EndingObject[], how: EndingObject['change']): IdsByKind {
  const own = Map.groupBy(
    objects.filter((one) => one.change === how),
    ({ kind }) => kind,
  )
  return Object.fromEntries([...own].map(([kind, all]) => [kind, all.map(({ id }) => id)]))
}
