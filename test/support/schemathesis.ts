// Runs Schemathesis, which generates requests from an OpenAPI document, if it is installed.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const command = join(import.meta.dirname, '../../.venv/bin/schemathesis')

/** Whether Schemathesis is installed, by `npm run install:schemathesis`. */
export const hasSchemathesis = existsSync(command)

/** Part of the titles of tests with Schemathesis. It gives the reason if they are skipped. */
export const withSchemathesis = hasSchemathesis ? 'with Schemathesis' : 'skipped: no Schemathesis'

/** Lists of values, and the parameters and body fields that take values from them. */
export interface SchemathesisSettings {
  readonly token: string
  readonly lists: Readonly<Record<string, readonly string[]>>
  /** Name of the list and probability of its use, by parameter such as `path.user-id` or `body.name`. */
  readonly values: Values
  /** The same for one operation, by method and path. */
  readonly valuesOf: Readonly<Record<string, Values>>
}

type Values = Readonly<Record<string, readonly [list: string, probability: number]>>

/** Runs Schemathesis. Returns exit status and output. */
export async function runSchemathesis(
  args: readonly string[],
  settings: SchemathesisSettings,
): Promise<[number | null, string]> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-schemathesis-'))
  await writeFile(join(folder, 'schemathesis.toml'), renderToml(settings))
  const child = spawn(command, ['run', '--no-color', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const status = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  await rm(folder, { recursive: true })
  return [status, output]
}

/** Returns the settings as TOML, which has the strings of JSON. */
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
