// Sources that a server follows: how they are doing, who waits for whom, and what people want of them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'

let at: CommandFolder
beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

const resource = (name: string, spec: object) =>
  `---\n${JSON.stringify({ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name }, spec })}\n`
const state = (name: string, text: string) => writeFile(join(at.folder, `${name}.yaml`), text)
const shown = async (name: string) => JSON.parse((await at.run('source', 'show', name, '--output', 'json')).out)

test.runIf(isFullRun)('a suspended source takes no part in runs of others that state the same realm', async () => {
  await state('base', 'realm: shared\ndisplayName: Base\n')
  await state('team', 'realm: shared\nroles: { realm: [{ name: one }] }\n')
  const sources = resource('base', { path: 'base.yaml' }) + resource('team', { path: 'team.yaml' })
  await writeFile(join(at.folder, 'sources.yaml'), sources)
  const server = await at.serve('--sources', 'sources.yaml')
  let next = server.until('is suspended')
  await at.run('source', 'suspend', 'base')
  await next
  next = server.until('+ role two')
  await state('team', 'realm: shared\nroles: { realm: [{ name: one }, { name: two }] }\n')
  expect(server.output()).toMatch(/ base at \S+, team at |team at \S+, base at /)
  expect(await next).not.toContain('base at')
})

test.runIf(isFullRun)(
  'a source waits for those it depends on; it is suspended, resumed, and called otherwise',
  async () => {
    await state('base', 'realm: base\ndisplyName: Wrong\n')
    await state('team', 'realm: team\ndisplayName: One\n')
    const sources =
      resource('team', { path: 'team.yaml', dependsOn: ['base'] }) + resource('base', { path: 'base.yaml' })
    await writeFile(join(at.folder, 'sources.yaml'), sources)
    const server = await at.serve('--sources', 'sources.yaml')
    expect(server.output()).toContain('team.yaml: its dependencies are not applied yet: base.')
    expect(await shown('base')).toMatchObject({
      realms: [],
      status: {
        ready: { status: 'False', reason: 'Refused', message: expect.stringContaining('base.yaml:2:1: ') },
        problems: [{ file: 'base.yaml', line: 2, column: 1, message: expect.stringContaining('displayName') }],
      },
    })
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('regent_sources_not_ready 2')

    let next = server.until('+ realm team')
    await state('base', 'realm: base\n')
    expect(await next).toContain('realm base (new)')
    expect(await shown('team')).toMatchObject({
      realms: ['team'],
      status: {
        ready: { status: 'True', reason: 'Applied' },
        attempts: [{}, { message: 'its dependencies are not applied yet: base' }],
      },
    })

    next = server.until('is suspended')
    expect(await at.run('source', 'suspend', 'team')).toMatchObject({ code: 0 })
    await next
    await state('team', 'realm: team\ndisplayName: Two\n')
    expect((await at.run('source', 'list')).out).toContain('suspended by')
    expect(server.output()).not.toContain('One → Two')
    expect(await at.run('source', 'force', 'team')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Resume it with "regent source resume"'),
    })
    next = server.until('One → Two')
    await at.run('source', 'resume', 'team')
    await next

    expect(await at.run('source', 'rename', 'team', 'base')).toMatchObject({
      code: 1,
      err: expect.stringContaining('A source base exists already'),
    })
    next = server.until('team.yaml was renamed to crew')
    await at.run('source', 'rename', 'team', 'crew')
    await next
    expect(await shown('crew')).toMatchObject({ realms: ['team'], status: { ready: { status: 'True' } } })
    expect((await at.run('plan', 'team.yaml', '--name', 'crew')).out).toContain('Nothing to do.')
    // By its former name it is read by nobody, until it is called so again.
    await state('team', 'realm: team\ndisplayName: Three\n')
    expect(await shown('team')).toMatchObject({ realms: [], suspended: { renamedTo: 'crew' } })
    next = server.until('Two → Three')
    await at.run('source', 'rename', 'crew', 'team')
    await next
    expect(await shown('team')).toMatchObject({ realms: ['team'], suspended: null })
  },
)

test.runIf(isFullRun)('a source that contradicts another one is tried again when that one was applied', async () => {
  await state('one', 'realm: acme\ndisplayName: One\n')
  await state('two', 'realm: acme\nenabled: true\n')
  const server = await at.serve('--source', 'one.yaml', '--source', 'two.yaml')
  let next = server.until('two.yaml was not applied')
  await state('two', 'realm: acme\ndisplayName: Two\n')
  await next
  next = server.until('→ Two')
  await state('one', 'realm: acme\nenabled: true\n')
  await next
  expect((await shown('two.yaml')).status.ready).toMatchObject({ status: 'True' })
})

test.runIf(isFullRun)('what a rollback holds goes on when it is resumed without naming a realm', async () => {
  await state('acme', 'realm: acme\ndisplayName: One\n')
  const server = await at.serve('--source', 'acme.yaml')
  const next = server.until('One → Two')
  await state('acme', 'realm: acme\ndisplayName: Two\n')
  await next
  expect(await at.run('rollback', 'acme', '2')).toMatchObject({ code: 0 })
  await state('acme', 'realm: acme\ndisplayName: Three\n')
  await expect.poll(async () => (await shown('acme.yaml')).status.ready.reason, { timeout: 60_000 }).toBe('RolledBack')
  const live = async () => JSON.parse((await at.run('get', 'acme')).out).displayName
  expect(await live()).toBe('One')
  expect(await at.run('source', 'resume', 'acme.yaml')).toMatchObject({ code: 0 })
  await expect.poll(live, { timeout: 60_000 }).toBe('Three')
})
