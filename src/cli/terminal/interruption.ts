// Ctrl-C and SIGTERM: the first one cancels what the command does, the second one ends the process at once.
import { listenToProgress, type Progress } from '../../lib/timing/progress.ts'
import { clearProgress, showWork } from './progress.ts'

/** The signals that cancel a command, and their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const

type CancelSignal = keyof typeof SIGNALS

/** Milliseconds in which a second signal is taken for the first one: a launcher passes on what a terminal has sent to all processes. */
const SAME_SIGNAL = 500

/** Thrown by work that a signal has cancelled. */
export class Interrupted extends Error {
  readonly signal: CancelSignal
  readonly at = performance.now()
  /** The state that the cancelled work leaves, in sentences. */
  effect = ''

  constructor(signal: CancelSignal) {
    super('Cancelled.')
    this.signal = signal
  }

  /** The exit code of the process: 128 and the number of the signal, as of shells. */
  get exitCode(): number {
    return 128 + SIGNALS[this.signal]
  }

  /** Renders what happened, and the state that it leaves. */
  describe(): string {
    return `${this.message} ${this.effect}`.trim()
  }
}

const running = new Set<AbortController>()
let interrupted: Interrupted | undefined
let isHandled = false

/** Handles the signals of a command until `releaseSignals`. */
export function handleSignals(): void {
  if (isHandled) return
  isHandled = true
  for (const signal of SIGNAL_NAMES) process.on(signal, interrupt)
}

/** Leaves the signals to a command that runs until it gets one. */
export function releaseSignals(): void {
  for (const signal of SIGNAL_NAMES) process.off(signal, interrupt)
}

const SIGNAL_NAMES = ['SIGINT', 'SIGTERM'] as const satisfies readonly CancelSignal[]

/** Returns the signal that was received, if any. */
const findInterruption = (): Interrupted | undefined => interrupted

/** Cancels the running work. Without any, or with a further signal, the process ends. */
export function interrupt(signal: CancelSignal): void {
  if (interrupted && performance.now() - interrupted.at < SAME_SIGNAL) return
  const isSecond = interrupted !== undefined
  interrupted ??= new Interrupted(signal)
  clearProgress()
  if (isSecond || !running.size) {
    process.stderr.write(isSecond ? 'Ended before the cancellation was complete.\n' : `${interrupted.describe()}\n`)
    process.exit(interrupted.exitCode)
  }
  for (const controller of running) controller.abort(interrupted)
}

/** Runs work that reports its progress, which is shown. A signal cancels it at the next report. See `interruptible`. */
export function runWithProgress<T>(
  work: (signal: AbortSignal) => Promise<T>,
  describeEffect?: () => string,
): Promise<T> {
  return interruptible((signal) => {
    const listener = (progress: Progress) => {
      signal.throwIfAborted()
      showWork(progress)
    }
    return listenToProgress(listener, () => work(signal)).finally(clearProgress)
  }, describeEffect)
}

/**
 * Runs work that a signal cancels by aborting its own signal. `describeEffect`: describes the state that cancelled work leaves, after what
 * work within it describes.
 *
 * @throws Interrupted if the work fails after a signal
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  describeEffect: () => string | undefined = () => undefined,
): Promise<T> {
  if (interrupted) throw interrupted
  const controller = new AbortController()
  running.add(controller)
  try {
    return await work(controller.signal)
  } catch (error) {
    const interruption = findInterruption()
    if (!interruption) throw error
    const effect = describeEffect() ?? ''
    if (!interruption.effect.includes(effect)) interruption.effect = `${interruption.effect} ${effect}`.trim()
    throw interruption
  } finally {
    running.delete(controller)
  }
}
