// What REST does with the settings of a realm that are about events.
import type { FlatFields } from '../../../kinds/compare.ts'
import type { Representation } from '../../../kinds/json.ts'
import { USUAL_EVENT_TYPES } from '../../../kinds/user-events.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { withoutNulls } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'
import { ownRealm } from '../common/own-realm.ts'

/** Keycloak: who can be told of events. */
const LISTENERS = ['email', 'jboss-logging', 'workflow-event-listener']

/** The settings of events. Keycloak: where no types are named, all show that are kept then. */
export async function getEventsConfig(context: Context): Promise<Representation> {
  demand(context, 'view-events')
  const realm = await ownRealm(context)
  const { eventsEnabled, eventsExpiration, eventsListeners, enabledEventTypes, ...others } = realm.representation
  const { adminEventsEnabled, adminEventsDetailsEnabled } = others
  const types = (enabledEventTypes ?? []) as string[]
  return {
    eventsEnabled: eventsEnabled === true,
    ...(eventsExpiration && { eventsExpiration }),
    eventsListeners: eventsListeners ?? [],
    enabledEventTypes: types.length ? types : [...USUAL_EVENT_TYPES],
    adminEventsEnabled: adminEventsEnabled === true,
    adminEventsDetailsEnabled: adminEventsDetailsEnabled === true,
  }
}

/** Changes them. Keycloak: whether events of people are kept, and for how long, goes back where it is not stated. */
export async function replaceEventsConfig(context: WriteContext, body: Representation): Promise<void> {
  demand(context, 'manage-events')
  const { eventsEnabled = false, eventsExpiration = null, ...stated } = withoutNulls(body)
  const unknown = ((stated.eventsListeners ?? []) as string[]).some((listener) => !LISTENERS.includes(listener))
  if (unknown) throw failure('malformed', 'Unknown event listener')
  const live = await ownRealm(context)
  const set: FlatFields = { eventsEnabled, eventsExpiration, ...stated }
  await writers.realm.update(context, [{ live, set }])
  describeEvent(context, { representation: { eventsEnabled, ...withoutNulls(body) } })
}
