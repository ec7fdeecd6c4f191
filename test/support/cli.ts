// Runs the command as a user does: as a process, in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { newDatabase } from './service.ts'

const command = inject('command')

/** The result of a command. */
export interface CommandResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A folder in which commands run, with a store of the engine under test. */
export interface CommandFolder {
  readonly folder: string
  /** URL of the store, if it is PostgreSQL. */
  readonly database: string | undefined
  /** Runs a command, and waits for its end. */
  run(...args: string[]): Promise<CommandResult>
  /** Runs a line of shell in which `regent` is the command, and waits for its end. */
  shell(line: string, env: Readonly<Record<string, string>>): Promise<CommandResult>
  /** Starts a command that runs until it is stopped. */
  start(...args: string[]): RunningCommand
  /** Starts a server, and waits until it watches its sources. Throws if it ends first. */
  serve(...args: string[]): Promise<RunningServer>
  /** Kills all running commands, and deletes the folder. */
  remove(): Promise<void>
}

/** A running command. */
export interface RunningCommand {
  readonly pid: number
  /** Returns the output so far. */
  output(): string
  /** Waits until the output contains the text, and returns all output. */
  waitForOutput(text: string): Promise<string>
  /** Writes to the standard input. */
  type(text: string): void
  /** Waits for the end, and returns the exit code. */
  end(): Promise<number | null>
  /** Sends SIGINT, as Ctrl-C does, and returns the exit code. */
  stop(): Promise<number | null>
}

/** A running server. */
export interface RunningServer extends Pick<RunningCommand, 'output' | 'stop'> {
  readonly url: string
  /** Waits until the output from now on contains the text, and returns that output. */
  until(text: string): Promise<string>
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Sends SIGSTOP, which suspends the process until `resume`. */
  pause(): void
  resume(): void
}

/** Returns the flags with which a command calls a server as administrator. */
export const adminFlags = (url: string): string[] => ['--server', url, '--user', 'admin', '--password', 'admin']

/** Calls the admin API of a server as administrator. Returns the status and the parsed body. */
export async function callAsAdmin<T>(
  url: string,
  { method = 'GET', path, body }: { readonly method?: string; readonly path: string; readonly body?: object },
): Promise<{ readonly status: number; readonly body: T }> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const tokenResponse = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token: token } = (await tokenResponse.json()) as { access_token: string }
  const response = await fetch(`${url}/admin/realms${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T }
}

/** Creates a folder to run commands in. Its files are the source `test`. */
export async function createCommandFolder(env: Record<string, string> = {}): Promise<CommandFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
  const { url } = inject('databaseUrl') ? await newDatabase() : {}
  if (url) await writeFile(join(folder, 'key'), randomBytes(32).toString('base64url'))
  await writeFile(join(folder, 'regent.yaml'), 'name: test\n')
  const settings = { ...(url && { REGENT_DATABASE: url, REGENT_KEY_FILE: join(folder, 'key') }), ...env }
  const running = new Set<ChildProcess>()
  const startOf = (program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const { REGENT_SOURCE: _, ...inherited } = process.env
    const child = spawn(program, args, {
      cwd: folder,
      // Temporary files of killed processes are deleted with the folder.
      env: {
        ...inherited,
        NO_COLOR: '1',
        TMPDIR: folder,
        REGENT_CONFIG_DIR: join(folder, 'config'),
        ...settings,
        ...more,
      },
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }
  const start = (args: readonly string[]) => startOf(process.execPath, [command, ...args])
  return {
    folder,
    database: url,
    run: (...args) => waitForExit(start(args)),
    async shell(line, env) {
      await writeFile(join(folder, 'regent'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`, {
        mode: 0o755,
      })
      return waitForExit(startOf('sh', ['-c', line], { ...env, PATH: `${folder}:${process.env.PATH}` }))
    },
    start(...args) {
      const child = start(args)
      const output = collectOutput(child.stdout!, child.stderr!)
      return {
        pid: child.pid!,
        output,
        waitForOutput: (text) => waitFor(child, () => (output().includes(text) ? output() : undefined)),
        type: (text) => void child.stdin!.write(text),
        end: () => waitForEnd(child),
        stop: () => interrupt(child),
      }
    },
    async serve(...args) {
      const child = start(['serve', '--port', '0', ...args])
      const output = collectOutput(child.stdout!, child.stderr!)
      const until = (text: string, from = output().length) =>
        waitFor(child, () => (output().indexOf(text, from) < 0 ? undefined : output().slice(from)))
      const banner = await until('Regent is ready at ', 0)
      const url = await waitFor(child, () => /ready at (\S+)/.exec(output())?.[1])
      if (!args.includes('') && banner)
        await waitFor(child, () => (/Watching|No source|takes over/.test(output()) ? true : undefined))
      return {
        url,
        output,
        until: (text) => until(text),
        stop: () => interrupt(child),
        pause: () => void child.kill('SIGSTOP'),
        resume: () => void child.kill('SIGCONT'),
        async kill() {
          child.kill('SIGKILL')
          if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
        },
      }
    },
    async remove() {
      for (const child of running) child.kill('SIGKILL')
      // Retries: a git process of a killed server may still write to the folder.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function waitForExit(child: ChildProcess): Promise<CommandResult> {
  const [out, err] = [collectOutput(child.stdout!), collectOutput(child.stderr!)]
  const [code] = await once(child, 'close')
  return { code: code as number | null, out: out(), err: err() }
}

function interrupt(child: ChildProcess): Promise<number | null> {
  child.kill('SIGINT')
  return waitForEnd(child)
}

async function waitForEnd(child: ChildProcess): Promise<number | null> {
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  return code as number | null
}

function collectOutput(...streams: NodeJS.ReadableStream[]): () => string {
  let text = ''
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return () => text
}

/** Waits until `value` returns a value. Throws if the process ends first. */
async function waitFor<T>(child: ChildProcess, value: () => T | undefined): Promise<T> {
  for (;;) {
    const result = value()
    if (result !== undefined) return result
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the process ended with ${child.exitCode ?? child.signalCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
