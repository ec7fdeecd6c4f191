// How the time of some work grows with the size of what it is given: a figure that does not depend on the speed of the machine.

/** By how much the larger size is larger. */
const FACTOR = 8
/** Milliseconds that the smaller work takes at least, repeated as often as that needs: shorter times are those of the clock. */
const LEAST = 0.25
const RUNS = 10

/** Growth below this is in proportion: of time that grows with the size it is 8, with the square of the size 64. */
export const IN_PROPORTION = 3 * FACTOR

/**
 * Returns how many times as long the work takes when its size is eight times as large. `prepare` returns the work for a size. Of several
 * runs the shortest counts, which nothing has held up, and what looks steep is measured again.
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
