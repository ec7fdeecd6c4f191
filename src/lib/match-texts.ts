import { createContext, Script } from 'node:vm'
import { getErrorCode } from './error-code.ts'

/** The time limit of a match. A pattern of a user may backtrack for ever; only a script in a sandbox can be interrupted. */
const MILLISECONDS = 100

const script = new Script('texts.map((text) => pattern.test(text))')
const sandbox: { pattern?: RegExp; texts?: readonly string[] } = {}
createContext(sandbox)

/** Returns for each text whether the pattern matches it; false for all of them if matching takes too long. */
export function matchTexts(pattern: RegExp, texts: readonly string[]): boolean[] {
  const start = process.threadCpuUsage()
  Object.assign(sandbox, { pattern, texts })
  for (;;) {
    try {
      return script.runInContext(sandbox, { timeout: MILLISECONDS })
    } catch (error) {
      if (getErrorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      // On a busy machine, other processes may have used up the time: try again.
      const { user, system } = process.threadCpuUsage(start)
      if (user + system > (MILLISECONDS * 1000) / 2) return texts.map(() => false)
    }
  }
}
