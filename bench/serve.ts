// A Regent server in a process of its own, as `regent serve` starts it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The launcher of the command. */
export const COMMAND = join(import.meta.dirname, '..', 'bin', 'regent.js')

export interface Served {
  readonly url: string
  /** Resolves when it has printed the text. Throws when it has ended before. */
  said(text: string): Promise<void>
  stop(): Promise<void>
}

/** Starts a server with its data in the folder; resolves when it has printed the text. */
export async function serve(
  folder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  until: string,
): Promise<Served> {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--port', '0', ...flags], {
    cwd: folder,
    env: { ...process.env, ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const over = once(child, 'exit')
  const said = async (text: string) => {
    while (!output.includes(text)) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      await Promise.race([once(child.stdout, 'data'), over])
    }
  }
  await said(until)
  return {
    url: /ready at (\S+)/.exec(output)![1]!,
    said,
    async stop() {
      child.kill('SIGINT')
      await over
    },
  }
}
