// Measures how the time of some work grows with the size of its input, which does not depend on the speed of the machine.

/** Ratio of the larger size to the smaller one. */
const FACTOR = 8
/** Minimum milliseconds of the smaller work, which is repeated accordingly: the clock is too coarse for shorter times. */
const LEAST = 0.25
const RUNS = 10

/** Growth below this is linear. Linear time grows by 8, quadratic time by 64. */
export const IN_PROPORTION = 3 * FACTOR

/**
 * Returns the ratio of times for an input that is eight times as large. `prepare` returns the work for a size. Takes the shortest of
 * several runs, and repeats the measurement if growth is not linear.
 */
export async function measureGrowth(size: number, prepare: (size: number) => () => unknown): Promise<number> {
  const [small, large] = [prepare(size), prepare(size * FACTOR)]
  let repeated = 1
  while ((await measureTime(small, repeated)) < LEAST) repeated *= 2
  let ratio = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3 && ratio >= IN_PROPORTION; tries++) {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let run = 0; run < RUNS; run++) {
      least = Math.min(least, await measureTime(small, repeated))
      most = Math.min(most, await measureTime(large, repeated))
    }
    ratio = Math.min(ratio, most / least)
  }
  return ratio
}

async function measureTime(work: () => unknown, repeated: number): Promise<number> {
  const start = performance.now()
  for (let time = 0; time < repeated; time++) await work()
  return performance.now() - start
}
