/** A time in whole seconds since 1970, as tokens and many settings have it. */
export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)
