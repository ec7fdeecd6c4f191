// Ctrl-C while commands work on 10,000 users: the store is as it was, its folder is free, and files are complete or named.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { adminFlags, type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

const USERS = 10_000

let cli: CommandFolder
beforeAll(async () => {
  cli = await createCommandFolder()
  const users = Array.from({ length: USERS }, (_, at) => ({ username: `user-${at}`, email: `user-${at}@example.org` }))
  await writeFile(join(cli.folder, 'crowd.yaml'), JSON.stringify({ realm: 'crowd', users }))
  await writeFile(join(cli.folder, 'acme.yaml'), 'realm: acme\n')
  await cli.shell('true', {})
})
afterAll(() => cli?.remove())

/** Runs a command on a terminal, and presses Ctrl-C when the output matches. */
async function cancel(line: string, pattern: RegExp): Promise<{ code: number | null; text: string }> {
  const child = spawn('script', ['-qefc', `regent ${line}`, '/dev/null'], {
    cwd: cli.folder,
    env: {
      ...process.env,
      ...(cli.database && { REGENT_DATABASE: cli.database, REGENT_KEY_FILE: join(cli.folder, 'key') }),
      PATH: `${cli.folder}:${process.env.PATH}`,
      NO_COLOR: '1',
      TMPDIR: cli.folder,
    },
  })
  let text = ''
  let isSent = false
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (isSent || !pattern.test(text)) return
    isSent = true
    child.stdin.write('\x03')
  })
  const [code] = await once(child, 'close')
  return { code, text }
}

const creating = /Creating users \S* ?[1-9],000\/10,000/
const listRealms = async (...flags: string[]) =>
  JSON.parse((await cli.run('get', '', ...flags)).out).map(({ realm }: { realm: string }) => realm)

test('a cancelled apply of 10,000 users leaves the store as it was, and its folder free', async () => {
  expect(await cli.run('apply', 'acme.yaml')).toMatchObject({ code: 0 })
  const { code, text } = await cancel('apply crowd.yaml --name crowd', creating)
  expect(text).toContain('Cancelled. Nothing was changed.')
  expect(text).not.toContain('Applied')
  expect(code).toBe(130)
  expect(await listRealms()).toEqual(['acme', 'master'])
  expect(await cli.run('history', 'acme')).toMatchObject({ code: 0 })
})

test('a cancelled apply of 10,000 users to a server leaves the store as it was', async () => {
  const server = await cli.serve('--source', '')
  const flags = adminFlags(server.url)
  const { code, text } = await cancel(`apply crowd.yaml --name crowd ${flags.join(' ')}`, creating)
  expect(text).toContain('Cancelled. Nothing was changed.')
  expect(code).toBe(130)
  expect(await listRealms(...flags)).toEqual(['acme', 'master'])
  expect(await cli.run('apply', 'acme.yaml', ...flags)).toMatchObject({ code: 0 })
  expect(await server.stop()).toBe(0)
})

// On PostgreSQL, a backup of this size ends before its progress is shown. On PGlite, one of a single realm may, too.
test.runIf(isFullRun && !inject('databaseUrl'))(
  'a cancelled back-up keeps the earlier file, and a cancelled restore can be repeated',
  async () => {
    const crowd = await readFile(join(cli.folder, 'crowd.yaml'), 'utf8')
    for (const realm of ['crowd', 'crowd-2', 'crowd-3']) {
      await writeFile(join(cli.folder, 'another.yaml'), crowd.replace('"crowd"', `"${realm}"`))
      expect(await cli.run('apply', 'another.yaml', '--name', realm)).toMatchObject({ code: 0 })
    }
    await writeFile(join(cli.folder, 'b.gz'), 'earlier')
    const backup = await cancel('backup b.gz', /Backing up rows/)
    expect(backup).toMatchObject({
      code: 130,
      text: expect.stringContaining('No backup was written. b.gz is unchanged.'),
    })
    expect(await readFile(join(cli.folder, 'b.gz'), 'utf8')).toBe('earlier')
    expect((await readdir(cli.folder)).filter((name) => name.startsWith('b.gz'))).toEqual(['b.gz'])
    expect(await cli.run('backup', 'b.gz')).toMatchObject({ code: 0 })

    const key = existsSync(join(cli.folder, 'key')) ? 'key' : 'data/key'
    const restore = await cancel(`restore b.gz --data copy --key-file ${key}`, /Restoring rows/)
    expect(restore).toMatchObject({ code: 130, text: expect.stringContaining('Cancelled. Nothing was restored.') })
    expect(await cli.run('restore', 'b.gz', '--data', 'copy', '--key-file', key)).toMatchObject({ code: 0 })
    const migrate = await cancel('migrate --to other', /Restoring rows/)
    expect(migrate).toMatchObject({ code: 130, text: expect.stringContaining('Cancelled. Nothing was restored.') })
  },
)

test.runIf(isFullRun)('a cancelled import names its incomplete files, and applies nothing', async () => {
  const server = await cli.serve('--source', '')
  const applied = await cli.run('apply', 'crowd.yaml', '--name', 'crowd', ...adminFlags(server.url))
  expect(applied).toMatchObject({ code: 0 })
  const from = `${server.url} --realm crowd --from-user admin --from-password admin`
  const { code, text } = await cancel(`import ${from} --dir files --data target`, /Writing files/)
  expect(text).toContain('Cancelled. The files in files are incomplete: delete them.')
  expect(code).toBe(130)
  expect(existsSync(join(cli.folder, 'target'))).toBe(false)
  expect(await server.stop()).toBe(0)
})
