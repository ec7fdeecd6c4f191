// Commands without a store: reading creates none, and a command that creates one reports it.
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import type { CommandEntry } from '../../src/cli/command-entry.ts'
import { commands } from '../../src/cli/commands.ts'
import { storeExists } from '../../src/store/store-exists.ts'
import { newDatabase } from '../support/service.ts'

/** Commands that create a missing store, or that need none. */
const CREATING = ['serve', 'apply', 'import', 'restore']
const WITHOUT_STORE = ['token']

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'regent-missing-'))
  vi.stubEnv('REGENT_DATABASE', '')
  vi.stubEnv('REGENT_SERVER', '')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

const listEntries = (entries: readonly CommandEntry[], path: string): { path: string; entry: CommandEntry }[] =>
  entries.flatMap((entry) => [
    { path: `${path}${entry.name}`, entry },
    ...listEntries(entry.commands ?? [], `${path}${entry.name} `),
  ])
const storeCommands = listEntries(commands, '').filter(({ entry }) =>
  entry.options?.some(({ long }) => long === '--database'),
)
const readingCommands = storeCommands.filter(({ path }) => ![...CREATING, ...WITHOUT_STORE].includes(path))

/** Runs a command on a store, with a value for each argument. */
function runOn(entry: CommandEntry, flags: object, document: string): Promise<void> {
  const values = entry.arguments?.map((argument) => {
    if (argument.name() === 'paths') return [document]
    if (['revision', 'from', 'to'].includes(argument.name())) return 'r1'
    return argument.name() === 'file' ? join(folder, 'file') : argument.variadic ? [] : 'x'
  })
  const options = { output: 'text', max: 1, newPassword: 'x', to: join(folder, 'to'), newKeyFile: document, save: true }
  return entry.run!(values ?? [], { ...options, ...flags })
}

test('the table of commands has those that create a store', () => {
  expect(storeCommands.map(({ path }) => path)).toEqual(expect.arrayContaining([...CREATING, ...WITHOUT_STORE]))
})

test.each(readingCommands)('$path creates no store', async ({ entry }) => {
  const document = join(folder, 'realm.yaml')
  await writeFile(document, 'realm: acme\n')
  const flags = { data: join(folder, 'data'), name: 'acme' }
  await expect(runOn(entry, flags, document)).rejects.toThrow(`There is no store in the folder ${flags.data}.`)
  expect(existsSync(flags.data)).toBe(false)
})

test.skipIf(!inject('databaseUrl'))('a command that reads creates no store in an empty database', async () => {
  const url = (await newDatabase()).url!
  await writeFile(join(folder, 'key'), Buffer.alloc(32, 7).toString('base64url'))
  const drift = commands.find(({ name }) => name === 'drift')!
  const flags = { database: url, keyFile: join(folder, 'key') }
  await expect(runOn(drift, flags, '')).rejects.toThrow(/^There is no store in the database postgres:/)
  expect(await storeExists({ url })).toBe(false)
})
