// An inbox for asynchronous messages that tests wait for.

/** Received messages, in order. */
export interface Inbox<T> {
  readonly all: readonly T[]
  put(item: T): void
  /** Waits for the first message, including received ones, that meets the condition. */
  until(fits: (item: T) => boolean): Promise<T>
  /** Waits until all messages so far meet the condition, and returns them. */
  untilAll(fits: (all: readonly T[]) => boolean): Promise<readonly T[]>
}

/** Creates an empty inbox. */
export function createInbox<T>(): Inbox<T> {
  const all: T[] = []
  let news = Promise.withResolvers<void>()
  const untilAll = async (fits: (all: readonly T[]) => boolean) => {
    while (!fits(all)) await news.promise
    return all
  }
  return {
    all,
    put(item) {
      all.push(item)
      news.resolve()
      news = Promise.withResolvers()
    },
    until: async (fits) => (await untilAll((all) => all.some(fits))).find(fits)!,
    untilAll: untilAll,
  }
}
