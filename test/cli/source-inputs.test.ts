// The inputs of commands: several files and folders, the standard input, and pipes.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
  for (const folder of ['a', 'b', 'other']) await mkdir(join(cli.folder, folder))
  await write('a/realm.yaml', 'realm: acme\n')
  await write('a/client.yaml', 'realm: acme\nclients: [{ clientId: one }]\n')
  await write('b/client.yaml', 'realm: acme\nclients: [{ clientId: two }]\n')
})
afterEach(() => cli.remove())

const write = (file: string, text: string) => writeFile(join(cli.folder, file), text)
const shell = (line: string) => cli.shell(line, {})

test('several paths are planned and applied together, and each file once', async () => {
  const planned = await cli.run('plan', 'a/realm.yaml', 'a', 'b', 'a/client.yaml')
  expect(planned.out).toContain('only a/realm.yaml, a, b, a/client.yaml;')
  expect(planned.out).toContain('Plan: 3 to create')
  expect(planned.err).toContain('regent apply a/realm.yaml a b a/client.yaml"')
  expect(await cli.run('apply', 'a', 'b/client.yaml')).toMatchObject({ code: 0 })
  await write('a/client.yaml', 'realm: acme\n')
  // Only what the given files declared is deleted.
  expect((await cli.run('plan', 'b', 'a/realm.yaml')).out).toContain('Nothing to do.')
  expect((await cli.run('plan', 'b', 'a')).out).toMatch(/- client one .*removed from a\/client\.yaml, line 2/)
})

test('without a path, the working folder is the source', async () => {
  expect((await cli.run('apply')).out).toContain('Applied: 3 created')
  for (const command of ['plan', 'validate', 'lint']) expect(await cli.run(command)).toMatchObject({ code: 0 })
})

test('- reads the standard input, whose declarations delete nothing', async () => {
  expect(await shell('(cat a/realm.yaml; echo ---; cat b/client.yaml) | regent validate -')).toMatchObject({
    code: 0,
    err: '',
  })
  await cli.run('apply')
  const changed = 'printf "realm: acme\\ndisplayName: ACME\\nclients: [{ clientId: three }]\\n" |'
  const planned = await shell(`${changed} regent plan -`)
  expect(planned.out).toContain('Source test at ')
  expect(planned.out).toContain('only the standard input;')
  expect(planned.out).toMatch(/~ realm acme {2}stdin:1:1\n {6}displayName: none → ACME\n/)
  expect(planned.out).toContain('Plan: 1 to create, 1 to update, 0 to delete.')
  expect(await shell(`${changed} regent apply -`)).toMatchObject({ code: 0 })
  expect((await shell('echo "realm: acme" | regent plan -')).out).toContain('Nothing to do.')
  expect(await shell('echo "realm: acme\nnme: x" | regent plan -')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^stdin:2:1: .*nme/),
  })
  expect(await shell('regent plan - < /dev/null')).toMatchObject({
    code: 1,
    err: 'The standard input contains no document that declares a realm.\n',
  })
})

test('a pipe is read as a file', async () => {
  await shell('mkfifo pipe; cat a/realm.yaml > pipe & regent apply pipe; wait')
  expect((await cli.run('get', 'acme')).code).toBe(0)
})

test('paths of several sources, and a repository beside a path, are refused', async () => {
  await write('other/regent.yaml', 'name: other\n')
  await write('other/realm.yaml', 'realm: other\n')
  expect(await cli.run('plan', 'a', 'other')).toMatchObject({
    code: 1,
    err: 'a and other belong to different sources (test, other). Pass them one after the other, or their common folder.\n',
  })
  expect(await cli.run('plan', 'a', 'https://git.example.com/realms.git')).toMatchObject({
    code: 1,
    err: expect.stringContaining('pass the URL of a repository alone'),
  })
})
