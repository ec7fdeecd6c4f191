// Messages that come when they come: tests await them.

/** What came, in order. */
export interface Inbox<T> {
  readonly all: readonly T[]
  put(one: T): void
  /** Waits for the first one, from the first that came on, that fits. */
  until(fits: (one: T) => boolean): Promise<T>
  /** Waits until what came fits as a whole. */
  untilAll(fits: (all: readonly T[]) => boolean): Promise<readonly T[]>
}

/** An empty inbox. */
export function createInbox<T>(): Inbox<T> {
  const all: T[] = []
  let news = Promise.withResolvers<void>()
  const whole = async (fits: (all: readonly T[]) => boolean) => {
    while (!fits(all)) await news.promise
    return all
  }
  return {
    all,
    put(one) {
      all.push(one)
      news.resolve()
      news = Promise.withResolvers()
    },
    until: async (fits) => (await whole((all) => all.some(fits))).find(fits)!,
    untilAll: whole,
  }
}
