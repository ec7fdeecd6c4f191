// Delays between attempts, by table.
import { afterEach, expect, test, vi } from 'vitest'
import { getBackOff, getSteppedBackOff } from '../../src/lib/timing/back-off.ts'

afterEach(() => void vi.restoreAllMocks())

test.each([
  { failures: 1, first: 500, longest: 300_000, delay: 500 },
  { failures: 2, first: 500, longest: 300_000, delay: 1_000 },
  { failures: 5, first: 500, longest: 300_000, delay: 8_000 },
  { failures: 11, first: 500, longest: 300_000, delay: 300_000 },
  { failures: 2_000, first: 500, longest: 300_000, delay: 300_000 },
  // A first delay beyond the longest one stays as it is.
  { failures: 1, first: 60_000, longest: 1_000, delay: 60_000 },
  { failures: 9, first: 60_000, longest: 1_000, delay: 60_000 },
])('the back-off after $failures failures from $first to $longest ms is $delay ms, less up to a fifth', (row) => {
  const { failures, first, longest, delay } = row
  const random = vi.spyOn(Math, 'random').mockReturnValue(0)
  expect(getBackOff(failures, first, longest)).toBe(delay)
  random.mockReturnValue(1)
  expect(getBackOff(failures, first, longest)).toBe(delay * 0.8)
})

test.each([
  { failures: 1, delays: [0, 100, 2_000], delay: 0 },
  { failures: 2, delays: [0, 100, 2_000], delay: 100 },
  { failures: 3, delays: [0, 100, 2_000], delay: 2_000 },
  { failures: 40, delays: [0, 100, 2_000], delay: 2_000 },
  { failures: 3, delays: [5_000], delay: 5_000 },
  { failures: 1, delays: [], delay: 0 },
])('the back-off after $failures failures by the table $delays is $delay ms', ({ failures, delays, delay }) => {
  expect(getSteppedBackOff(failures, delays)).toBe(delay)
})
