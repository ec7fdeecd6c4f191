// A realm that follows a git repository: pushes, webhooks, signatures, and everything that goes wrong on the way.
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test as testOf } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import {
  createRepository,
  type GitServer,
  hasGit,
  hasSshd,
  type Repository,
  startGitServer,
  startSshServer,
} from '../support/git.ts'
import { isFullRun } from '../support/property-options.ts'

if (!hasGit) console.warn('There is no git here: sources in git are not tested.')
if (!hasSshd) console.warn('There is no sshd here: git over ssh is not tested.')
const test = testOf.skipIf(!hasGit)
const testOfAll = testOf.runIf(hasGit && isFullRun)

const PASSWORD = 'token-of-the-repository'
const SECRET = 'secret-of-the-webhook'
const realm = (displayName: string) => `realm: acme\ndisplayName: ${displayName}\n`

let at: CommandFolder
let repository: Repository
let host: GitServer

beforeEach(async () => {
  at = await createCommandFolder({ REALM_NAME: 'From a variable', OTHER_NAME: 'Nobody shall see this' })
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  repository = await createRepository(folder)
  host = await startGitServer(folder, 'ci', PASSWORD)
  await writeFile(join(at.folder, 'secret'), `${SECRET}\n`)
})
afterEach(async () => {
  await at.remove()
  await host.close()
})

const displayName = async () => (JSON.parse((await at.run('get', 'acme')).out) as { displayName: string }).displayName

const clones = async () => (await readdir(at.folder)).filter((name) => name.startsWith('regent-git-'))

/** What GitHub sends. */
function tell(server: string, event: string, repository: string, secret = SECRET): Promise<Response> {
  const body = JSON.stringify({ repository: { clone_url: `https://${repository}`, url: 'https://api.example.com/7' } })
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-github-event': event, 'x-hub-signature-256': signature }
  return fetch(`${server}/regent/v1/webhook`, { method: 'POST', headers, body })
}

test('a webhook has a push applied; what is broken, forced or deleted is told, and the last good commit stays', async () => {
  const url = `http://ci:${PASSWORD}@${host.host}/realms.git#main:prod`
  const good = await repository.push({ 'prod/acme.yaml': realm('One'), 'dev/acme.yaml': realm('Not read') })
  const server = await at.serve('--source', url, '--source-interval', '3600', '--source-webhook-secret-file', 'secret')
  expect(server.output()).toContain(`http://${host.host}/realms.git:prod at ${good}`)
  const told = (event = 'push', name = `${host.host}/realms`) => tell(server.url, event, name)
  const next = async (text: string) => {
    const seen = server.until(text)
    expect((await told()).status).toBe(202)
    return seen
  }

  await repository.push({ 'prod/acme.yaml': realm('Two') })
  const before = host.countRequests()
  expect((await tell(server.url, 'push', host.host, 'another secret')).status).toBe(401)
  expect((await told('ping')).status).toBe(204)
  expect(host.countRequests()).toBe(before)
  expect(await next('Applied: 0 created, 1 updated')).toMatch(/displayName: One → Two {2}prod\/acme.yaml:2:1/)

  const broken = await repository.push({ 'prod/acme.yaml': 'realm: acme\ndisplyName: Three\n' })
  const message = await next('did you mean displayName?')
  expect(message).toContain(`realms.git#main:prod at ${broken} was not applied`)
  expect(message).toContain('prod/acme.yaml:2:1: ')
  expect(await displayName()).toBe('Two')

  await repository.git('reset', '--hard', '--quiet', good)
  await repository.push({})
  expect(await next('Applied: 0 created, 1 updated')).toContain('displayName: Two → One')

  await repository.git('push', '--quiet', 'origin', ':main')
  expect(await next('cannot be applied now')).toContain('Nothing changed')
  expect(server.output()).toContain('there is no branch or tag main')
  expect(await displayName()).toBe('One')
  await repository.push({ 'prod/acme.yaml': realm('Four') })
  // Of a repository that nobody knows, all sources are read.
  const back = server.until('can be applied again')
  expect((await told('push', 'elsewhere.example.com/x')).status).toBe(202)
  expect(await back).toContain('One → Four')

  expect(server.output()).not.toContain(PASSWORD)
  for (const command of [
    ['source', 'list'],
    ['history', 'acme'],
    ['why', 'acme', 'displayName'],
    ['plan', url],
  ]) {
    const { out, err } = await at.run(...command)
    expect(out, command.join(' ')).toContain(command[0] === 'plan' ? 'Nothing to do.' : host.host)
    expect(out + err, command.join(' ')).not.toContain(PASSWORD)
  }
  expect(await server.stop()).toBe(0)
  expect(await clones()).toEqual([])
})

testOf.runIf(hasGit && inject('databaseUrl'))(
  'a webhook that reaches another server reaches the one that applies',
  async () => {
    await repository.push({ 'acme.yaml': realm('One') })
    const hooks = ['--source-interval', '3600', '--source-webhook-secret-file', 'secret']
    const serve = () => at.serve('--source', repository.url, ...hooks)
    const applying = await serve()
    const waiting = await serve()
    const applied = applying.until('One → Two')
    await repository.push({ 'acme.yaml': realm('Two') })
    expect((await tell(waiting.url, 'push', host.host)).status).toBe(202)
    await applied
  },
)

