// The stream of drift, as server-sent events.
import { Readable } from 'node:stream'
import * as z from 'zod'
import { runEvery } from '../../lib/timing/run-every.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { DriftEvent } from '../../reconcile/drift/drift-events.ts'
import { getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import { type AdminPermissions, hasPermission, isRealmAdministrator } from '../../service/context/admin-permissions.ts'
import { failure } from '../../service/context/errors.ts'
import type { Caller } from '../../service/context/service.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { HttpError } from '../errors.ts'
import type { Call, Operation } from '../operation.ts'
import { errorResponses } from '../responses.ts'
import { drift } from './schemas.ts'

/** Milliseconds between comments that keep a stream open: proxies end silent connections. */
const HEARTBEAT = 15_000
/** The most streams of a server, and of one caller. */
const MAX_STREAMS = 200
const MAX_STREAMS_PER_CALLER = 10
/** The most unread characters of a stream. A slower reader is disconnected, to bound memory. */
const MAX_UNREAD = 1024 * 1024

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

/** The number of open streams by caller. */
const streamCounts = new Map<string, number>()

async function openDriftStream(call: Call): Promise<Readable> {
  const { service, caller, query } = call
  const only = query.realm === undefined ? undefined : await getAdministeredRealm(call, String(query.realm))
  const sees = (permissions: AdminPermissions, number: number, { realm }: Drift) =>
    (only === undefined || number === only) && hasPermission(permissions, realm, 'administer-realm')
  const permissions = await service.getPermissions(caller)
  if (!isRealmAdministrator(permissions)) throw failure('forbidden', 'HTTP 403 Forbidden')
  const leave = acquireStream(caller)
  let stop = () => {}
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      leave()
      void heartbeat.close()
      stop()
      done(error)
    },
  })
  const begun = Promise.withResolvers<void>()
  let last = begun.promise
  // Permissions are checked for each event: the stream ends with the token or the permission.
  const push = (text: (permissions: AdminPermissions) => string) => {
    last = last
      .then(async () => {
        if (stream.readableLength > MAX_UNREAD) return void stream.destroy()
        const now = text(await service.getPermissions(await call.reauthenticate()))
        if (now && !stream.destroyed) stream.push(now)
      })
      .catch(() => void stream.push(null))
  }
  const heartbeat = runEvery(HEARTBEAT, () => push(() => ':\n\n'))
  try {
    const watching = await getDriftWatch(service).subscribe(({ realm, events }) =>
      push((permissions) =>
        events.flatMap((event) => (sees(permissions, realm, event.drift) ? renderDriftEvent(event) : [])).join(''),
      ),
    )
    stop = watching.unsubscribe
    const state = [...watching.initialDrift].flatMap(([number, all]) =>
      all.filter((drift) => sees(permissions, number, drift)),
    )
    stream.push(renderEvent('state', state))
    begun.resolve()
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** Counts a new stream. Returns the function that ends it. @throws HttpError 503 if there are too many. */
function acquireStream({ user }: Caller): () => void {
  const subscriber = user ? `${user.realm} ${user.id}` : ''
  const ownStreams = streamCounts.get(subscriber) ?? 0
  const all = [...streamCounts.values()].reduce((sum, count) => sum + count, 0)
  const full =
    all >= MAX_STREAMS
      ? `The server already has ${MAX_STREAMS} streams of drift. Try again later.`
      : user &&
        ownStreams >= MAX_STREAMS_PER_CALLER &&
        `You already have ${MAX_STREAMS_PER_CALLER} streams of drift. End one of them first.`
  if (full) throw new HttpError(503, { error: 'unavailable', error_description: full })
  streamCounts.set(subscriber, ownStreams + 1)
  return () => {
    const remaining = streamCounts.get(subscriber)! - 1
    if (remaining) streamCounts.set(subscriber, remaining)
    else streamCounts.delete(subscriber)
  }
}

/** Returns the number of the realm, which survives a rename. @throws not_found or forbidden */
function getAdministeredRealm({ service, caller }: Call, name: string): Promise<number> {
  return service.read(caller, name, async (context) => {
    requirePermissions(context, 'administer-realm')
    return context.realm.number
  })
}

const renderDriftEvent = ({ event, drift }: DriftEvent): string => renderEvent(event, drift)
const renderEvent = (event: string, value: unknown): string => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
