// What REST does with the settings of a realm that are about events.
import type { FlatFields } from '../../../kinds/compare.ts'
import type { Representation } from '../../../kinds/json.ts'
import { DEFAULT_EVENT_TYPES } from '../../../kinds/user-events.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

/** Keycloak: who can be told of events. */
const LISTENERS = ['email', 'jboss-logging', 'workflow-event-listener']

/** The settings of events. Keycloak: where no types are named, all show that are kept then. */
export async function getEventsConfig(context: Context): Promise<Representation> {
  requirePermissions(context, 'view-events')
  const realm = await getCurrentRealm(context)
  const { eventsEnabled, eventsExpiration, eventsListeners, enabledEventTypes, ...others } = realm.representation
  const { adminEventsEnabled, adminEventsDetailsEnabled } = others
  const types = (enabledEventTypes ?? []) as string[]
  return {
    eventsEnabled: eventsEnabled === true,
    ...(eventsExpiration && { eventsExpiration }),
    eventsListeners: eventsListeners ?? [],
    enabledEventTypes: types.length ? types : [...DEFAULT_EVENT_TYPES],
    adminEventsEnabled: adminEventsEnabled === true,
    adminEventsDetailsEnabled: adminEventsDetailsEnabled === true,
  }
}

/** Changes them. Keycloak: whether events of people are kept, and for how long, goes back where it is not stated. */
export async function replaceEventsConfig(context: WriteContext, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-events')
  const { eventsEnabled = false, eventsExpiration = null, ...stated } = omitNulls(body)
  const unknown = ((stated.eventsListeners ?? []) as string[]).some((listener) => !LISTENERS.includes(listener))
  if (unknown) throw failure('invalid', 'Unknown event listener', { form: 'error' })
  const live = await getCurrentRealm(context)
  const set: FlatFields = { eventsEnabled, eventsExpiration, ...stated }
  await writers.realm.update(context, [{ live, set }])
  describeAdminEvent(context, { representation: { eventsEnabled, ...omitNulls(body) } })
}