testOfAll(
  'what a killed server had fetched is removed by the next one; what a running one has fetched stays',
  async () => {
    await repository.push({ 'acme.yaml': realm('One') })
    const serve = (data: string) => at.serve('--source', repository.url, '--data', data)
    const running = await serve('one')
    const [own] = await clones()
    const killed = await serve('two')
    const [left] = (await clones()).filter((name) => name !== own)
    expect(left).toBeDefined()
    await killed.kill()
    await serve('three')
    expect(await clones()).toHaveLength(2)
    expect(await clones()).toContain(own)
    expect(await clones()).not.toContain(left)
    await running.stop()
    expect(await clones()).not.toContain(own)
  },
)

testOfAll('a push is found by asking; a server that does not answer is told of once, and asked again', async () => {
  host.isUp = false
  await repository.push({ 'acme.yaml': realm('One') })
  const server = await at.serve('--source', `http://ci:${PASSWORD}@${host.host}/realms.git`, '--source-interval', '1')
  const asked = host.countRequests()
  await expect.poll(() => host.countRequests(), { timeout: 20_000 }).toBeGreaterThan(asked + 1)
  let next = server.until('can be applied again')
  host.isUp = true
  expect(await next).toContain('+ realm acme')
  expect(server.output().match(/cannot be applied now\. Nothing changed/g)).toHaveLength(1)
  next = server.until('One → Two')
  await repository.push({ 'acme.yaml': realm('Two') })
  await next
  expect((await tell(server.url, 'push', host.host)).status).toBe(404)
  host.isUp = false
  const refused = await at.run('plan', `http://ci:${PASSWORD}@${host.host}/realms.git`)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('git cannot list the branches and tags') })
  expect(refused.err + server.output()).not.toContain(PASSWORD)
})

testOfAll('where signatures are demanded, only what one of the signers has committed is applied', async () => {
  const sign = (who: string) => [
    ...['-c', 'gpg.format=ssh', '-c', `user.signingkey=${join(at.folder, who)}`],
    ...['-c', 'commit.gpgsign=true'],
  ]
  for (const who of ['ann', 'mallory']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(at.folder, who)])
  }
  await writeFile(join(at.folder, 'signers'), `ann@example.com ${await readFile(join(at.folder, 'ann.pub'), 'utf8')}`)
  await repository.push({ 'acme.yaml': realm('One') }, ...sign('ann'))
  const server = await at.serve('--source', repository.url, '--source-interval', '1', '--source-signers', 'signers')
  expect(server.output()).toContain('+ realm acme')
  for (const settings of [[], sign('mallory')]) {
    const refused = server.until('is not signed by a signer listed in signers')
    const commit = await repository.push({ 'acme.yaml': realm('Smuggled in') }, ...settings)
    expect(await refused).toContain(`at ${commit} was not applied`)
    expect(await displayName()).toBe('One')
  }
  const next = server.until('One → Two')
  await repository.push({ 'acme.yaml': realm('Two') }, ...sign('ann'))
  await next
})

testOfAll(
  'documents of a repository take values from what the settings allow; of a command from what its flag names',
  async () => {
    await mkdir(join(at.folder, 'values'))
    await writeFile(join(at.folder, 'values', 'name'), 'From a file')
    await symlink(join(at.folder, 'secret'), join(at.folder, 'values', 'link'))
    const folder = join(at.folder, 'values')
    await repository.push({ 'acme.yaml': realm('$(env:REALM_NAME)') })
    const allowed = `env:REALM_*,file:${folder}`
    const server = await at.serve('--source', repository.url, '--source-interval', '1', '--source-variables', allowed)
    expect(server.output()).toContain('→ From a variable')
    let next = server.until('→ From a file')
    await repository.push({ 'acme.yaml': realm(`$(file:${folder}/name)`) })
    await next
    for (const variable of ['$(env:OTHER_NAME)', `$(file:${folder}/link)`, `$(file:${folder}/../secret)`]) {
      next = server.until('is not allowed in documents here')
      await repository.push({ 'acme.yaml': realm(variable) })
      await next
    }
    expect(await displayName()).toBe('From a file')
    await repository.push({ 'acme.yaml': realm('$(env:OTHER_NAME)') })
    expect((await at.run('plan', repository.url)).err).toContain('$(env:OTHER_NAME) is not allowed in documents here')
    const named = await at.run('plan', repository.url, '--variables', 'env:OTHER_NAME')
    expect(named.out).toContain('Nobody shall see this')
    expect(server.output()).not.toContain('Nobody shall see this')
    await server.stop()
    const closed = await at.serve('--source', repository.url)
    expect(closed.output()).toContain('$(env:OTHER_NAME) is not allowed in documents here')
  },
)

testOf.skipIf(!hasSshd)('a repository is read over ssh, from a host that is known', async () => {
  const ssh = await startSshServer(at.folder)
  const url = `ssh://${ssh.host}${repository.url.replace('file://', '')}#main`
  await repository.push({ 'acme.yaml': realm('One') })
  const own = await createCommandFolder({ GIT_SSH_COMMAND: ssh.command })
  try {
    expect(await own.run('validate', url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('verification failed'),
    })
    await ssh.trustHost()
    expect(await own.run('validate', url)).toMatchObject({ code: 0, out: 'realm acme: 1 object, valid\n' })
  } finally {
    await own.remove()
    ssh.close()
  }
})
