// The exit codes of all commands.

/** The exit codes besides 0. If several apply, the highest is used. */
export const EXIT_CODES = {
  error: 1,
  changes: 2,
  pendingApproval: 3,
  suspended: 4,
} as const

/** The meanings of the exit codes, by code. */
export const EXIT_CODE_MEANINGS: Readonly<Record<number, string>> = {
  0: 'success',
  [EXIT_CODES.error]: 'an error, whose message is on the standard error output; with `--strict`, a finding',
  [EXIT_CODES.changes]: 'changes or drift, with `--detailed-exitcode`; edits that `accept --write` leaves to you',
  [EXIT_CODES.pendingApproval]: 'a plan was not applied, since it is pending approval',
  [EXIT_CODES.suspended]: 'a plan is not applied, since a rollback suspended the source',
  130: 'cancelled by Ctrl-C (SIGINT); the message reports what was changed',
  143: 'cancelled by SIGTERM, in the same way',
}

/** Sets the exit code of the process, unless a higher one is set. */
export function setExitCode(code: keyof typeof EXIT_CODES): void {
  process.exitCode = Math.max(Number(process.exitCode ?? 0), EXIT_CODES[code])
}
