// Drift as it happens: a stream of events that the server sends.
import { Readable } from 'node:stream'
import * as z from 'zod'
import { runEvery } from '../../lib/timing/run-every.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { DriftEvent } from '../../reconcile/drift/drift-events.ts'
import { getDriftWatch } from '../../reconcile/drift/drift-watch.ts'
import { failure } from '../../service/context/errors.ts'
import { isRealmAdministrator, hasPermission, type AdminPermissions } from '../../service/context/admin-permissions.ts'
import type { Caller } from '../../service/context/service.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { HttpError } from '../errors.ts'
import type { Call, Operation } from '../operation.ts'
import { refusals } from '../responses.ts'
import { drift } from './schemas.ts'

/** How often those who listen hear that somebody is there, in milliseconds: proxies end what is silent. */
const HEARTBEAT = 15_000
/** How many may listen to one server, and how many of them may be one caller. */
const LISTENERS = 200
const OF_ONE_CALLER = 10
/** What somebody may leave unread, in characters, before others' memory counts for more. */
const UNREAD = 1024 * 1024

/** The stream of drift. */
export const regentDriftOperations: readonly Operation[] = [
  {
    operationId: 'watchDrift',
    tag: 'Regent',
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
      503: { description: 'Too many listen already.', schema: refusals[400]!.schema! },
      ...refusals,
    },
    handle: async (call) => ({ status: 200, events: await driftStream(call) }),
  },
]

/** By who listens. */
const listeners = new Map<string, number>()

async function driftStream(call: Call): Promise<Readable> {
  const { service, caller, query } = call
  const only = query.realm === undefined ? undefined : await administered(call, String(query.realm))
  const sees = (power: AdminPermissions, number: number, { realm }: Drift) =>
    (only === undefined || number === only) && hasPermission(power, realm, 'administer-realm')
  const power = await service.getPermissions(caller)
  if (!isRealmAdministrator(power)) throw failure('forbidden', 'HTTP 403 Forbidden')
  const leave = takePlace(caller)
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
  // What the caller may see is asked each time: a token that ends, or power that is lost, ends the stream.
  const push = (text: (power: AdminPermissions) => string) => {
    last = last
      .then(async () => {
        if (stream.readableLength > UNREAD) return void stream.destroy()
        const now = text(await service.getPermissions(await call.stillCaller()))
        if (now && !stream.destroyed) stream.push(now)
      })
      .catch(() => void stream.push(null))
  }
  const heartbeat = runEvery(HEARTBEAT, () => push(() => ':\n\n'))
  try {
    const watching = await getDriftWatch(service).subscribe(({ realm, events }) =>
      push((power) => events.flatMap((one) => (sees(power, realm, one.drift) ? eventText(one) : [])).join('')),
    )
    stop = watching.unsubscribe
    const state = [...watching.initialDrift].flatMap(([number, all]) => all.filter((one) => sees(power, number, one)))
    stream.push(textOf('state', state))
    begun.resolve()
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** Takes one of the places of those who listen; gives how to leave it. Throws HttpError where none is left. */
function takePlace({ user }: Caller): () => void {
  const who = user ? `${user.realm} ${user.id}` : ''
  const own = listeners.get(who) ?? 0
  const all = [...listeners.values()].reduce((sum, count) => sum + count, 0)
  const full =
    all >= LISTENERS
      ? `${LISTENERS} listen to this server already`
      : user && own >= OF_ONE_CALLER && `You listen ${OF_ONE_CALLER} times already. End one of these streams first.`
  if (full) throw new HttpError(503, { error: 'unavailable', error_description: full })
  listeners.set(who, own + 1)
  return () => {
    const left = listeners.get(who)! - 1
    if (left) listeners.set(who, left)
    else listeners.delete(who)
  }
}

/** The number of the realm, by which it stays the same when it is renamed. Throws not_found or forbidden. */
function administered({ service, caller }: Call, name: string): Promise<number> {
  return service.read(caller, name, async (context) => {
    requirePermissions(context, 'administer-realm')
    return context.realm.number
  })
}

const eventText = ({ event, drift }: DriftEvent): string => textOf(event, drift)
const textOf = (event: string, value: unknown): string => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
