import { runInNewContext } from 'node:vm'

/** Patterns of others can take for ever, and would stop the process: a script of its own is ended by its time. */
const MILLISECONDS = 100

/** Whether the pattern matches the text; false where that is not found out in time. */
export function matches(pattern: RegExp, text: string): boolean {
  try {
    return runInNewContext('pattern.test(text)', { pattern, text }, { timeout: MILLISECONDS })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}
