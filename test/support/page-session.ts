// Executes the commands of a documentation page in a folder, as a reader does who follows the page.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Setting, settings } from '../../src/config.ts'
import { type CommandFolder, createCommandFolder, type RunningServer } from './cli.ts'
import { committer, createRepository, type Repository } from './git.ts'
import { normalizeSpaces, type PageStep, toOutputPattern } from './pages.ts'

/** The preconditions of a page, such as files that its reader has, and the outputs that it describes in words. */
export interface PageScenario {
  /** Runs before the first command. */
  prepare?(session: PageSession): Promise<unknown>
  /** Runs before the first command or output below a heading, by heading. */
  readonly atHeading?: Readonly<Record<string, (session: PageSession) => Promise<unknown>>>
  /** Runs before a command, by the start of the command. */
  readonly before?: Readonly<Record<string, (session: PageSession) => Promise<unknown>>>
  /** Returns an output that the page describes in words, by the start of the shown output. */
  readonly outputs?: Readonly<Record<string, (session: PageSession) => Promise<string>>>
}

const ADMIN = ['--user', 'admin', '--password', 'admin']

/** The address of the server in pages. */
const ADDRESS = 'http://127.0.0.1:8080'

/** A folder with the state of a page: variables of its shell, a running server, and all output. */
export class PageSession {
  readonly folder: CommandFolder
  readonly repository: Repository
  /** Texts of the page, with the texts that replace them in commands. */
  readonly replacements = new Map<string, string>()
  server: RunningServer | undefined
  #transcript = ''
  #isNewShell = true

  private constructor(folder: CommandFolder, repository: Repository) {
    this.folder = folder
    this.repository = repository
    this.replacements.set('npx regent', 'regent')
  }

  static async create(): Promise<PageSession> {
    const folder = await createCommandFolder({ NODE_OPTIONS: '' })
    return new PageSession(folder, await createRepository(folder.folder))
  }

  path(name: string): string {
    return join(this.folder.folder, name)
  }

  read(name: string): Promise<string> {
    return readFile(this.path(name), 'utf8')
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(this.path(name), text)
  }

  /** Replaces a text in a file. */
  async edit(name: string, from: string | RegExp, to: string): Promise<void> {
    const text = await this.read(name)
    expect(text, name).toMatch(from)
    await this.write(name, text.replace(from, to))
  }

  /** Starts a server, in place of the one that runs. Its output belongs to the transcript. */
  async serve(...args: string[]): Promise<RunningServer> {
    await this.stopServer()
    this.server = await this.folder.serve(...args)
    this.replacements.set(ADDRESS, this.server.url)
    return this.server
  }

  /** Returns an access token of the administrator of the running server. */
  async getToken(): Promise<string> {
    return (await this.folder.run('token', '--server', this.server!.url, ...ADMIN)).out.trim()
  }

  /** Sends a request to the running server as its administrator. */
  async request(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(this.server!.url + path, {
      method,
      headers: { authorization: `Bearer ${await this.getToken()}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** Changes fields of a client over REST, as an administrator does by hand. */
  async changeClient(realm: string, clientId: string, fields: object): Promise<Response> {
    const path = `/admin/realms/${realm}/clients`
    const [client] = (await (await this.request('GET', `${path}?clientId=${clientId}`)).json()) as { id: string }[]
    return this.request('PUT', `${path}/${client!.id}`, fields)
  }

  async stopServer(): Promise<void> {
    this.#transcript += this.server?.output() ?? ''
    await this.server?.stop()
    this.server = undefined
  }

  /** Runs a command of the page and returns its output. @throws AssertionError if it fails. */
  async run(command: string): Promise<string> {
    const result = await this.tryRun(command)
    const succeeds = command.includes('--detailed-exitcode') ? [0, 2] : [0]
    expect(succeeds, `${command}\n${result.output}`).toContain(result.code)
    return result.output
  }

  /** Runs a command of the page. Returns its exit code and output, or the file that its output is redirected into. */
  async tryRun(command: string): Promise<{ code: number | null; output: string }> {
    let line = command
    for (const [from, to] of this.replacements) line = line.replaceAll(from, to)
    const serve = /^(?:npm start|regent serve)\b(.*)$/s.exec(line)
    if (serve) {
      const args = await this.#shell(`for arg in ${serve[1]}; do printf '%s\\n' "$arg"; done`)
      const flags = [...(await this.#listSettings()), ...args.out.split('\n').filter((arg) => arg !== '')]
      // In production mode, a server without sources does not report that it watches any.
      const sources = flags.includes('--production') && !flags.includes('--source') ? ['--source', ''] : []
      await this.serve(...flags, ...sources)
      return { code: 0, output: this.server!.output() }
    }
    const { code, out, err } = await this.#shell(line)
    const file = /> ([\w./-]+)$/.exec(line)?.[1]
    const output = (file && code !== 1 ? await this.read(file) : out) + err
    this.#transcript += output
    return { code, output }
  }

  /** Returns the settings in variables that the page has exported, as flags of the server. */
  async #listSettings(): Promise<string[]> {
    const { out } = await this.#shell('export -p')
    return Object.values<Setting>(settings).flatMap(({ flag, variable, placeholder }) => {
      const value = new RegExp(`^export ${variable}='(.*)'$`, 'm').exec(out)?.[1]
      if (value === undefined) return []
      return placeholder === undefined ? [flag] : [flag, value]
    })
  }

  /** Runs a line with the variables of the lines before, and records those that it sets. */
  async #shell(line: string) {
    const restore = this.#isNewShell ? '' : '. ./.variables;'
    this.#isNewShell = false
    const record = 'code=$?; export -p > .variables; exit $code'
    return this.folder.shell(`${restore} set -a; ${line}\n${record}`, { ...committer, REPOSITORY: this.repository.url })
  }

  /** Asserts that an output is as the page shows it. Without an output, the whole transcript is searched. */
  expectOutput({ page, line, output: expected = '' }: PageStep, output?: string): void {
    const pattern = toOutputPattern(expected)
    let actual = output ?? this.#transcript + (this.server?.output() ?? '')
    for (const [from, to] of [...this.replacements].reverse()) if (to.length > 6) actual = actual.replaceAll(to, from)
    expect(normalizeSpaces(actual), `${page}:${line}`).toMatch(pattern)
  }

  async remove(): Promise<void> {
    await this.folder.remove()
  }
}

/** Follows the steps of a page, except listed commands and outputs. */
export async function followPage(
  session: PageSession,
  steps: readonly PageStep[],
  { scenario, isListed }: { scenario: PageScenario; isListed: (step: PageStep, text: string) => boolean },
): Promise<void> {
  const headings = new Set<string>()
  await scenario.prepare?.(session)
  for (const step of steps) {
    if (!headings.has(step.heading)) await scenario.atHeading?.[step.heading]?.(session)
    headings.add(step.heading)
    const commands = step.commands.filter((command) => !isListed(step, command))
    let output = ''
    for (const command of commands) {
      await find(scenario.before, command)?.(session)
      output += await session.run(command)
    }
    if (step.output === undefined || isListed(step, step.output)) continue
    if (commands.length) session.expectOutput(step, output)
    else if (!step.commands.length) session.expectOutput(step, await find(scenario.outputs, step.output)?.(session))
  }
}

function find<Value>(table: Readonly<Record<string, Value>> | undefined, text: string): Value | undefined {
  return Object.entries(table ?? {}).find(([start]) => text.startsWith(start))?.[1]
}
