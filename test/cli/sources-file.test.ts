// Files that define sources, each with its own settings.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const resource = (name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name }, spec }, null, 2)}\n`

test('serve reports every error of a sources file, and does not start', async () => {
  const invalidSources = [
    resource('both', { path: 'a', url: 'https://example.org/a.git' }),
    resource('typo', { path: 'a', prunes: 'none' }),
    resource('slow', { url: 'https://example.org/a.git', interval: 'often' }),
    resource('first', { path: 'a', dependsOn: ['second'] }),
    resource('second', { path: 'b', dependsOn: ['first', 'third'] }),
    resource('first', { path: 'c', permissions: { roles: ['owner'] } }),
    resource('first', { path: 'c' }),
  ]
  await writeFile(join(cli.folder, 'sources.yaml'), invalidSources.join(''))
  const { code, err } = await cli.run('serve', '--sources', 'sources.yaml', '--port', '0')
  expect(code).toBe(1)
  for (const message of [
    'sources.yaml:9:5: a source cannot have both url and path. Remove one of them.',
    'sources.yaml:22:5: unknown field prunes. Did you mean prune?',
    'spec.interval: must be a duration such as 30s, 5m or 1h30m, or 0s for none',
    'first is part of a dependency cycle',
    'second depends on third, which this file does not define',
    'spec.permissions.roles.0: ',
    'the source first is already defined at line ',
  ])
    expect(err).toContain(message)
})

test('sources of a file have the names, permissions and settings that it declares', async () => {
  await mkdir(join(cli.folder, 'realms'))
  await writeFile(join(cli.folder, 'realms', 'acme.yaml'), 'realm: acme\ndisplayName: Acme\n')
  await writeFile(join(cli.folder, 'other.yaml'), 'realm: other\n')
  const sources = [
    resource('team', { path: 'realms', permissions: { realms: ['acme'] }, prune: 'none' }),
    resource('narrow', { path: 'other.yaml', permissions: { realms: ['acme'] } }),
  ]
  await writeFile(join(cli.folder, 'sources.yaml'), sources.join(''))
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('+ realm acme')
  expect(server.output()).toContain('source narrow is not permitted to declare realm other. Permitted realms: acme.')
  const list = await cli.run('source', 'list', '--output', 'json')
  expect(JSON.parse(list.out)).toMatchObject([{ source: 'team', realm: 'acme' }])
})

test('a source that is removed from the settings leaves its realms and their users live', async () => {
  await writeFile(join(cli.folder, 'acme.yaml'), 'realm: acme\nusers: [{ username: ann }]\n')
  await writeFile(join(cli.folder, 'other.yaml'), 'realm: other\n')
  const both = [resource('team', { path: 'acme.yaml' }), resource('other', { path: 'other.yaml' })]
  await writeFile(join(cli.folder, 'sources.yaml'), both.join(''))
  const server = await cli.serve('--sources', 'sources.yaml')
  await server.stop()
  await writeFile(join(cli.folder, 'sources.yaml'), both[1]!)
  await cli.serve('--sources', 'sources.yaml')
  const list = await cli.run('source', 'list', '--output', 'json')
  expect(JSON.parse(list.out)).toMatchObject([
    { source: 'other', realm: 'other' },
    { source: 'team', realm: 'acme' },
  ])
  const user = await cli.run('get', 'acme/users?username=ann')
  expect(user.out).toContain('ann')
  const plans = await cli.run('plans')
  expect(plans.out).not.toContain('acme')
})
