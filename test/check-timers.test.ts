import { expect, test } from 'vitest'
import { findTimers, findTimerViolations, readTimerSources, TIMER_FILES } from '../scripts/check-timers.ts'

const sources = readTimerSources()

test('only the listed files of src use timers, and each of them does', () => {
  expect(findTimerViolations(sources)).toEqual([])
})

test('a timer in another file is a violation, and so is a listed file that no longer uses one', () => {
  const timer = 'setTimeout(look, 20)'
  expect(findTimerViolations(new Map([...sources, ['src/service/a.ts', timer]]))).toEqual([
    'src/service/a.ts uses setTimeout: use the work queue (src/lib/timing/work-queue.ts) or a deadline (src/lib/timing/deadline.ts)',
  ])
  const [listed] = Object.keys(TIMER_FILES)
  const unneeded = [`${listed} uses no timer: remove it from scripts/check-timers.ts`]
  expect(findTimerViolations(new Map([...sources, [listed!, '']]))).toEqual(unneeded)
  expect(findTimerViolations(new Map([...sources].filter(([file]) => file !== listed)))).toEqual(unneeded)
})

test.each([
  ['const timer = setTimeout(look, 20)', ['setTimeout']],
  ['  return setInterval(beat, 1000).unref()', ['setInterval']],
  ['globalThis.setTimeout(look)', ['globalThis.setTimeout']],
  ['const wait = promisify(setTimeout)', ['setTimeout']],
  ["import { setTimeout as after } from 'node:timers/promises'", ['node:timers/promises', 'setTimeout']],
  ["import * as timers from 'timers'", ['timers']],
  ["const { scheduler } = await import('timers/promises')", ['timers/promises']],
])('a timer is found: %s', (source, uses) => {
  expect(findTimers(source)).toEqual(uses)
})

test.each(['// setTimeout(look, 20)', 'request.setTimeout(1000)', 'const resetTimeout = 1', 'clearTimeout(timer)'])(
  'what sets no timer is not taken for one: %s',
  (source) => {
    expect(findTimers(source)).toEqual([])
  },
)
