// The identity of a source: the same files are the same source from whatever folder, clone or address they are applied. Otherwise the
// plan needs an approval, or the command fails.
import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { init } from '../../src/cli/commands/init.ts'
import { readSource, type SourceFlags, serializeSource } from '../../src/cli/commands/source.ts'
import { connect } from '../../src/cli/connect.ts'
import { parseGitAddress } from '../../src/reconcile/read/git-address.ts'
import { identifyGitSource, locateSource } from '../../src/reconcile/read/source-identity.ts'
import { deserializeSource } from '../../src/reconcile/read/source-text.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { renameSource } from '../../src/service/sources/source-status.ts'
import { type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'
import { committer } from '../support/git.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
let folder: string
let realm: string
let team: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'regent-identity-')))
  realm = newName()
  team = newName('team')
})
afterEach(() => rm(folder, { recursive: true }))

const at = (...names: string[]) => join(folder, ...names)
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-C', at(cwd), ...args], { env: { ...process.env, ...committer }, stdio: 'pipe' })
const write = (path: string, text: string) => writeFile(at(path), text)

/** Creates a clone with the folder `prod` of two files. */
async function createClone(name: string, url: string): Promise<void> {
  await mkdir(at(name, 'prod'), { recursive: true })
  await writeSettings(name, 'Acme')
  await writeClients(name, 'web', 'till')
  git(name, 'init', '--quiet', '--initial-branch=main')
  git(name, 'remote', 'add', 'origin', url)
}
const writeSettings = (name: string, displayName: string) =>
  write(`${name}/prod/settings.yaml`, `realm: ${realm}\ndisplayName: ${displayName}\n`)
const writeClients = (name: string, ...clients: string[]) =>
  write(
    `${name}/prod/clients.yaml`,
    `realm: ${realm}\nclients:\n${clients.map((id) => `  - clientId: ${id}\n`).join('')}`,
  )

/** Reads a source as a command does, and returns it as the server gets it. */
const read = async (path: string, flags: SourceFlags = {}) =>
  deserializeSource(JSON.parse(JSON.stringify(serializeSource(await readSource([path], flags)))))

async function plan(path: string, flags?: SourceFlags) {
  const { realms } = await planSources(service, SYSTEM, [await read(path, flags)])
  const actions = realms.flatMap(({ plan }) => plan.actions)
  return {
    actions: actions.map(({ operation, kind, key }) => `${operation} ${kind} ${key.at(-1)}`),
    guards: realms.flatMap(({ guards = [] }) => guards.map(({ guard }) => guard)),
  }
}
const apply = async (path: string, flags?: SourceFlags) => applySources(service, SYSTEM, [await read(path, flags)])

const nothing = { actions: [], guards: [] }
const needsApproval = { actions: [], guards: ['shared'] }

