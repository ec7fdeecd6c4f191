// Runs of a work queue: which follow an action, and when.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type Reconcile,
  type ReconcileResult,
  WorkQueue,
  type WorkQueueOptions,
} from '../../src/lib/timing/work-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const backOff = (failures: number) => failures * 100

/** A queue, and its runs, each of which ends when the test ends it. */
function controlled(options: Partial<WorkQueueOptions<string>> = {}) {
  const runs: { readonly key: string; end(result?: ReconcileResult): void; fail(error: Error): void }[] = []
  const reconcile: Reconcile<string> = (key) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReconcileResult | undefined>()
    runs.push({ key, end: resolve, fail: reject })
    return promise
  }
  const errors: string[] = []
  const failed = (error: unknown, key: string) => errors.push(`${key}: ${(error as Error).message}`)
  const queue = new WorkQueue(reconcile, { backOff, failed, ...options })
  const keys = () => runs.map(({ key }) => key)
  return { queue, runs, keys, errors }
}

/** Lets what is due happen. */
const settle = () => vi.advanceTimersByTimeAsync(0)

/** The milliseconds from now on after which a further run begins; undefined: none within an hour. */
async function delayOf(runs: readonly unknown[]): Promise<number | undefined> {
  const [started, before] = [performance.now(), runs.length]
  await settle()
  while (runs.length === before && vi.getTimerCount()) await vi.advanceTimersToNextTimerAsync()
  return runs.length === before ? undefined : performance.now() - started
}

test.each<[title: string, outcomes: (ReconcileResult | Error | undefined)[], delays: (number | undefined)[]]>([
  ['success', [undefined], [undefined]],
  ['success with requeueAfter', [{ requeueAfter: 700 }, { requeueAfter: 0 }, undefined], [700, 0, undefined]],
  ['errors', [new Error('1'), new Error('2'), new Error('3'), undefined], [100, 200, 300, undefined]],
  ['failures without an error', [{ failed: true }, { failed: true }, undefined], [100, 200, undefined]],
  ['a failure with requeueAfter', [{ failed: true, requeueAfter: 7 }, new Error('2'), undefined], [7, 200, undefined]],
  [
    'a success between errors',
    [new Error('1'), { requeueAfter: 5 }, new Error('1'), undefined],
    [100, 5, 100, undefined],
  ],
])('after %s a key is reconciled again after the documented delay', async (_, outcomes, delays) => {
  const { queue, runs } = controlled()
  queue.add('a')
  await settle()
  const measured: (number | undefined)[] = []
  for (const outcome of outcomes) {
    if (outcome instanceof Error) runs.at(-1)!.fail(outcome)
    else runs.at(-1)!.end(outcome)
    measured.push(await delayOf(runs))
  }
  expect(measured).toEqual(delays)
})

test('a key that is added while it is due is reconciled once', async () => {
  const { queue, keys } = controlled()
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
  await settle()
  expect(keys()).toEqual(['a', 'b'])
})

test('a key that is added while it is reconciled is reconciled once more, and never twice at a time', async () => {
  const { queue, runs, keys } = controlled()
  queue.add('a')
  await settle()
  for (let times = 0; times < 3; times++) queue.add('a')
  await settle()
  expect(keys()).toEqual(['a'])
  runs[0]!.end()
  await settle()
  expect(keys()).toEqual(['a', 'a'])
  runs[1]!.end()
  await settle()
  expect(keys()).toEqual(['a', 'a'])
})

test('keys are reconciled in the order in which they were added, at most as many at a time as allowed', async () => {
  const { queue, runs, keys } = controlled({ concurrency: 2 })
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key)
  await settle()
  expect(keys()).toEqual(['a', 'b'])
  runs[1]!.end()
  await settle()
  expect(keys()).toEqual(['a', 'b', 'c'])
  runs[0]!.fail(new Error('broken'))
  await settle()
  expect(keys()).toEqual(['a', 'b', 'c', 'd'])
})

test('run resolves with the run that begins after it, and rejects with its error, which is reported once', async () => {
  const { queue, runs, errors } = controlled()
  const first = queue.run('a')
  await settle()
  const [second, third] = [queue.run('a'), queue.run('a')]
  const results: string[] = []
  first.then(() => results.push('first'))
  second.catch(() => results.push('second'))
  third.catch(() => results.push('third'))
  runs[0]!.end()
  await settle()
  expect(results).toEqual(['first'])
  runs[1]!.fail(new Error('broken'))
  await settle()
  expect(results).toEqual(['first', 'second', 'third'])
  expect(errors).toEqual(['a: broken'])
})

test('a delayed key is reconciled at the earliest of its times; a run before that replaces the delay', async () => {
  const { queue, runs } = controlled()
  for (const delay of [500, 200, 900]) queue.addAfter('a', delay)
  expect(queue.isDelayed('a')).toBe(true)
  expect(await delayOf(runs)).toBe(200)
  runs[0]!.end()
  queue.addAfter('a', 500)
  queue.add('a')
  await settle()
  runs[1]!.end()
  expect(await delayOf(runs)).toBe(undefined)
})

test('retry counts failures and replaces the delay; forget cancels both', async () => {
  const { queue, runs } = controlled()
  expect([queue.retry('a'), queue.retry('a'), queue.failures('a')]).toEqual([100, 200, 2])
  expect(await delayOf(runs)).toBe(200)
  // What failed within a run is not undone by its end.
  expect(queue.retry('a')).toBe(300)
  runs[0]!.end()
  await settle()
  expect(queue.failures('a')).toBe(3)
  queue.forget('a')
  expect([queue.failures('a'), queue.isDelayed('a'), vi.getTimerCount()]).toEqual([0, false, 0])
})

test('drain waits for keys that are due, not for delayed ones', async () => {
  const { queue, runs } = controlled({ concurrency: 1 })
  queue.add('a')
  queue.add('b')
  queue.addAfter('c', 1_000)
  let isDrained = false
  void queue.drain().then(() => {
    isDrained = true
  })
  await settle()
  runs[0]!.end()
  await settle()
  expect(isDrained).toBe(false)
  runs[1]!.end()
  await settle()
  expect(isDrained).toBe(true)
})

test.each(['close', 'abort'])('after %s what runs ends, and nothing else begins', async (how) => {
  const ending = new AbortController()
  const { queue, runs, keys } = controlled({ concurrency: 1, signal: ending.signal })
  queue.add('running')
  queue.addAfter('delayed', 10)
  const due = queue.run('due')
  await settle()
  let isClosed = false
  if (how === 'abort') ending.abort()
  const closed = queue.close().then(() => {
    isClosed = true
  })
  queue.add('later')
  queue.addAfter('later', 10)
  queue.retry('later')
  await settle()
  expect(isClosed).toBe(false)
  runs[0]!.fail(new Error('broken'))
  await Promise.all([closed, due])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(keys()).toEqual(['running'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a queue of an aborted signal begins nothing', async () => {
  const { queue, keys } = controlled({ signal: AbortSignal.abort() })
  queue.add('a')
  await settle()
  expect(keys()).toEqual([])
})
