import { createContext, Script } from 'node:vm'
import { errorCode } from './error-code.ts'

/** Patterns of others can take for ever, and would stop the process: a script of its own is ended by its time. */
const MILLISECONDS = 100

const script = new Script('texts.map((text) => pattern.test(text))')
const asked: { pattern?: RegExp; texts?: readonly string[] } = {}
createContext(asked)

/** Which of the texts the pattern matches; none where that is not found out in time for all of them. */
export function matches(pattern: RegExp, texts: readonly string[]): boolean[] {
  const start = process.threadCpuUsage()
  Object.assign(asked, { pattern, texts })
  for (;;) {
    try {
      return script.runInContext(asked, { timeout: MILLISECONDS })
    } catch (error) {
      if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      // On a busy machine the time may have been that of others.
      const { user, system } = process.threadCpuUsage(start)
      if (user + system > (MILLISECONDS * 1000) / 2) return texts.map(() => false)
    }
  }
}
