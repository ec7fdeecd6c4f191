// Delays around a call: attempts that are repeated, work at an interval, and deadlines.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { expireAfter, waitAtMost } from '../../src/lib/timing/deadline.ts'
import { retry } from '../../src/lib/timing/retry.ts'
import { runEvery } from '../../src/lib/timing/run-every.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('a call is repeated until it succeeds', async () => {
  const errors = [new Error('1'), new Error('2')]
  const delays: string[] = []
  const delayAfter = (error: unknown, failures: number) => {
    delays.push(`${failures}: ${(error as Error).message}`)
    return 0
  }
  const result = retry(
    async () => {
      const error = errors.shift()
      if (error) throw error
      return 'done'
    },
    { delayAfter },
  )
  expect(await result).toBe('done')
  expect(delays).toEqual(['1: 1', '2: 2'])
})

test('work is repeated at an interval that is longer than the longest timer', async () => {
  const days = 24 * 3600 * 1000
  let runs = 0
  const work = runEvery(60 * days, () => void runs++)
  await vi.advanceTimersByTimeAsync(59 * days)
  expect(runs).toBe(0)
  await vi.advanceTimersByTimeAsync(2 * days)
  expect(runs).toBe(1)
  await work.close()
})

test('an error after which a call is not repeated is thrown', async () => {
  let attempts = 0
  const attempt = async () => {
    throw new Error(`attempt ${++attempts}`)
  }
  const delayAfter = (_: unknown, failures: number) => (failures < 3 ? 0 : undefined)
  await expect(retry(attempt, { delayAfter })).rejects.toThrow('attempt 3')
})

test('an aborted call is not repeated', async () => {
  const ending = new AbortController()
  let attempts = 0
  const attempt = async () => {
    attempts++
    throw new Error('broken')
  }
  const call = retry(attempt, { delayAfter: () => 3_600_000, signal: ending.signal })
  await vi.advanceTimersByTimeAsync(0)
  ending.abort()
  await expect(call).rejects.toThrow(/aborted/)
  expect(attempts).toBe(1)
})

test('repeated work begins after the interval, goes on after an error, and ends when it is closed', async () => {
  const errors: unknown[] = []
  let runs = 0
  const work = () => {
    runs++
    if (runs === 1) throw new Error('broken')
  }
  const repeated = runEvery(1000, work, (error) => errors.push((error as Error).message))
  await vi.advanceTimersByTimeAsync(999)
  expect(runs).toBe(0)
  await vi.advanceTimersByTimeAsync(2001)
  expect([runs, errors]).toEqual([3, ['broken']])
  await repeated.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('a deadline expires once, unless it is cancelled', async () => {
  let expired = 0
  expireAfter(100, () => expired++)
  const cancel = expireAfter(100, () => expired++)
  await vi.advanceTimersByTimeAsync(99)
  expect(expired).toBe(0)
  cancel()
  await vi.advanceTimersByTimeAsync(1)
  expect([expired, vi.getTimerCount()]).toEqual([1, 0])
})

test('work is waited for no longer than its time', async () => {
  const results: string[] = []
  const wait = (name: string, work: Promise<unknown>) =>
    waitAtMost(100, work).then(
      () => results.push(name),
      () => results.push(`${name} failed`),
    )
  void wait('slow', new Promise(() => {}))
  void wait('fast', Promise.resolve())
  void wait('broken', Promise.reject(new Error('broken')))
  await vi.advanceTimersByTimeAsync(99)
  expect(results).toEqual(['fast', 'broken failed'])
  await vi.advanceTimersByTimeAsync(1)
  expect([results, vi.getTimerCount()]).toEqual([['fast', 'broken failed', 'slow'], 0])
})
