// Hints: what a user may do next. They go to the standard error output, so that results stand alone in pipes.

let isQuiet = false

/** Suppresses hints and progress for the rest of the process. */
export function setQuiet(): void {
  isQuiet = true
}

/** Whether the user wants results and errors only. */
export const wantsQuiet = (): boolean => isQuiet

/** Prints a hint, unless the user wants results and errors only. */
export function printHint(text: string): void {
  if (!isQuiet) console.error(text)
}
