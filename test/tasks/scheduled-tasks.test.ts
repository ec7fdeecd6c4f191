// Periodic work runs once when it is due, whichever server runs it.
import { afterEach, expect, test } from 'vitest'
import { type Service, SYSTEM, type TaskRunner } from '../../src/service/context/service.ts'
import { cancelTasks, scheduleTasks, startTaskRunner, type TaskRun } from '../../src/service/tasks/scheduled-tasks.ts'
import { claimTask } from '../../src/store/scheduled-tasks.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'

const DAY = 24 * 3600
let now = new Date('2030-01-01T00:00:00Z')
const later = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1000)
}
const { service, other } = await openServiceReplicas(() => now)

const runs: string[] = []
const reports: string[] = []
const work = async ({ subject }: TaskRun): Promise<void> => {
  runs.push(subject)
}

afterEach(async () => {
  const subjects = ['one', 'two', 'three', 'broken']
  await service.write(SYSTEM, 'master', (context) => cancelTasks(context, 'test', subjects))
  runs.length = 0
  reports.length = 0
})

const schedule = (subjects: readonly string[], intervalSeconds = DAY) =>
  service.write(SYSTEM, 'master', (context) =>
    scheduleTasks(
      context,
      subjects.map((subject) => ({ type: 'test', subject, intervalSeconds })),
    ),
  )

/** Runs what is due with runners of both services, and returns the subjects of all runs so far. */
async function runDue(run = work, services: readonly Service[] = [service, other]): Promise<string[]> {
  const runners = services.map(
    (server): TaskRunner => startTaskRunner(server, { test: run }, (error) => reports.push(error.message)),
  )
  for (const runner of runners) await runner.whenIdle()
  for (const runner of runners) await runner.close()
  return [...runs].sort()
}

test('a task runs once after each interval, also after 40 days', async () => {
  await schedule(['one', 'two', 'three'])
  expect(await runDue()).toEqual([])
  later(DAY)
  expect(await runDue()).toEqual(['one', 'three', 'two'])
  expect(await runDue()).toHaveLength(3)
  later(40 * DAY)
  expect(await runDue()).toHaveLength(6)
  later(DAY - 1)
  expect(await runDue()).toHaveLength(6)
})

test('a new interval counts from the last run; a cancelled task does not run', async () => {
  await schedule(['one', 'two'])
  later(DAY)
  await runDue()
  await schedule(['one'], DAY / 2)
  await service.write(SYSTEM, 'master', (context) => cancelTasks(context, 'test', ['two']))
  later(DAY / 2)
  expect(await runDue()).toEqual(['one', 'one', 'two'])
})

test('a failed run is reported and retried after a minute, and does not prevent others', async () => {
  await schedule(['broken', 'one'])
  later(DAY)
  const failing = async (run: TaskRun) => {
    await work(run)
    if (run.subject === 'broken') throw new Error('no')
  }
  expect(await runDue(failing)).toEqual(['broken', 'one'])
  expect(reports).toEqual(['The task test of broken in the realm master has failed, and is retried'])
  expect(await runDue(failing)).toHaveLength(2)
  later(60)
  expect(await runDue()).toEqual(['broken', 'broken', 'one'])
  later(60)
  expect(await runDue()).toHaveLength(3)
})

test('a task that a server has claimed and not completed is taken over minutes later, and fences that server off', async () => {
  await schedule(['one'])
  later(DAY)
  const results: boolean[] = []
  const first = async ({ complete }: TaskRun) => {
    // The server does not respond until another one has completed the task.
    later(301)
    await runDue(work, [other])
    results.push(await service.query(complete))
  }
  await runDue(first, [service])
  expect(runs).toEqual(['one'])
  expect(results).toEqual([false])
})

test('a claim of a process that dies ends after five minutes', async () => {
  await schedule(['one'])
  later(DAY)
  const claimEnd = new Date(now.getTime() + 300_000)
  expect(await service.query((tx) => claimTask(tx, ['test'], { now, claimEnd }))).toMatchObject({ subject: 'one' })
  expect(await runDue()).toEqual([])
  later(300)
  expect(await runDue()).toEqual(['one'])
})

test('a run that is completed in a transaction that is rolled back is retried', async () => {
  await schedule(['one'])
  later(DAY)
  const failing = (run: TaskRun) =>
    service.write(SYSTEM, 'master', async ({ tx }) => {
      expect(await run.complete(tx)).toBe(true)
      throw new Error('no')
    })
  await runDue(failing, [service])
  later(60)
  expect(await runDue()).toEqual(['one'])
})
