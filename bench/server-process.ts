// A Regent server in a process of its own, started by the command `regent serve`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The path of the command's launcher. */
export const REGENT_COMMAND = join(import.meta.dirname, '..', 'bin', 'regent.js')

/** A running server. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** Resolves when the server has printed the text. Throws if it ends before. */
  waitForOutput(text: string): Promise<void>
  stop(): Promise<void>
}

/** The options of a server process. */
export interface ServerProcessOptions {
  /** The working directory, which holds the server's data. */
  readonly folder: string
  /** Flags of `regent serve`. */
  readonly flags: readonly string[]
  /** Environment variables, in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** The output that shows that the server has started. */
  readonly until?: string
}

/** Starts a server on a free port, and resolves when it has started. */
export async function startServer(options: ServerProcessOptions): Promise<ServerProcess> {
  const { folder, flags, env, until = 'ready at' } = options
  const child = spawn(process.execPath, [REGENT_COMMAND, 'serve', '--port', '0', ...flags], {
    cwd: folder,
    env: { ...process.env, ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const exited = once(child, 'exit')
  const waitForOutput = async (text: string) => {
    while (!output.includes(text)) {
      if (child.exitCode !== null) throw new Error(`the server ended with exit code ${child.exitCode}`)
      await Promise.race([once(child.stdout, 'data'), exited])
    }
  }
  await waitForOutput(until)
  return {
    url: /ready at (\S+)/.exec(output)![1]!,
    pid: child.pid!,
    waitForOutput,
    async stop() {
      if (child.exitCode === null) child.kill('SIGINT')
      await exited
    },
  }
}
