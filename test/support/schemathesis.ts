// Schemathesis, which makes requests from a description of an API, where it is installed: in a folder of its own.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const command = join(import.meta.dirname, '../../.venv/bin/schemathesis')

/** Whether it is there: `npm run install:schemathesis` puts it there. */
export const hasSchemathesis = existsSync(command)

/** What tests with it are called, which says so where they are left out. */
export const withSchemathesis = hasSchemathesis ? 'with Schemathesis' : 'skipped: no Schemathesis'

/** Values of parameters and of bodies, by the name of a list, and which list counts for what. */
export interface SchemathesisSettings {
  readonly token: string
  readonly lists: Readonly<Record<string, readonly string[]>>
  /** `path.user-id` or `body.name` → name of the list, and how often it is taken. */
  readonly values: Values
  /** Those of one operation, by method and path. */
  readonly valuesOf: Readonly<Record<string, Values>>
}

type Values = Readonly<Record<string, readonly [list: string, probability: number]>>

/** Runs it with these arguments. Gives what it said, and its exit status. */
export async function runSchemathesis(args: readonly string[], settings: SchemathesisSettings): Promise<[number | null, string]> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-schemathesis-'))
  await writeFile(join(folder, 'schemathesis.toml'), renderToml(settings))
  const child = spawn(command, ['run', '--no-color', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  await rm(folder, { recursive: true })
  return [status, said]
}

/** As TOML, whose texts are written as those of JSON. */
function renderToml({ token, lists, values, valuesOf }: SchemathesisSettings): string {
  const text = JSON.stringify
  const bound = (values: Values) =>
    Object.entries(values).map(
      ([key, [list, probability]]) => `${text(key)} = { dictionary = ${text(list)}, probability = ${probability} }`,
    )
  return [
    '[headers]',
    `Authorization = ${text(`Bearer ${token}`)}`,
    '[dictionaries]',
    ...Object.entries(lists).map(([name, values]) => `${text(name)} = { values = ${text(values)} }`),
    '[parameters]',
    ...bound(values),
    ...Object.entries(valuesOf).flatMap(([operation, values]) => [
      '[[operations]]',
      `include-name = ${text(operation)}`,
      '[operations.parameters]',
      ...bound(values),
    ]),
    '',
  ].join('\n')
}
