// The command as a user runs it: a process of its own, in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { newDatabase } from './service.ts'

const command = join(import.meta.dirname, '..', '..', 'bin', 'regent.js')

/** What a finished command left. */
export interface CommandResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A folder to run commands in, with a store of the engine under test. */
export interface CommandFolder {
  readonly folder: string
  /** Its store, where that is a PostgreSQL. */
  readonly database: string | undefined
  /** Runs a command to its end. */
  run(...args: string[]): Promise<CommandResult>
  /** Runs a line of a shell to its end, where `regent` is the command. */
  shell(line: string, env: Readonly<Record<string, string>>): Promise<CommandResult>
  /** Starts a command that goes on until it is stopped. */
  start(...args: string[]): RunningCommand
  /** Starts a server and waits until it watches its sources, or ends. */
  serve(...args: string[]): Promise<RunningServer>
  /** Ends what runs, and removes the folder. */
  remove(): Promise<void>
}

/** A command that goes on. */
export interface RunningCommand {
  /** Everything that it has printed. */
  output(): string
  /** Waits until what it has printed holds the text; gives all of it. */
  waitForOutput(text: string): Promise<string>
  /** Ctrl-C; gives the exit code. */
  stop(): Promise<number | null>
}

/** A server process. */
export interface RunningServer extends Omit<RunningCommand, 'said'> {
  readonly url: string
  /** Waits until the output after now holds the text; gives that output. */
  until(text: string): Promise<string>
  /** Ends it with no chance to do anything. */
  kill(): Promise<void>
  /** Lets it do nothing until it goes on. */
  pause(): void
  resume(): void
}

/** A new workplace. */
export async function createCommandFolder(env: Record<string, string> = {}): Promise<CommandFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
  const { url } = inject('databaseUrl') ? await newDatabase() : {}
  if (url) await writeFile(join(folder, 'key'), randomBytes(32).toString('base64url'))
  const settings = { ...(url && { REGENT_DATABASE: url, REGENT_KEY_FILE: join(folder, 'key') }), ...env }
  const running = new Set<ChildProcess>()
  const startOf = (program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const { REGENT_SOURCE: _, ...inherited } = process.env
    const child = spawn(program, args, {
      cwd: folder,
      // What a killed process leaves behind goes with the folder.
      env: { ...inherited, NO_COLOR: '1', TMPDIR: folder, ...settings, ...more },
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
        output,
        waitForOutput: (text) => waitFor(child, () => (output().includes(text) ? output() : undefined)),
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
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function waitForExit(child: ChildProcess): Promise<CommandResult> {
  const [out, err] = [collectOutput(child.stdout!), collectOutput(child.stderr!)]
  const [code] = await once(child, 'close')
  return { code: code as number | null, out: out(), err: err() }
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  child.kill('SIGINT')
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

/** Waits for a value that comes while the process runs. Throws when it ends first. */
async function waitFor<T>(child: ChildProcess, value: () => T | undefined): Promise<T> {
  for (;;) {
    const found = value()
    if (found !== undefined) return found
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the process ended with ${child.exitCode ?? child.signalCode}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
