// The stream of drift, as server-sent events.
import type { Readable } from 'node:stream'
import * as z from 'zod'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { DriftEvent } from '../../reconcile/drift/drift-events.ts'
import { getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import { type AdminPermissions, hasPermission, isRealmAdministrator } from '../../service/context/admin-permissions.ts'
import { failure } from '../../service/context/errors.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import type { Call, Operation } from '../operation.ts'
import { errorResponses } from '../responses.ts'
import { openEventStream, renderEvent } from './event-stream.ts'
import { drift } from './schemas.ts'

/** The stream of drift. */
export const regentDriftOperations: readonly Operation[] = [
  {
    operationId: 'watchDrift',
    tag: 'Drift',
    method: 'GET',
    path: '/regent/v1/drift/events',
    summary: 'Watch drift as server-sent events: `state` with all drift, then `drift` and `resolved` for each change',
    permission: 'administer-realm',
    query: z.object({ realm: z.string().optional().describe('Only this realm.') }),
    responses: {
      200: {
        description:
          'The events: first `state` with a list of all drift, then `drift` for each field or object that drifts, and `resolved` when it no longer does. The stream ends when the token expires.',
        schema: drift,
        events: true,
      },
      503: { description: 'The server has too many streams.', schema: errorResponses[400]!.schema! },
      ...errorResponses,
    },
    handle: async (call) => ({ status: 200, events: await openDriftStream(call) }),
  },
]

async function openDriftStream(call: Call): Promise<Readable> {
  const { service, caller, query } = call
  const only = query.realm === undefined ? undefined : await getAdministeredRealm(call, String(query.realm))
  const sees = (permissions: AdminPermissions, number: number, { realm }: Drift) =>
    (only === undefined || number === only) && hasPermission(permissions, realm, 'administer-realm')
  const permissions = await service.getPermissions(caller)
  if (!isRealmAdministrator(permissions)) throw failure('forbidden', 'HTTP 403 Forbidden')
  return openEventStream(call, async (push) => {
    const { initialDrift, unsubscribe } = await getDriftWatch(service).subscribe(({ realm, events }) =>
      push(async (reader) => {
        const current = await service.getPermissions(reader)
        return events.flatMap((event) => (sees(current, realm, event.drift) ? renderDriftEvent(event) : [])).join('')
      }),
    )
    const state = [...initialDrift].flatMap(([number, all]) => all.filter((drift) => sees(permissions, number, drift)))
    return { initial: renderEvent('state', state), unsubscribe }
  })
}

/** Returns the number of the realm, which survives a rename. @throws not_found or forbidden */
function getAdministeredRealm({ service, caller }: Call, name: string): Promise<number> {
  return service.read(caller, name, async (context) => {
    requirePermissions(context, 'administer-realm')
    return context.realm.number
  })
}

const renderDriftEvent = ({ event, drift }: DriftEvent): string => renderEvent(event, drift)
