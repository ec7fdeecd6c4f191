// The options of property tests: their effort, which is a sample by default and everything in a full run, and their reports.
import { configureGlobal } from 'fast-check'

// Reports of failures contain the error itself, since the summary of a run does not print its cause.
configureGlobal({ includeErrorInReport: true })

/** Whether all cases run, as in `.ci/run`. Otherwise a fixed sample of them runs. */
export const isFullRun = process.env.REGENT_TESTS === 'all'

const SECONDS = Number(process.env.REGENT_SECONDS ?? 3_600)

/** Options for fast-check: number of cases and time limit. */
export const propertyOptions = {
  numRuns: Number(process.env.REGENT_CASES ?? (isFullRun ? 150 : 10)),
  endOnFailure: true,
  interruptAfterTimeLimit: SECONDS * 1_000,
}

/** Returns all cases in a full run. Otherwise one of so many, by default every third one. */
export const takeSample = <T>(all: readonly T[], interval = 3): T[] =>
  all.filter((_, at) => isFullRun || at % interval === interval - 1)

/** The timeout of a property test in milliseconds. */
export const TIME_LIMIT = (SECONDS + 60) * 1_000
