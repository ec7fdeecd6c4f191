// How much is tried of a property: more than a first look needs, where somebody waits for a campaign.

/** Whether all is tried that there is, as `.ci/run` does; otherwise a part, the same each time. */
export const isFullRun = process.env.REGENT_TESTS === 'all'

const SECONDS = Number(process.env.REGENT_SECONDS ?? 3_600)

/** What fast-check is told: how many cases, and when enough is enough. */
export const propertyOptions = {
  numRuns: Number(process.env.REGENT_CASES ?? (isFullRun ? 150 : 10)),
  endOnFailure: true,
  interruptAfterTimeLimit: SECONDS * 1_000,
}

/** All of what is tried one after the other; every third, where not everything is. */
export const takeSample = <T>(all: readonly T[]): T[] => all.filter((_, at) => isFullRun || at % 3 === 2)

/** When a test of a property is given up. */
export const TIME_LIMIT = (SECONDS + 60) * 1_000
