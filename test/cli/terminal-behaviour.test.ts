// The exit code and the output of every command: with pipes, without a terminal, with a closed pipe, on a terminal, and after Ctrl-C.
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandEntry } from '../../src/cli/command-entry.ts'
import { commands } from '../../src/cli/commands.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { takeSample } from '../support/property-options.ts'
import table from './terminal-behaviour.json' with { type: 'json' }

/** The behaviour of a command: `out` and `err` are patterns, absent where nothing is printed. */
interface Behaviour {
  /** The arguments, in which `{url}` is the URL of the server. */
  readonly args: string
  readonly code: number
  readonly out?: string
  readonly err?: string
  /** The pattern of the message after `Cancelled.`, if a server does not respond. Absent: the command calls no server. */
  readonly cancelled?: string
}

const rows: Readonly<Record<string, Behaviour>> = table

const listCommands = (entry: CommandEntry, parent = ''): string[] => [
  ...(entry.run ? [`${parent}${entry.name}`] : []),
  ...(entry.commands ?? []).flatMap((child) => listCommands(child, `${parent}${entry.name} `)),
]

let cli: CommandFolder
let env: Record<string, string>
let server: { readonly url: string; stop(): Promise<number | null> }
/** A server that never responds. */
let silent: Server
beforeAll(async () => {
  cli = await createCommandFolder()
  await writeFile(join(cli.folder, 'acme.yaml'), 'realm: acme\ndisplayName: Acme\n')
  server = await cli.serve('--source', 'acme.yaml')
  await cli.shell('until regent get acme --server "$URL" --user admin --password admin; do sleep 0.1; done', {
    URL: server.url,
  })
  env = {
    REGENT_SERVER: server.url,
    REGENT_USER: 'admin',
    REGENT_PASSWORD: 'admin',
    KUBECONFIG: join(cli.folder, 'none'),
  }
  silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
})
afterAll(async () => {
  silent?.closeAllConnections()
  silent?.close()
  expect(await server?.stop()).toBe(0)
  await cli?.remove()
})

test('each command has a row, and no row is of another command', () => {
  expect(Object.keys(rows).sort()).toEqual(commands.flatMap((entry) => listCommands(entry)).sort())
})

const toLine = (name: string): string => `regent ${name} ${rows[name]!.args.replace('{url}', server.url)}`

const toPattern = (pattern: string | undefined) =>
  pattern === undefined ? '' : expect.stringMatching(new RegExp(pattern, 'm'))

describe.each(takeSample(Object.entries(rows)))('regent %s', (name, { code, out, err, cancelled }) => {
  test('prints its result to the standard output and messages to the standard error output of pipes', async () => {
    const result = await cli.shell(toLine(name), env)
    expect(result).toEqual({ code, out: toPattern(out), err: toPattern(err) })
    for (const control of ['\x1b', '\r']) expect(result.out + result.err).not.toContain(control)
  })

  test('needs no input', async () => {
    expect(await cli.shell(`${toLine(name)} < /dev/null`, env)).toEqual({
      code,
      out: toPattern(out),
      err: toPattern(err),
    })
  })

  test('keeps its exit code if the reader of its output has ended', async () => {
    const line = `{ sleep 0.2; ${toLine(name)}; echo "code $?" >&2; } | true`
    const { err: messages } = await cli.shell(line, env)
    expect(messages).toMatch(new RegExp(`^code ${code}$`, 'm'))
    expect(messages).not.toMatch(/EPIPE|^ +at /m)
  })

  test('has the same exit code on a terminal', async () => {
    const line = `script -qec ${quote(toLine(name))} /dev/null < /dev/null`
    const result = await cli.shell(line, env)
    // Progress of a slow machine is erased.
    const text = result.out.replaceAll('\r\x1b[2K', '\n')
    expect({ code: result.code, text }).toEqual({
      code,
      text: expect.stringMatching(new RegExp(out || err || '', 'm')),
    })
  })

  test.runIf(cancelled !== undefined)('exits with 130 if Ctrl-C cancels it', async () => {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const credentials = name === 'token' ? ['--user', 'u', '--password', 'p'] : ['--token', 'none']
    const words = `${name} ${rows[name]!.args.replace('{url}', url)}`.trim().split(' ')
    const received = once(silent, 'request')
    const command = cli.start(...words, '--server', url, ...credentials)
    await received
    expect(await command.stop()).toBe(130)
    expect(command.output()).toMatch(new RegExp(`^Cancelled\\. ?${cancelled}$`, 'm'))
  })
})

test('SIGTERM cancels a command with the exit code 143', async () => {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const line = `regent get acme --server ${url} --token none & pid=$!; sleep 2; kill $pid; wait $pid`
  expect(await cli.shell(line, {})).toEqual({ code: 143, out: '', err: 'Cancelled.\n' })
})

test('a command whose reader ends early executes its work completely', async () => {
  await writeFile(join(cli.folder, 'more.yaml'), 'realm: more\nroles:\n  realm:\n    - name: one\n')
  await cli.shell('regent apply more.yaml --name more | true', env)
  const { out } = await cli.shell('regent get more/roles', env)
  expect(out).toContain('"name": "one"')
})

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

test('docs/cli.md describes the exit codes of cancelled commands', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'cli.md'), 'utf8')
  for (const code of [130, 143]) expect(page).toContain(`\n| ${code} |`)
})
