/** Waits for the work, and returns its result. Throws the reason of the signal if it aborts first; the work then continues in the background. */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([work, aborted])
}
