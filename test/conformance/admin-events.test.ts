// Which admin events the reference server records for each operation: `admin-events.json` was recorded from it, wherever a
// tape has a call that succeeds. `asCalled`: the event of a creation has the path of the request.
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { toEvent } from '../../src/http/event.ts'
import recorded from './admin-events.json' with { type: 'json' }

const events: Readonly<Record<string, readonly string[]>> = recorded.events

test('each operation says of its admin event what the reference server records', () => {
  const differing = operations.flatMap((operation) => {
    const name = `${operation.method} ${operation.path}`
    const known = events[name]
    if (!known) return []
    const event = toEvent(operation)
    const said = event && `${event.operation} ${event.type}`
    const same = said === undefined ? !known.length : known.includes(said)
    return same ? [] : [`${name}: ${said ?? 'none'}, recorded: ${known.join() || 'none'}`]
  })
  expect(differing).toEqual([])
})

test('the event of a creation names the new object where the reference server does', () => {
  const creations = operations.filter(
    ({ method, path, responses }) => events[`${method} ${path}`]?.length && responses[201],
  )
  const differing = creations.filter(
    (operation) => toEvent(operation)?.asCalled !== recorded.asCalled.includes(`${operation.method} ${operation.path}`),
  )
  expect(differing.map(({ operationId }) => operationId)).toEqual([])
})
