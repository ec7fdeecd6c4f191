// Drift as it happens: a stream of events that the server sends.
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { Drift } from '../reconcile/drift.ts'
import type { DriftEvent } from '../reconcile/drift-events.ts'
import { driftWatch } from '../reconcile/drift-watch.ts'
import { demand } from '../service/administrators.ts'
import { allows, type Power } from '../service/power.ts'
import { HttpError } from './errors.ts'
import type { Call, Operation } from './operation.ts'
import { drift } from './regent-schemas.ts'
import { refusals } from './responses.ts'

/** How often those who listen hear that somebody is there, in milliseconds: proxies end what is silent. */
const HEARTBEAT = 15_000
/** How many may listen to one server. */
const LISTENERS = 200
/** What somebody may leave unread, in characters, before others' memory counts for more. */
const UNREAD = 1024 * 1024

/** The stream of drift. */
export const regentDriftOperations: readonly Operation[] = [
  {
    operationId: 'watchDrift',
    tag: 'Regent',
    method: 'GET',
    path: '/regent/v1/drift/events',
    summary:
      'Tells of drift as soon as it is committed. The event `state` comes first: all that there is, as `findDrift` lists it. Then ' +
      'each field or object that has drifted is an event `drift`, and when it is put back, stated or let go of, an event ' +
      '`settled` with the same value. The stream ends when the token does; whoever comes again begins with the state.',
    permission: 'administer-realm',
    query: z.object({ realm: z.string().optional().describe('Only this realm.') }),
    responses: {
      200: { description: 'The events, one value each; `state` has a list of them.', schema: drift, events: true },
      503: { description: 'Too many listen already.', schema: refusals[400]!.schema! },
      ...refusals,
    },
    handle: async (call) => ({ status: 200, events: await driftStream(call) }),
  },
]

let listeners = 0

async function driftStream(call: Call): Promise<Readable> {
  const { service, caller, query } = call
  const only = query.realm === undefined ? undefined : await administered(call, String(query.realm))
  const sees = (power: Power, number: number, { realm }: Drift) =>
    (only === undefined || number === only) && allows(power, realm, 'administer-realm')
  const power = await service.demandPower(caller)
  if (listeners >= LISTENERS) {
    throw new HttpError(503, { error: 'unavailable', error_description: `${LISTENERS} listen to this server already` })
  }
  listeners++
  let stop = () => {}
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      listeners--
      clearInterval(beating)
      stop()
      done(error)
    },
  })
  const begun = Promise.withResolvers<void>()
  let last = begun.promise
  // What the caller may see is asked each time: a token that ends, or power that is lost, ends the stream.
  const push = (text: (power: Power) => string) => {
    last = last
      .then(async () => {
        if (stream.readableLength > UNREAD) return void stream.destroy()
        const now = text(await service.demandPower(await call.stillCaller()))
        if (now && !stream.destroyed) stream.push(now)
      })
      .catch(() => void stream.push(null))
  }
  const beating = setInterval(() => push(() => ':\n\n'), HEARTBEAT)
  try {
    const watching = await driftWatch(service).subscribe(({ realm, events }) =>
      push((power) => events.flatMap((one) => (sees(power, realm, one.drift) ? eventText(one) : [])).join('')),
    )
    stop = watching.stop
    const state = [...watching.now].flatMap(([number, all]) => all.filter((one) => sees(power, number, one)))
    stream.push(textOf('state', state))
    begun.resolve()
    return stream
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** The number of the realm, by which it stays the same when it is renamed. Throws not_found or forbidden. */
function administered({ service, caller }: Call, name: string): Promise<number> {
  return service.read(caller, name, async (context) => {
    demand(context, 'administer-realm')
    return context.realm.number
  })
}

const eventText = ({ event, drift }: DriftEvent): string => textOf(event, drift)
const textOf = (event: string, value: unknown): string => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
