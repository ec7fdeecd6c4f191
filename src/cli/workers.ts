// Serves from several processes behind one port. The primary process starts the workers, replaces those that end, and restarts them one by
// one on SIGUSR2. Each worker is a replica: one of them is elected to apply sources.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { serveWorkerMetrics } from '../http/server/worker-metrics.ts'
import { getBackOff } from '../lib/timing/back-off.ts'
import { WorkQueue } from '../lib/timing/work-queue.ts'
import { releaseSignals } from './terminal/interruption.ts'

/** Milliseconds before a worker that has ended is replaced. */
const REPLACEMENT_DELAY = 1_000
/** Milliseconds between attempts to start a worker, at most. */
const LONGEST_DELAY = 30_000

/** A task of the primary process: start the workers that are missing, or restart all. */
type WorkerTask = 'start' | 'restart'

/**
 * Runs so many workers until the process is stopped by a signal.
 *
 * @throws Error if the first worker does not start
 */
export async function runWorkers(count: number): Promise<void> {
  serveWorkerMetrics()
  const stopping = new AbortController()
  releaseSignals()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  // The first one migrates the store, and reports errors of the settings.
  await startWorker()
  const run = (task: WorkerTask) => (task === 'start' ? startMissingWorkers(count) : restartWorkers())
  const queue = new WorkQueue<WorkerTask>(run, {
    concurrency: 1,
    backOff: (failures) => getBackOff(failures, REPLACEMENT_DELAY, LONGEST_DELAY),
    failed: (error) => console.error(error instanceof Error ? error.message : error),
    signal: stopping.signal,
  })
  queue.add('start')
  cluster.on('exit', (worker, code, signal) => {
    if (stopping.signal.aborted || worker.exitedAfterDisconnect) return
    console.error(`The worker ${worker.process.pid} ended (${signal ?? code}). It is replaced.`)
    queue.addAfter('start', REPLACEMENT_DELAY)
  })
  process.on('SIGUSR2', () => queue.add('restart'))
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  await Promise.all(listWorkers().map(stopWorker))
}

/** Returns the workers that are not being stopped. */
function listWorkers(): Worker[] {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  return workers.filter((worker) => !worker.isDead() && !worker.exitedAfterDisconnect)
}

async function startMissingWorkers(count: number): Promise<void> {
  while (listWorkers().length < count) await startWorker()
}

/** Restarts the workers one by one: each is stopped when its replacement listens. */
async function restartWorkers(): Promise<void> {
  for (const worker of listWorkers()) {
    await startWorker()
    await stopWorker(worker)
  }
  console.log('All workers were restarted.')
}

/** Starts a worker, and resolves when it listens. @throws Error if it ends before */
async function startWorker(): Promise<void> {
  const worker = cluster.fork()
  const isListening = await Promise.race([
    once(worker, 'listening').then(() => true),
    once(worker, 'exit').then(() => false),
  ])
  if (!isListening)
    throw new Error(
      `The worker ${worker.process.pid} ended before it accepted connections. Its output gives the reason.`,
    )
}

/** Stops a worker: it takes no new connections, and ends when the requests in progress are finished. */
async function stopWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return
  const exited = once(worker, 'exit')
  worker.exitedAfterDisconnect = true
  worker.process.kill('SIGTERM')
  await exited
}