describe('the same files', () => {
  beforeEach(async () => {
    await createClone('first', `https://git.test/${team}/realms.git`)
    await apply(at('first', 'prod'))
  })

  test.each([
    ['their folder', 'prod'],
    ['one of the files', 'prod/settings.yaml'],
    ['a path through another folder', 'prod/../prod/./'],
  ])('are the same source, given by %s', async (_, path) => {
    expect(await plan(`${at('first')}/${path}`)).toEqual(nothing)
  })

  test('are the same source through a symbolic link, and in a worktree', async () => {
    await symlink(at('first', 'prod'), at('link'))
    expect(await plan(at('link'))).toEqual(nothing)
    git('first', 'add', '--all')
    git('first', 'commit', '--quiet', '--message', 'x')
    git('first', 'worktree', 'add', '--quiet', at('tree'))
    expect(await plan(at('tree', 'prod'))).toEqual(nothing)
  })

  test.each([
    'ssh://git@git.test:2222/TEAM/realms.git',
    'git@git.test:TEAM/realms.git',
    'https://ci:secret@GIT.test/TEAM/realms/',
  ])('are the same source in a clone of %s, and as a git source', async (address) => {
    const url = address.replace('TEAM', team)
    await createClone('second', url)
    expect(await plan(at('second', 'prod'))).toEqual(nothing)
    const { name } = await locateSource(at('first', 'prod'), {})
    const [repository] = url.split(/\/$/)
    for (const path of ['prod', 'prod/settings.yaml'])
      expect(identifyGitSource(parseGitAddress(`${repository}#main:${path}`)!, {})).toBe(name)
  })

  test.each(['http://git.test:3000/TEAM/realms', 'git://git.test/TEAM/realms.git'])(
    'are the same source in a clone of %s, whose protocol git sources do not have',
    async (address) => {
      await createClone('second', address.replace('TEAM', team))
      expect(await plan(at('second', 'prod'))).toEqual(nothing)
    },
  )

  test('are the same source after a file is renamed, and nothing of it is deleted', async () => {
    await rename(at('first/prod/clients.yaml'), at('first/prod/apps.yaml'))
    expect(await plan(at('first/prod/apps.yaml'))).toEqual(nothing)
    expect(await plan(at('first/prod'))).toEqual(nothing)
  })

  test('are the same source after a file is moved into a subfolder, which by itself needs an approval', async () => {
    await mkdir(at('first/prod/apps'))
    await rename(at('first/prod/clients.yaml'), at('first/prod/apps/clients.yaml'))
    expect(await plan(at('first/prod'))).toEqual(nothing)
    for (const path of ['apps', 'apps/clients.yaml'])
      expect(await plan(at('first/prod', path)), path).toEqual(needsApproval)
  })

  test.each<[string, (path: string) => Promise<[string, SourceFlags?]>]>([
    ['another name', async (path) => [path, { name: 'other' }]],
    ['a folder above', async () => [at('first')]],
    [
      'a renamed folder',
      async (path) => {
        await rename(path, at('first/staging'))
        return [at('first/staging')]
      },
    ],
    [
      'a clone of a fork',
      async () => {
        await createClone('fork', `https://git.test/${team}-fork/realms.git`)
        return [at('fork/prod')]
      },
    ],
    [
      'a clone of the first clone',
      async () => {
        await createClone('third', at('first'))
        return [at('third/prod')]
      },
    ],
    [
      'a project file with a name',
      async (path) => {
        await write('first/prod/regent.yaml', `name: ${team}\n`)
        return [path]
      },
    ],
  ])('need an approval under %s, until the source is renamed', async (_, move) => {
    const folderBefore = at('first', 'prod')
    const former = (await read(folderBefore)).name
    const [path, flags] = await move(folderBefore)
    expect(await plan(path, flags)).toEqual(needsApproval)
    const { realms } = await apply(path, flags)
    expect(realms[0]!.pendingApproval!.guards[0]!.message).toContain(`regent source rename ${former} `)
    await renameSource(service, SYSTEM, { source: former, newName: (await read(path, flags)).name })
    expect(await plan(path, flags)).toEqual(nothing)
  })

  test('have no name in a folder without repository and project file', async () => {
    await cp(at('first/prod'), at('copy'), { recursive: true })
    await expect(plan(at('copy'))).rejects.toThrow(
      `The source ${at('copy')} has no name, by which Regent knows what it manages. Write "name: NAME" into`,
    )
    expect(await plan(at('copy'), { name: (await read(at('first/prod'))).name })).toEqual(nothing)
  })
})

