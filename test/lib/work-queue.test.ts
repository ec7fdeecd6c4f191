// The runs of a work queue after each action, and their delays.
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

/** Creates a queue with runs that the test ends. */
function createControlledQueue(options: Partial<WorkQueueOptions<string>> = {}) {
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

/** Runs everything that is due. */
const runDue = () => vi.advanceTimersByTimeAsync(0)

/** Returns the milliseconds until the next run; undefined if none is scheduled. */
async function measureDelay(runs: readonly unknown[]): Promise<number | undefined> {
  const [started, before] = [performance.now(), runs.length]
  await runDue()
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
  const { queue, runs } = createControlledQueue()
  queue.add('a')
  await runDue()
  const measured: (number | undefined)[] = []
  for (const outcome of outcomes) {
    if (outcome instanceof Error) runs.at(-1)!.fail(outcome)
    else runs.at(-1)!.end(outcome)
    measured.push(await measureDelay(runs))
  }
  expect(measured).toEqual(delays)
})

test('a key that is added while it is due is reconciled once', async () => {
  const { queue, keys } = createControlledQueue()
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
  await runDue()
  expect(keys()).toEqual(['a', 'b'])
})

test('a key that is added while it is reconciled is reconciled once more, and never twice at a time', async () => {
  const { queue, runs, keys } = createControlledQueue()
  queue.add('a')
  await runDue()
  for (let times = 0; times < 3; times++) queue.add('a')
  await runDue()
  expect(keys()).toEqual(['a'])
  runs[0]!.end()
  await runDue()
  expect(keys()).toEqual(['a', 'a'])
  runs[1]!.end()
  await runDue()
  expect(keys()).toEqual(['a', 'a'])
})

test('keys are reconciled in the order in which they were added, at most as many at a time as allowed', async () => {
  const { queue, runs, keys } = createControlledQueue({ concurrency: 2 })
  for (const key of ['a', 'b', 'c', 'd']) queue.add(key)
  await runDue()
  expect(keys()).toEqual(['a', 'b'])
  runs[1]!.end()
  await runDue()
  expect(keys()).toEqual(['a', 'b', 'c'])
  runs[0]!.fail(new Error('broken'))
  await runDue()
  expect(keys()).toEqual(['a', 'b', 'c', 'd'])
})

test('run resolves with the run that begins after it, and rejects with its error, which is reported once', async () => {
  const { queue, runs, errors } = createControlledQueue()
  const first = queue.run('a')
  await runDue()
  const [second, third] = [queue.run('a'), queue.run('a')]
  const results: string[] = []
  first.then(() => results.push('first'))
  second.catch(() => results.push('second'))
  third.catch(() => results.push('third'))
  runs[0]!.end()
  await runDue()
  expect(results).toEqual(['first'])
  runs[1]!.fail(new Error('broken'))
  await runDue()
  expect(results).toEqual(['first', 'second', 'third'])
  expect(errors).toEqual(['a: broken'])
})

test('a delayed key is reconciled at the earliest of its times; a run before that replaces the delay', async () => {
  const { queue, runs } = createControlledQueue()
  for (const delay of [500, 200, 900]) queue.addAfter('a', delay)
  expect(queue.isDelayed('a')).toBe(true)
  expect(await measureDelay(runs)).toBe(200)
  runs[0]!.end()
  queue.addAfter('a', 500)
  queue.add('a')
  await runDue()
  runs[1]!.end()
  expect(await measureDelay(runs)).toBe(undefined)
})

test('retry counts failures and replaces the delay; forget cancels both', async () => {
  const { queue, runs } = createControlledQueue()
  expect([queue.retry('a'), queue.retry('a'), queue.failures('a')]).toEqual([100, 200, 2])
  expect(await measureDelay(runs)).toBe(200)
  // What failed within a run is not undone by its end.
  expect(queue.retry('a')).toBe(300)
  runs[0]!.end()
  await runDue()
  expect(queue.failures('a')).toBe(3)
  queue.forget('a')
  expect([queue.failures('a'), queue.isDelayed('a'), vi.getTimerCount()]).toEqual([0, false, 0])
})

test('drain waits for keys that are due, not for delayed ones', async () => {
  const { queue, runs } = createControlledQueue({ concurrency: 1 })
  queue.add('a')
  queue.add('b')
  queue.addAfter('c', 1_000)
  let isDrained = false
  void queue.drain().then(() => {
    isDrained = true
  })
  await runDue()
  runs[0]!.end()
  await runDue()
  expect(isDrained).toBe(false)
  runs[1]!.end()
  await runDue()
  expect(isDrained).toBe(true)
})

test.each(['close', 'abort'])('after %s what runs ends, and nothing else begins', async (order) => {
  const ending = new AbortController()
  const { queue, runs, keys } = createControlledQueue({ concurrency: 1, signal: ending.signal })
  queue.add('running')
  queue.addAfter('delayed', 10)
  const due = queue.run('due')
  await runDue()
  let isClosed = false
  if (order === 'abort') ending.abort()
  const closed = queue.close().then(() => {
    isClosed = true
  })
  queue.add('later')
  queue.addAfter('later', 10)
  queue.retry('later')
  await runDue()
  expect(isClosed).toBe(false)
  runs[0]!.fail(new Error('broken'))
  await Promise.all([closed, due])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(keys()).toEqual(['running'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a queue of an aborted signal begins nothing', async () => {
  const { queue, keys } = createControlledQueue({ signal: AbortSignal.abort() })
  queue.add('a')
  await runDue()
  expect(keys()).toEqual([])
})

test('an observer is notified of due keys, the time that they wait, retries and results', async () => {
  const events: unknown[] = []
  const observer: WorkQueueOptions<string>['observer'] = {
    onAdd: (depth) => events.push(['add', depth]),
    onStart: (depth, waited) => events.push(['start', depth, waited]),
    onRetry: () => events.push('retry'),
    onEnd: (result, seconds) => events.push([result, seconds]),
  }
  const { queue, runs } = createControlledQueue({ concurrency: 1, observer })
  queue.add('a')
  queue.add('b')
  queue.add('b')
  await runDue()
  expect(events.splice(0)).toEqual([
    ['add', 1],
    ['add', 2],
    ['start', 1, 0],
  ])
  await vi.advanceTimersByTimeAsync(500)
  runs[0]!.fail(new Error('broken'))
  await runDue()
  expect(events.splice(0)).toEqual([['error', 0.5], 'retry', ['start', 0, 0.5]])
  runs[1]!.end({ failed: true, requeueAfter: 10_000 })
  await runDue()
  expect(events.splice(0)).toEqual([['error', 0], 'retry'])
  await vi.advanceTimersByTimeAsync(100)
  runs[2]!.end()
  await runDue()
  expect(events).toEqual([
    ['add', 1],
    ['start', 0, 0],
    ['success', 0],
  ])
})
