// Sources that a server follows: their status and dependencies, and the commands that suspend, resume and rename them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let cli: CommandFolder
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(() => cli.remove())

const resource = (name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name }, spec })}\n`
const writeDocument = (name: string, text: string) => writeFile(join(cli.folder, `${name}.yaml`), text)
const showSource = async (name: string) => JSON.parse((await cli.run('source', 'show', name, '--output', 'json')).out)

test.runIf(isFullRun)('a suspended source is left out when another source of its realm is applied', async () => {
  await writeDocument('base', 'realm: shared\ndisplayName: Base\n')
  await writeDocument('team', 'realm: shared\nroles: { realm: [{ name: one }] }\n')
  const sources = resource('base', { path: 'base.yaml' }) + resource('team', { path: 'team.yaml' })
  await writeFile(join(cli.folder, 'sources.yaml'), sources)
  const server = await cli.serve('--sources', 'sources.yaml')
  let next = server.until('is suspended')
  await cli.run('source', 'suspend', 'base')
  await next
  next = server.until('+ role two')
  await writeDocument('team', 'realm: shared\nroles: { realm: [{ name: one }, { name: two }] }\n')
  expect(server.output()).toMatch(/ base at \S+, team at |team at \S+, base at /)
  expect(await next).not.toContain('base at')
})

test.runIf(isFullRun)('a source waits for its dependencies, and can be suspended, resumed and renamed', async () => {
  await writeDocument('base', 'realm: base\ndisplyName: Wrong\n')
  await writeDocument('team', 'realm: team\ndisplayName: One\n')
  const sources = resource('team', { path: 'team.yaml', dependsOn: ['base'] }) + resource('base', { path: 'base.yaml' })
  await writeFile(join(cli.folder, 'sources.yaml'), sources)
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain(
    'team.yaml was not applied. It depends on base, which was not applied yet. Run "regent source show base".',
  )
  expect(await showSource('base')).toMatchObject({
    realms: [],
    status: {
      ready: { status: 'False', reason: 'Refused', message: expect.stringContaining('base.yaml:2:1: ') },
      problems: [{ file: 'base.yaml', line: 2, column: 1, message: expect.stringContaining('displayName') }],
    },
  })
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  for (const figure of ['regent_sources_not_ready 2', 'regent_plans_pending 0']) expect(metrics).toContain(figure)

  let next = server.until('+ realm team')
  await writeDocument('base', 'realm: base\n')
  expect(await next).toContain('realm base (new)')
  expect(await showSource('team')).toMatchObject({
    realms: ['team'],
    status: {
      ready: { status: 'True', reason: 'Applied' },
      attempts: [{}, { message: 'It depends on base, which was not applied yet. Run "regent source show base".' }],
    },
  })

  next = server.until('is suspended')
  expect(await cli.run('source', 'suspend', 'team')).toMatchObject({ code: 0 })
  await next
  await writeDocument('team', 'realm: team\ndisplayName: Two\n')
  expect((await cli.run('source', 'list')).out).toContain('suspended by')
  expect(server.output()).not.toContain('One → Two')
  expect(await cli.run('source', 'force', 'team')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Resume it with "regent source resume"'),
  })
  next = server.until('One → Two')
  await cli.run('source', 'resume', 'team')
  await next

  expect(await cli.run('source', 'rename', 'team', 'base')).toMatchObject({
    code: 1,
    err: expect.stringContaining('A source base exists already'),
  })
  next = server.until('team.yaml was renamed to crew')
  await cli.run('source', 'rename', 'team', 'crew')
  await next
  expect(await showSource('crew')).toMatchObject({ realms: ['team'], status: { ready: { status: 'True' } } })
  expect((await cli.run('plan', 'team.yaml', '--name', 'crew')).out).toContain('Nothing to do.')
  // No source is read under the former name, until it is renamed back.
  await writeDocument('team', 'realm: team\ndisplayName: Three\n')
  expect(await showSource('team')).toMatchObject({ realms: [], suspended: { renamedTo: 'crew' } })
  next = server.until('Two → Three')
  await cli.run('source', 'rename', 'crew', 'team')
  await next
  expect(await showSource('team')).toMatchObject({ realms: ['team'], suspended: null })
})

test.runIf(isFullRun)(
  'a source in conflict with another source is applied after that source no longer declares the field',
  async () => {
    await writeDocument('one', 'realm: acme\ndisplayName: One\n')
    await writeDocument('two', 'realm: acme\nenabled: true\n')
    const sources = resource('one', { path: 'one.yaml' }) + resource('two', { path: 'two.yaml' })
    await writeFile(join(cli.folder, 'sources.yaml'), sources)
    const server = await cli.serve('--sources', 'sources.yaml')
    let next = server.until('two.yaml was not applied')
    await writeDocument('two', 'realm: acme\ndisplayName: Two\n')
    await next
    next = server.until('→ Two')
    await writeDocument('one', 'realm: acme\nenabled: true\n')
    await next
    expect((await showSource('two')).status.ready).toMatchObject({ status: 'True' })
  },
)

test.runIf(isFullRun)('source resume without a realm resumes a source that a rollback suspended', async () => {
  await writeDocument('acme', 'realm: acme\ndisplayName: One\n')
  const server = await cli.serve('--source', 'acme.yaml')
  const next = server.until('One → Two')
  await writeDocument('acme', 'realm: acme\ndisplayName: Two\n')
  await next
  expect(await cli.run('rollback', 'acme', '2', '--yes')).toMatchObject({ code: 0 })
  await writeDocument('acme', 'realm: acme\ndisplayName: Three\n')
  await expect.poll(async () => (await showSource('test')).status.ready.reason, { timeout: 60_000 }).toBe('RolledBack')
  const live = async () => JSON.parse((await cli.run('get', 'acme')).out).displayName
  expect(await live()).toBe('One')
  expect(await cli.run('source', 'resume', 'test')).toMatchObject({ code: 0 })
  await expect.poll(live, { timeout: 60_000 }).toBe('Three')
})