describe('other files under the same name', () => {
  const needsMoveApproval = (...actions: string[]) => ({ actions, guards: ['moved'] })
  const clientsOf = (...ids: string[]) =>
    `realm: ${realm}\nclients:\n${ids.map((id) => `  - clientId: ${id}\n`).join('')}`

  /** Creates two folders of the same name with different clients, as two teams do. */
  async function createFolders(name: string): Promise<void> {
    for (const [client, parent] of Object.entries({ web: 'first', till: 'second' })) {
      await mkdir(at(parent, name), { recursive: true })
      await write(`${parent}/${name}/realm.yaml`, clientsOf(client))
    }
  }

  test.each<[string, () => Promise<SourceFlags>]>([
    ['a flag', async () => ({ name: team })],
    [
      'project files',
      async () => {
        for (const parent of ['first', 'second']) await write(`${parent}/realms/regent.yaml`, `name: ${team}\n`)
        return {}
      },
    ],
    [
      'project files of two repositories',
      async () => {
        for (const parent of ['first', 'second']) {
          git(parent, 'init', '--quiet')
          git(parent, 'remote', 'add', 'origin', `https://git.test/${team}-${parent}/realms`)
          await write(`${parent}/realms/regent.yaml`, `name: ${team}\n`)
        }
        return {}
      },
    ],
  ])('of %s delete nothing without an approval', async (_, setUp) => {
    await createFolders('realms')
    const flags = await setUp()
    const [first, second] = [at('first', 'realms'), at('second', 'realms')]
    await apply(first, flags)
    expect(await plan(second, flags)).toEqual(needsMoveApproval('create client till', 'delete client web'))
    const { realms } = await apply(second, flags)
    const [guard] = realms[0]!.pendingApproval!.guards
    expect(guard!.message).toMatch(
      new RegExp(`^removes what the source ${team} declared in \\S+first/realms(:realms)?, since`),
    )
    // Applied from its own folder, the source is the same.
    await write('first/realms/realm.yaml', clientsOf('shop'))
    expect(await plan(first, flags)).toEqual({ actions: ['create client shop', 'delete client web'], guards: [] })
    // After an approval, the other folder is that of the source.
    const { approveSavedPlan } = await import('../../src/reconcile/run/saved-plans.ts')
    const pending = (await apply(second, flags)).realms[0]!.pendingApproval!
    await approveSavedPlan(service, SYSTEM, { id: pending.plan })
    await write('second/realms/realm.yaml', clientsOf('kiosk'))
    expect(await plan(second, flags)).toEqual({ actions: ['create client kiosk', 'delete client till'], guards: [] })
    expect((await plan(first, flags)).guards).toEqual(['moved'])
  })

  test('that remove no object but a field need an approval too, and files that remove nothing need none', async () => {
    await createFolders('realms')
    await write('first/realms/realm.yaml', `${clientsOf('web')}displayName: One\n`)
    await write('second/realms/realm.yaml', clientsOf('web'))
    await apply(at('first', 'realms'), { name: team })
    expect(await plan(at('second', 'realms'), { name: team })).toEqual(needsMoveApproval(`update realm ${realm}`))
    await write('second/realms/realm.yaml', `${clientsOf('web', 'till')}displayName: Two\n`)
    expect((await plan(at('second', 'realms'), { name: team })).guards).toEqual([])
  })

  test('of init are different sources, unless a name is given', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(console, 'log').mockImplementation(() => {})
    await Promise.all(['first', 'second', 'third'].map((parent) => mkdir(at(parent, 'realms'), { recursive: true })))
    const file = (parent: string) => at(parent, 'realms', 'my-realm.yaml')
    for (const parent of ['first', 'second']) await init(file(parent), {})
    const names = await Promise.all(['first', 'second'].map(async (parent) => (await read(at(parent, 'realms'))).name))
    expect(names).toEqual([expect.stringMatching(/^realms-\w{6}$/), expect.stringMatching(/^realms-\w{6}$/)])
    expect(names[0]).not.toBe(names[1])
    expect(reported.mock.calls.join()).toContain(`names the source ${names[0]}.`)
    await init(file('third'), { name: team })
    expect((await read(at('third', 'realms'))).name).toBe(team)
    await expect(init(at('third', 'realms', 'other.yaml'), { name: 'other' })).rejects.toThrow('is there already.')
    await expect(init(at('third', 'realms', 'more.yaml'), { name: team })).resolves.toBeUndefined()
    vi.restoreAllMocks()
  })
})

