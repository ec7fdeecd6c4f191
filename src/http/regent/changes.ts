// The stream of changes, as server-sent events: of sources, plans, drift and revisions.
import type { Readable } from 'node:stream'
import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { expireAfter } from '../../lib/timing/deadline.ts'
import { hasPermission } from '../../service/context/admin-permissions.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { WakeUp } from '../../service/context/store-types.ts'
import { getPlanState, listSavedPlans } from '../../service/sources/saved-plans.ts'
import { listRealmsByNumber } from '../../service/sources/source-records.ts'
import { listSourceStates } from '../../service/sources/source-status.ts'
import type { Call, Operation } from '../operation.ts'
import { errorResponses } from '../responses.ts'
import { openEventStream, renderEvent } from './event-stream.ts'

/** Milliseconds for which changes are collected before they are sent. */
const COLLECT_TIME = 50

const change = z
  .object({
    topic: z
      .enum(['sources', 'plans', 'drift', 'revisions', 'everything'])
      .describe(
        'What changed: the status of sources, saved plans, drift, the configuration of a realm, or possibly everything.',
      ),
    realm: z.string().optional().describe('Name of the realm, for drift and revisions.'),
  })
  .describe('A change that the caller may view.')
  .register(namedSchemas, { id: 'ChangeNotificationRepresentation' })

/** The stream of changes. */
export const regentChangeOperations: readonly Operation[] = [
  {
    operationId: 'watchChanges',
    tag: 'Sources',
    method: 'GET',
    path: '/regent/v1/events',
    summary: 'Watch changes of sources, plans, drift and revisions as server-sent events',
    description: 'An event names what to read again, and has no values. The caller gets events of what they may view.',
    permission: 'any',
    responses: {
      200: {
        description: 'The events: `change` for each change. The stream ends when the token expires.',
        schema: change,
        events: true,
      },
      503: { description: 'The server has too many streams.', schema: errorResponses[400]!.schema! },
      ...errorResponses,
    },
    handle: async (call) => ({ status: 200, events: await openChangeStream(call) }),
  },
]

async function openChangeStream(call: Call): Promise<Readable> {
  const { service, caller } = call
  await service.getPermissions(caller)
  const listed = new ListedByCaller(service)
  await listed.update(caller)
  return openEventStream(call, async (push) => {
    let collected: WakeUp[] = []
    let cancel = () => {}
    const unsubscribe = service.subscribe((wakeUp) => {
      if (!isObserved(wakeUp)) return
      if (!collected.length)
        cancel = expireAfter(COLLECT_TIME, () => {
          const wakeUps = collected
          collected = []
          push((reader) => renderChanges(service, reader, { wakeUps, listed }))
        })
      collected.push(wakeUp)
    })
    return {
      initial: renderEvent('change', { topic: 'everything' }),
      unsubscribe: () => {
        unsubscribe()
        cancel()
      },
    }
  })
}

/** Whether a wake-up is about something that the stream reports. Those of single users and sessions are not. */
function isObserved({ topic, name }: WakeUp): boolean {
  return topic !== 'lease' && (topic !== 'access' || name === undefined)
}

/** Renders the changes that the reader may view, one event for each. */
async function renderChanges(
  service: Service,
  reader: Caller,
  { wakeUps, listed }: { readonly wakeUps: readonly WakeUp[]; readonly listed: ListedByCaller },
): Promise<string> {
  const topics = new Set(wakeUps.map(({ topic }) => topic))
  const realms = await listChangedRealms(service, reader, wakeUps)
  if (topics.has('everything')) return renderEvent('change', { topic: 'everything' })
  const lists = ['source', 'status', 'plan', 'drift'].some((topic) => topics.has(topic as WakeUp['topic']))
    ? await listed.update(reader)
    : []
  return [...lists.map((topic) => ({ topic })), ...realms].map((data) => renderEvent('change', data)).join('')
}

/** Returns the changes in realms that the reader may view. One statement. */
async function listChangedRealms(
  service: Service,
  reader: Caller,
  wakeUps: readonly WakeUp[],
): Promise<{ topic: 'drift' | 'revisions'; realm: string }[]> {
  const numbers = [...new Set(wakeUps.flatMap(({ realm }) => realm ?? []))]
  if (!numbers.length) return []
  const permissions = await service.getPermissions(reader)
  const isAbout = (topic: WakeUp['topic'], number: number) =>
    wakeUps.some((wakeUp) => wakeUp.topic === topic && wakeUp.realm === number)
  return (await listRealmsByNumber(service, numbers)).flatMap(({ number, name: realm }) => {
    const hasDrift = isAbout('drift', number) && hasPermission(permissions, realm, 'accept-drift')
    const hasRevision = isAbout('access', number) && hasPermission(permissions, realm, 'see-realm')
    return [
      ...(hasDrift ? [{ topic: 'drift', realm } as const] : []),
      ...(hasRevision ? [{ topic: 'revisions', realm } as const] : []),
    ]
  })
}

/** The sources and plans that a caller may view, as they were listed last. */
class ListedByCaller {
  readonly #service: Service
  #sources = ''
  #plans = ''

  constructor(service: Service) {
    this.#service = service
  }

  /** Lists them again. Returns the topics that have changed. Two statements, besides those of reads. */
  async update(caller: Caller): Promise<('sources' | 'plans')[]> {
    const now = this.#service.clock()
    const sources = JSON.stringify(await listSourceStates(this.#service, caller))
    const allPlans = await listSavedPlans(this.#service, caller)
    const plans = JSON.stringify(allPlans.map((plan) => [plan.id, getPlanState(plan, now)]))
    const changed = [
      ...(sources === this.#sources ? [] : (['sources'] as const)),
      ...(plans === this.#plans ? [] : (['plans'] as const)),
    ]
    this.#sources = sources
    this.#plans = plans
    return changed
  }
}
