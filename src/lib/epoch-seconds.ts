/** Returns a time in whole seconds since 1970, the unit of tokens and of many settings. */
export const toEpochSeconds = (time: Date): number => Math.floor(time.getTime() / 1000)
