// The status of commits that a server reports to the hosts of its repositories.
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test as baseTest, beforeEach, expect } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { createRepository, type GitServer, hasGit, type Repository, startGitServer } from '../support/git.ts'
import { type RepositoryHost, startRepositoryHost } from '../support/repository-host.ts'

const test = baseTest.skipIf(!hasGit)
const TOKEN = 'token-that-sets-statuses'
const PASSWORD = 'token-of-the-repository'

let cli: CommandFolder
let repository: Repository
let git: GitServer
let host: RepositoryHost

beforeEach(async () => {
  cli = await createCommandFolder()
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  await mkdir(join(folder, 'acme'))
  repository = await createRepository(join(folder, 'acme'))
  git = await startGitServer(folder, 'ci', PASSWORD)
  host = await startRepositoryHost()
  await writeFile(join(cli.folder, 'token'), `${TOKEN}\n`)
  await writeFile(join(cli.folder, 'password'), PASSWORD)
})
afterEach(async () => {
  await cli.remove()
  await git.close()
  host.close()
})

const writeSources = (...sources: readonly (readonly [name: string, spec: object])[]) => {
  const resources = sources.map(([name, spec]) => ({
    ...{ apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name } },
    spec: {
      url: `http://${git.host}/acme/realms.git`,
      interval: '1s',
      credentials: { username: 'ci', passwordFile: 'password' },
      ...spec,
    },
  }))
  return writeFile(
    join(cli.folder, 'sources.yaml'),
    resources.map((resource) => JSON.stringify(resource)).join('\n---\n'),
  )
}
const commitStatus = { provider: 'gitea', tokenFile: 'token', targetUrl: 'https://id.example.com/console' }
const describeStatuses = (statuses: RepositoryHost['statuses']) =>
  statuses.map(({ path, body }) => [path.split('/').at(-1), body.state, body.description])

test('a commit is pending while it is applied, then applied or refused; nothing is repeated', async () => {
  const realm = (text: string) => ({ 'acme.yaml': `realm: acme\n${text}\n` })
  const first = await repository.push(realm('displayName: One'))
  await writeSources(['team', { commitStatus: { ...commitStatus, apiUrl: `${host.url}/api/v1` } }])
  const server = await cli.serve('--sources', 'sources.yaml')
  const applied = await host.waitForStatuses(first, 2)
  expect(describeStatuses(applied)).toEqual([
    [first, 'pending', 'The commit is being planned and applied.'],
    [first, 'success', 'Applied: 1 created, 0 updated, 0 deleted.'],
  ])
  expect(applied[1]).toMatchObject({
    method: 'POST',
    path: `/api/v1/repos/acme/realms/statuses/${first}`,
    headers: { authorization: `token ${TOKEN}` },
    body: { context: 'regent/team', target_url: 'https://id.example.com/console' },
  })

  // The host does not respond for some polls, and an administrator reads the source again: both say nothing new about the commit.
  git.isUp = false
  await server.until('cannot be applied now')
  git.isUp = true
  await server.until('can be applied again')
  await cli.run('source', 'force', 'team')

  const second = await repository.push(realm('displyName: Two'))
  const refused = await host.waitForStatuses(second, 2)
  expect(describeStatuses(refused)).toEqual([
    [second, 'pending', 'The commit is being planned and applied.'],
    [second, 'failure', expect.stringMatching(/^acme\.yaml:2:1: .*did you mean displayName\?/)],
  ])
  const third = await repository.push(realm('displayName: Three'))
  await host.waitForStatuses(third, 2)
  expect(describeStatuses(host.statuses).map(([sha, state]) => [sha, state])).toEqual([
    [first, 'pending'],
    [first, 'success'],
    [second, 'pending'],
    [second, 'failure'],
    [third, 'pending'],
    [third, 'success'],
  ])
  expect(server.output()).not.toContain(TOKEN)
})

test('a plan that needs an approval is pending, and successful after its approval', async () => {
  const clients = (...names: string[]) =>
    repository.push({
      'acme.yaml': JSON.stringify({ realm: 'acme', clients: names.map((clientId) => ({ clientId })) }),
    })
  await clients('a', 'b')
  const status = { ...commitStatus, provider: 'gitlab', apiUrl: `${host.url}/api/v4` }
  await writeSources(['team', { guards: { deletions: 0 }, commitStatus: status }])
  await cli.serve('--sources', 'sources.yaml')
  const sha = await clients('a')
  const statuses = await host.waitForStatuses(sha, 2)
  expect(statuses.map(({ body }) => body.state)).toEqual(['pending', 'pending'])
  const [, plan] = /^The plan (\S+) is pending approval, since it /.exec(statuses[1]!.body.description)!
  expect((await cli.run('approve', plan!)).code).toBe(0)
  await cli.run('source', 'force', 'team')
  const approved = await host.waitForStatuses(sha, 3)
  expect(approved[2]!.body.state).toBe('success')
})

test('a host that refuses a status delays nothing, is logged once, and gets the status later, also after a restart', async () => {
  const sha = await repository.push({ 'acme.yaml': 'realm: acme\n' })
  host.responses.push(...Array.from({ length: 2 }, () => ({ status: 503, body: { message: 'maintenance' } })))
  await writeSources(['team', { commitStatus: { ...commitStatus, provider: 'github', apiUrl: host.url } }])
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('Applied: 1 created, 0 updated, 0 deleted.')
  const statuses = await host.waitForStatuses(sha, 3)
  expect(statuses[2]!.body.state).toBe('success')
  const reports = server.output().split('is not reported to its host').length - 1
  expect(reports).toBe(1)
  expect(server.output()).toContain(`${host.url} responded with status 503 (maintenance)`)
  await server.stop()

  host.statuses.length = 0
  await cli.serve('--sources', 'sources.yaml')
  const repeated = await host.waitForStatuses(sha, 2)
  expect(repeated[1]!.body).toMatchObject({ state: 'success', description: 'The declared state is live.' })
})

test('the result of a commit is reported after a failure, also if a later commit was applied meanwhile', async () => {
  const first = await repository.push({ 'acme.yaml': 'realm: acme\n' })
  host.responses.push({ status: 201, body: {} }, { status: 502, body: {} })
  await writeSources(['team', { commitStatus: { ...commitStatus, provider: 'github', apiUrl: host.url } }])
  await cli.serve('--sources', 'sources.yaml')
  await host.waitForStatuses(first, 2)
  const second = await repository.push({ 'acme.yaml': 'realm: acme\ndisplayName: Two\n' })
  await host.waitForStatuses(second, 2)
  const statuses = await host.waitForStatuses(first, 3)
  expect(statuses.map(({ body }) => body.state)).toEqual(['pending', 'success', 'success'])
})

test('a host that does not respond does not delay the end of the server', async () => {
  const sha = await repository.push({ 'acme.yaml': 'realm: acme\n' })
  host.isSilent = true
  await writeSources(['team', { commitStatus: { ...commitStatus, apiUrl: host.url } }])
  const server = await cli.serve('--sources', 'sources.yaml')
  await host.waitForStatuses(sha, 1)
  const start = performance.now()
  expect(await server.stop()).toBe(0)
  expect(performance.now() - start).toBeLessThan(15_000)
  expect(server.output()).not.toContain('is not reported to its host')
})
