// The effects of a deletion on users, such as lost roles and sessions. They are counted before, since the journal does not contain them.
import type { KindName } from '../../kinds/kind.ts'
import { countEffects, type EffectCount, type IdsByKind } from '../../store/journal/effects.ts'
import type { Context } from '../context/context.ts'
import { getSessionLimits } from '../login/sessions.ts'
import { listObjects } from '../objects/live-objects.ts'

/** An object that a plan deletes or disables. */
export interface EndingObject {
  readonly kind: KindName
  readonly id: string
  readonly change: 'deleted' | 'disabled'
}

/** Counts what users lose with the objects: links, roles, memberships, sessions, consents. A few statements, none for no objects. */
export async function getEffects(context: Context, objects: readonly EndingObject[]): Promise<EffectCount[]> {
  const [realm] = objects.length ? await listObjects(context, 'realm', {}) : []
  if (!realm) return []
  const getLimits = (isOffline: boolean) => getSessionLimits(realm.representation, isOffline, context.now)
  return countEffects(context.tx, context.realm.number, {
    ending: { deleted: groupIds(objects, 'deleted'), disabled: groupIds(objects, 'disabled') },
    limits: { online: getLimits(false), offline: getLimits(true) },
  })
}

function groupIds(objects: readonly EndingObject[], change: EndingObject['change']): IdsByKind {
  const byKind = Map.groupBy(
    objects.filter((object) => object.change === change),
    ({ kind }) => kind,
  )
  return Object.fromEntries([...byKind].map(([kind, group]) => [kind, group.map(({ id }) => id)]))
}
