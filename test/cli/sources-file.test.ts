// A file of sources: each with settings of its own; what is wrong in it is told with its place.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Workplace, workplace } from '../support/cli.ts'

let at: Workplace
beforeEach(async () => {
  at = await workplace()
})
afterEach(() => at.leave())

const resource = (name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name }, spec }, null, 2)}\n`

test('what is wrong in a file of sources is told with its place, and the server does not start', async () => {
  const wrong = [
    resource('both', { path: 'a', url: 'https://example.org/a.git' }),
    resource('typo', { path: 'a', prunes: 'none' }),
    resource('slow', { url: 'https://example.org/a.git', interval: 'often' }),
    resource('first', { path: 'a', dependsOn: ['second'] }),
    resource('second', { path: 'b', dependsOn: ['first', 'third'] }),
    resource('first', { path: 'c', limits: { roles: ['owner'] } }),
    resource('first', { path: 'c' }),
  ]
  await writeFile(join(at.folder, 'sources.yaml'), wrong.join(''))
  const { code, err } = await at.run('serve', '--sources', 'sources.yaml', '--port', '0')
  expect(code).toBe(1)
  for (const message of [
    'sources.yaml:9:5: a source has a url or a path: keep one of them',
    'sources.yaml:22:5: unknown field prunes; did you mean prune?',
    'spec.interval: must be a time such as 30s, 5m or 1h30m',
    'first depends on itself in the end',
    'second depends on third, which this file does not name',
    'spec.limits.roles.0: ',
    'there is a source first already, at line ',
  ])
    expect(err).toContain(message)
})

test('sources of a file have their names, limits and settings; flags settle what it leaves out', async () => {
  await mkdir(join(at.folder, 'realms'))
  await writeFile(join(at.folder, 'realms', 'acme.yaml'), 'realm: acme\ndisplayName: Acme\n')
  await writeFile(join(at.folder, 'other.yaml'), 'realm: other\n')
  const sources = [
    resource('team', { path: 'realms', limits: { realms: ['acme'] }, prune: 'none' }),
    resource('narrow', { path: 'other.yaml', limits: { realms: ['acme'] } }),
  ]
  await writeFile(join(at.folder, 'sources.yaml'), sources.join(''))
  const server = await at.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('+ realm acme')
  expect(server.output()).toContain('the source narrow may not touch the realm other: its limit is acme')
  const list = await at.run('source', 'list', '--output', 'json')
  expect(JSON.parse(list.out)).toMatchObject([{ source: 'team', realm: 'acme' }])
})
