// The admin events of each operation, compared with those of Keycloak: `admin-events.json` was recorded for each operation with a
// successful recorded exchange. `asCalled` lists creations whose event has the path of the request.
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { toEvent } from '../../src/http/event.ts'
import recorded from './admin-events.json' with { type: 'json' }

const events: Readonly<Record<string, readonly string[]>> = recorded.events

test('each operation has the admin event that Keycloak records', () => {
  const differing = operations.flatMap((operation) => {
    const name = `${operation.method} ${operation.path}`
    const recordedEvents = events[name]
    if (!recordedEvents) return []
    const event = toEvent(operation)
    const actual = event && `${event.operation} ${event.type}`
    const isEqual = actual === undefined ? !recordedEvents.length : recordedEvents.includes(actual)
    return isEqual ? [] : [`${name}: ${actual ?? 'none'}, recorded: ${recordedEvents.join() || 'none'}`]
  })
  expect(differing).toEqual([])
})

test('the event of a creation has the path of the new object where that of Keycloak has it', () => {
  const creations = operations.filter(
    ({ method, path, responses }) => events[`${method} ${path}`]?.length && responses[201],
  )
  const differing = creations.filter(
    (operation) => toEvent(operation)?.asCalled !== recorded.asCalled.includes(`${operation.method} ${operation.path}`),
  )
  expect(differing.map(({ operationId }) => operationId)).toEqual([])
})