describe('a run over a part of a source', () => {
  beforeEach(async () => {
    await createClone('first', `https://git.test/${team}/realms.git`)
    await write(
      'first/prod/more.yaml',
      `realm: ${realm}\nenabled: true\nclients:\n  - clientId: till\n    name: Till\n`,
    )
    await apply(at('first', 'prod'))
  })

  test('neither deletes nor releases what other files declare', async () => {
    await writeClients('first', 'till')
    for (const file of ['settings', 'more']) expect(await plan(at(`first/prod/${file}.yaml`))).toEqual(nothing)
    expect(await plan(at('first/prod/clients.yaml'))).toEqual({ actions: ['delete client web'], guards: [] })
    await writeSettings('first', 'Other')
    await apply(at('first/prod/settings.yaml'))
    await write(
      'first/prod/more.yaml',
      `realm: ${realm}\nenabled: true\nclients:\n  - clientId: till\n    name: Other\n`,
    )
    await apply(at('first/prod/more.yaml'))
    // What the other files declared is still managed: the whole source changes only what was changed in it.
    expect(await plan(at('first/prod'))).toEqual({ actions: ['delete client web'], guards: [] })
    await write('first/prod/more.yaml', `realm: ${realm}\nenabled: true\nclients:\n  - clientId: till\n`)
    expect((await plan(at('first/prod'))).actions).toEqual(['update client till', 'delete client web'])
  })

  test('deletes no realm that only other files declare', async () => {
    const other = newName()
    await write('first/prod/other.yaml', `realm: ${other}\n`)
    await apply(at('first/prod'))
    expect(await plan(at('first/prod/settings.yaml'))).toEqual(nothing)
    await rm(at('first/prod/other.yaml'))
    expect((await plan(at('first/prod'))).guards).toEqual(['deletesRealm'])
  })
})

test('a source is the same by each relative path, from each working folder', async () => {
  const cli = await createCommandFolder()
  const files = join(cli.folder, 'clone', 'prod')
  await mkdir(join(files, 'apps'), { recursive: true })
  await writeFile(join(files, 'settings.yaml'), `realm: ${realm}\nclients:\n  - clientId: web\n`)
  await rm(join(cli.folder, 'regent.yaml'))
  const line = [
    'cd clone && git init --quiet && git remote add origin https://git.test/team/realms.git',
    'regent apply prod --data ../data',
    'cd prod',
    'regent plan . --data ../../data --detailed-exitcode',
    'regent plan settings.yaml --data ../../data --detailed-exitcode',
    'cd apps',
    'regent plan .. --data ../../../data --detailed-exitcode',
    'cd /',
    `regent plan '${files}' --data '${cli.folder}/data' --detailed-exitcode`,
  ]
  expect(await cli.shell(line.join(' && '), {})).toMatchObject({ code: 0 })
  await cli.remove()
})

