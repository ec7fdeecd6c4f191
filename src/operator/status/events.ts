// What is told of a resource when it stands otherwise than before. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Condition, ResourceEvent, Status } from '../resource.ts'

/** The events that lead from what was said of a resource to what is said now. */
export function eventsBetween(before: Status, now: Status): ResourceEvent[] {
  const changed = (type: Condition['type']): Condition | undefined => {
    const [one, other] = [before, now].map(({ conditions = [] }) => conditions.find((each) => each.type === type))
    return other && (one?.reason !== other.reason || one.message !== other.message) ? other : undefined
  }
  const events: ResourceEvent[] = []
  const [ready, drifted] = [changed('Ready'), changed('Drifted')]
  if (ready?.status === 'False') events.push({ type: 'Warning', reason: ready.reason, message: ready.message })
  if (drifted) events.push({ type: 'Warning', reason: 'Drifted', message: drifted.message })
  // Only what runs are made for has a history.
  const [last] = now.history ?? []
  if (last?.outcome === 'Applied' && now.plan && !isDeepStrictEqual(last, before.history?.[0])) {
    const { create, update, delete: gone } = now.plan
    const counts = [`created ${create}`, `configured ${update}`, `deleted ${gone}`].filter((one) => !one.endsWith(' 0'))
    const message = `objects of the realm: ${counts.join(', ')}`
    events.push({ type: 'Normal', reason: 'Applied', message })
  }
  return events
}
