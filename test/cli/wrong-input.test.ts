// The messages for wrong commands and wrong documents, which users wrote who had not seen the code. Each says what is not valid, where, and what
// to do. REGENT_UPDATE_MESSAGES=true writes the tables again.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder, type RunningServer } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

/** A wrong command, and its message. */
interface WrongCommand {
  readonly command: readonly string[]
  /** Whether it logs in at the server as its administrator. */
  readonly login?: true
  /** Further files in the working folder. */
  readonly files?: Readonly<Record<string, string>>
  message: string
}

/** A wrong document, and the message of its plan; for a document that is accepted, its notes and lint findings. */
interface WrongDocument {
  readonly mistake: string
  readonly file: string
  readonly document: string
  message: string
}

const folder = join(import.meta.dirname, 'messages')
const readTable = async <Row>(name: string) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Row[]
const commands = await readTable<WrongCommand>('wrong-commands.json')
const documents = await readTable<WrongDocument>('wrong-documents.json')
const updates = process.env.REGENT_UPDATE_MESSAGES === 'true'
/** Of each table, every run checks a few rows; all with REGENT_TESTS=all. */
const sample = <Row>(rows: readonly Row[]) => rows.filter((_, at) => isFullRun || updates || at % 7 === 0)

const shop = (clientName: string) => `realm: shop
enabled: true
roles:
  realm:
    - name: employee
clients:
  - clientId: web
    name: ${clientName}
    publicClient: true
  - clientId: billing
    serviceAccountsEnabled: true
    secret: $(generated:billing)
`

let cli: CommandFolder
let server: RunningServer
beforeAll(async () => {
  cli = await createCommandFolder({ REGENT_CONFIG_DIR: '', XDG_CONFIG_HOME: join('/nonexistent', 'config') })
  for (const name of ['Web shop', 'Web']) {
    await writeFile(join(cli.folder, 'shop.yaml'), shop(name))
    await cli.run('apply', 'shop.yaml')
  }
  server = await cli.serve('--source', '')
})
afterAll(async () => {
  await server.stop()
  await cli.remove()
  if (!updates) return
  await writeFile(join(folder, 'wrong-commands.json'), `${JSON.stringify(commands, null, 2)}\n`)
  await writeFile(join(folder, 'wrong-documents.json'), `${JSON.stringify(documents, null, 2)}\n`)
})

/** Runs a command in a new folder, and returns its message and exit code. */
async function run(args: readonly string[], files: Readonly<Record<string, string>>) {
  const at = join(cli.folder, `run-${Math.random().toString(36).slice(2)}`)
  await mkdir(at)
  const contents = { 'regent.yaml': 'name: test\n', 'shop.yaml': shop('Web'), ...files }
  for (const [name, text] of Object.entries(contents)) await writeFile(join(at, name), text)
  const words = args.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const { code, out, err } = await cli.shell(`cd '${at}' && regent ${words} < /dev/null`, {})
  const normalize = (text: string) =>
    text
      .replace(/^There is no store in the folder none\..*\n/, '')
      .replaceAll(cli.folder, '{folder}')
      .replaceAll(server.url, '{server}')
      .replaceAll(new URL(server.url).host, '{host}')
  return { code, out, message: normalize(err) }
}

describe('wrong commands', () => {
  test.each(sample(commands))('$command', async (row) => {
    const login = row.login ? ['--server', server.url, '--user', 'admin', '--password', 'admin'] : []
    const args = row.command.map((word) =>
      word.replace('{server}', server.url).replace('{host}', new URL(server.url).host).replace('{folder}', cli.folder),
    )
    const { code, message } = await run([...args, ...login], row.files ?? {})
    if (updates) row.message = message
    expect({ code, message }).toEqual({ code: 1, message: row.message })
    expect(message).not.toMatch(/^\s+at |Error:|undefined|\[object/m)
  })
})

describe('wrong documents', () => {
  test.each(sample(documents))('$mistake', async (row) => {
    const { code, out, message } = await run(['plan', row.file, '--data', 'none', '--verbose'], {
      [row.file]: row.document,
    })
    const notes = out.split('\n').filter((line) => /^ {2}(note|lint|!)/.test(line))
    const text = code === 0 ? notes.join('\n') : message
    if (updates) row.message = text
    expect(text).toBe(row.message)
    expect(text).not.toMatch(/^\s+at |Error:|undefined|\[object/m)
  })
})