describe('a project file', () => {
  beforeEach(async () => {
    await mkdir(at('project/realms/team'), { recursive: true })
    await write('project/realms/acme.yaml', `realm: ${realm}\n`)
    await write('project/realms/team/web.yaml', `realm: ${realm}\nclients:\n  - clientId: web\n`)
  })

  test('names the source of all files below it, and is no document', async () => {
    await write('project/regent.yaml', `name: ${team}\n`)
    await apply(at('project'))
    for (const path of ['project', 'project/realms', 'project/realms/team', 'project/realms/acme.yaml']) {
      expect((await read(at(path))).name).toBe(team)
      expect(await plan(at(path))).toEqual(nothing)
    }
    await rm(at('project/realms/team/web.yaml'))
    expect((await plan(at('project/realms/acme.yaml'))).actions).toEqual([])
    expect((await plan(at('project/realms'))).actions).toEqual(['delete client web'])
  })

  test('gives each environment a source of its own', async () => {
    await write('project/regent.yaml', `name: ${team}\nenvironments:\n  prod: {}\n  staging: {}\n`)
    expect((await read(at('project'), { environment: 'prod' })).name).toBe(`${team}@prod`)
    await expect(read(at('project'))).rejects.toThrow(
      'has the environments prod, staging. Choose one with --environment.',
    )
    await expect(read(at('project'), { environment: 'test' })).rejects.toThrow('has the environment test.')
  })

  test('in a subfolder is refused, since its files would have two sources', async () => {
    await write('project/regent.yaml', `name: ${team}\n`)
    await write('project/realms/team/regent.yaml', 'name: web\n')
    await expect(read(at('project'))).rejects.toThrow('is a source of its own: regent.yaml there names it web.')
    expect((await read(at('project/realms/team'))).name).toBe('web')
  })

  test('with an unknown field is refused with its position', async () => {
    await write('project/regent.yaml', 'nme: x\n')
    await expect(read(at('project'))).rejects.toMatchObject({
      problems: [{ message: 'unknown field nme. Did you mean name?', position: { line: 1, column: 1 } }],
    })
  })

  test('that names a server gets it no credentials, and no other store is used instead', async () => {
    await write('project/regent.yaml', `name: ${team}\nserver: https://id.test\n`)
    const flags = { user: 'ann', password: 'x', projectFolder: at('project') }
    await expect(connect(flags)).rejects.toThrow(
      'regent.yaml names the server https://id.test. To send it your credentials, pass --server https://id.test.',
    )
  })

  describe('with a server', () => {
    let cli: CommandFolder
    let server: RunningServer
    beforeAll(async () => {
      cli = await createCommandFolder()
      server = await cli.serve('--source', '')
      await mkdir(join(cli.folder, 'realms'))
      await writeFile(join(cli.folder, 'realms', 'guarded.yaml'), 'realm: guarded\n')
    })
    afterAll(() => cli.remove())

    const credentials = ['--user', 'admin', '--password', 'admin', '--environment', 'staging']
    const declare = (url: string) =>
      writeFile(join(cli.folder, 'regent.yaml'), `name: test\nenvironments:\n  staging:\n    server: ${url}\n`)
    const refusal = (origin: string) =>
      `regent.yaml names the server http://127.0.0.1:9 for the environment staging, and ${origin} names ${server.url}. Nothing was applied. Pass --server http://127.0.0.1:9,`

    test('permits no other server of an option, a variable or a context', async () => {
      await declare('http://127.0.0.1:9')
      for (const command of [['apply'], ['plan'], ['preview', 'create'], ['validate']]) {
        const { code, err } = await cli.run(...command, 'realms', ...credentials, '--server', server.url)
        expect({ command, code, err }).toEqual({ command, code: 1, err: expect.stringContaining(refusal('--server')) })
      }
      const line = `regent apply realms ${credentials.join(' ')}`
      const byVariable = await cli.shell(line, { REGENT_SERVER: server.url })
      expect(byVariable).toMatchObject({ code: 1, err: expect.stringContaining(refusal('REGENT_SERVER')) })
      const contexts = { contexts: { other: { server: server.url, realm: 'master', user: 'admin' } } }
      await mkdir(join(cli.folder, 'config'))
      await writeFile(join(cli.folder, 'config', 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 })
      const byContext = await cli.shell('regent apply realms --environment staging --context other', {})
      expect(byContext).toMatchObject({ code: 1, err: expect.stringContaining(refusal('--context other')) })
      expect((await callAsAdmin(server.url, { path: '/guarded' })).status).toBe(404)
    }, 60_000)

    test('permits a plan in a store of its own, and neither an apply nor a saved plan', async () => {
      await declare('http://127.0.0.1:9')
      const local = ['realms', '--environment', 'staging', '--data', 'other']
      for (const [command, ...options] of [['apply'], ['plan', '--save']]) {
        const { code, err } = await cli.run(command!, ...local, ...options)
        const message =
          'regent.yaml names the server http://127.0.0.1:9 for the environment staging, and this command would open a store itself.'
        expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) })
      }
      expect(await cli.run('plan', ...local)).toMatchObject({
        code: 0,
        out: expect.stringContaining('realm guarded (new)'),
      })
    }, 60_000)

    test('permits that server, also with a slash at the end', async () => {
      await declare(`${server.url}/`)
      expect(await cli.run('apply', 'realms', ...credentials, '--server', server.url)).toMatchObject({ code: 0 })
      expect((await callAsAdmin(server.url, { path: '/guarded' })).status).toBe(200)
    }, 60_000)
  })
})
