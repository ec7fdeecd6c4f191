// A server that follows a git repository: pushes, webhooks, signatures, variables and errors.
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test as baseTest, beforeEach, expect, inject } from 'vitest'
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

if (!hasGit) console.warn('git is not installed: sources in git are not tested.')
if (!hasSshd) console.warn('sshd is not installed: git over ssh is not tested.')
const test = baseTest.skipIf(!hasGit)
const fullTest = baseTest.runIf(hasGit && isFullRun)

const PASSWORD = 'token-of-the-repository'
const SECRET = 'secret-of-the-webhook'
const realm = (displayName: string) => `realm: acme\ndisplayName: ${displayName}\n`

let cli: CommandFolder
let repository: Repository
let host: GitServer

beforeEach(async () => {
  cli = await createCommandFolder({ REALM_NAME: 'From a variable', OTHER_NAME: 'Nobody shall see this' })
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  repository = await createRepository(folder)
  host = await startGitServer(folder, 'ci', PASSWORD)
  await writeFile(join(cli.folder, 'secret'), `${SECRET}\n`)
})
afterEach(async () => {
  await cli.remove()
  await host.close()
})

const getDisplayName = async () =>
  (JSON.parse((await cli.run('get', 'acme')).out) as { displayName: string }).displayName

const listClones = async () => (await readdir(cli.folder)).filter((name) => name.startsWith('regent-git-'))

/** Sends a webhook as GitHub does. */
function sendWebhook(server: string, event: string, repository: string, secret = SECRET): Promise<Response> {
  const body = JSON.stringify({ repository: { clone_url: `https://${repository}`, url: 'https://api.example.com/7' } })
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-github-event': event, 'x-hub-signature-256': signature }
  return fetch(`${server}/regent/v1/webhook`, { method: 'POST', headers, body })
}

test('a webhook applies a push, also a forced one; after an invalid or deleted revision, the last valid commit stays applied', async () => {
  const url = `http://ci:${PASSWORD}@${host.host}/realms.git#main:prod`
  const validCommit = await repository.push({ 'prod/acme.yaml': realm('One'), 'dev/acme.yaml': realm('Not read') })
  const server = await cli.serve('--source', url, '--source-interval', '3600', '--source-webhook-secret-file', 'secret')
  expect(server.output()).toContain(`127.0.0.1/realms:prod at ${validCommit}`)
  const notify = (event = 'push', name = `${host.host}/realms`) => sendWebhook(server.url, event, name)
  const notifyUntil = async (text: string) => {
    const output = server.until(text)
    expect((await notify()).status).toBe(202)
    return output
  }

  await repository.push({ 'prod/acme.yaml': realm('Two') })
  const before = host.countRequests()
  expect((await sendWebhook(server.url, 'push', host.host, 'another secret')).status).toBe(401)
  expect((await notify('ping')).status).toBe(204)
  expect(host.countRequests()).toBe(before)
  expect(await notifyUntil('Applied: 0 created, 1 updated')).toMatch(
    /~ realm acme {2}prod\/acme.yaml:1:1\n +displayName: One → Two\n/,
  )

  const invalidCommit = await repository.push({ 'prod/acme.yaml': 'realm: acme\ndisplyName: Three\n' })
  const output = await notifyUntil('did you mean displayName?')
  expect(output).toContain(`realms.git#main:prod at ${invalidCommit} was not applied`)
  expect(output).toContain('prod/acme.yaml:2:1: ')
  expect(await getDisplayName()).toBe('Two')

  await repository.git('reset', '--hard', '--quiet', validCommit)
  await repository.push({})
  expect(await notifyUntil('Applied: 0 created, 1 updated')).toContain('displayName: Two → One')

  await repository.git('push', '--quiet', 'origin', ':main')
  expect(await notifyUntil('cannot be applied now')).toContain('Nothing changed')
  expect(server.output()).toContain('there is no branch or tag main')
  expect(await getDisplayName()).toBe('One')
  await repository.push({ 'prod/acme.yaml': realm('Four') })
  // A webhook of an unknown repository reads all sources.
  const recovered = server.until('can be applied again')
  expect((await notify('push', 'other.example.com/x')).status).toBe(202)
  expect(await recovered).toContain('One → Four')

  expect(server.output()).not.toContain(PASSWORD)
  for (const command of [
    ['source', 'list'],
    ['history', 'acme'],
    ['why', 'acme', 'displayName'],
    ['plan', url],
  ]) {
    const { out, err } = await cli.run(...command)
    expect(out, command.join(' ')).toContain(command[0] === 'plan' ? 'Nothing to do.' : '127.0.0.1/realms:prod')
    expect(out + err, command.join(' ')).not.toContain(PASSWORD)
  }
  expect(await server.stop()).toBe(0)
  expect(await listClones()).toEqual([])
})

baseTest.runIf(hasGit && inject('databaseUrl'))(
  'a webhook to a replica makes the active replica apply the push',
  async () => {
    await repository.push({ 'acme.yaml': realm('One') })
    const hooks = ['--source-interval', '3600', '--source-webhook-secret-file', 'secret']
    const serve = () => cli.serve('--source', repository.url, ...hooks)
    const applying = await serve()
    const waiting = await serve()
    const applied = applying.until('One → Two')
    await repository.push({ 'acme.yaml': realm('Two') })
    expect((await sendWebhook(waiting.url, 'push', host.host)).status).toBe(202)
    await applied
  },
)

fullTest('a server deletes the clones of killed servers, and keeps those of running ones', async () => {
  await repository.push({ 'acme.yaml': realm('One') })
  const serve = (data: string) => cli.serve('--source', repository.url, '--data', data)
  const running = await serve('one')
  const [runningClone] = await listClones()
  const killed = await serve('two')
  const [killedClone] = (await listClones()).filter((name) => name !== runningClone)
  expect(killedClone).toBeDefined()
  await killed.kill()
  await serve('three')
  expect(await listClones()).toHaveLength(2)
  expect(await listClones()).toContain(runningClone)
  expect(await listClones()).not.toContain(killedClone)
  await running.stop()
  expect(await listClones()).not.toContain(runningClone)
})

fullTest('a push is found by polling; an unreachable git server is reported once, and polled again', async () => {
  host.isUp = false
  await repository.push({ 'acme.yaml': realm('One') })
  const server = await cli.serve('--source', `http://ci:${PASSWORD}@${host.host}/realms.git`, '--source-interval', '1')
  const requestsBefore = host.countRequests()
  await expect.poll(() => host.countRequests(), { timeout: 20_000 }).toBeGreaterThan(requestsBefore + 1)
  let next = server.until('can be applied again')
  host.isUp = true
  expect(await next).toContain('+ realm acme')
  expect(server.output().match(/cannot be applied now\. Nothing changed/g)).toHaveLength(1)
  next = server.until('One → Two')
  await repository.push({ 'acme.yaml': realm('Two') })
  await next
  expect((await sendWebhook(server.url, 'push', host.host)).status).toBe(404)
  host.isUp = false
  const plan = await cli.run('plan', `http://ci:${PASSWORD}@${host.host}/realms.git`)
  expect(plan).toMatchObject({ code: 1, err: expect.stringContaining('git cannot list the branches and tags') })
  expect(plan.err + server.output()).not.toContain(PASSWORD)
})

fullTest('with --source-signers, only commits that a listed signer has signed are applied', async () => {
  const sign = (signer: string) => [
    ...['-c', 'gpg.format=ssh', '-c', `user.signingkey=${join(cli.folder, signer)}`],
    ...['-c', 'commit.gpgsign=true'],
  ]
  for (const signer of ['ann', 'mallory']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(cli.folder, signer)])
  }
  await writeFile(join(cli.folder, 'signers'), `ann@example.com ${await readFile(join(cli.folder, 'ann.pub'), 'utf8')}`)
  await repository.push({ 'acme.yaml': realm('One') }, ...sign('ann'))
  const server = await cli.serve('--source', repository.url, '--source-interval', '1', '--source-signers', 'signers')
  expect(server.output()).toContain('+ realm acme')
  for (const settings of [[], sign('mallory')]) {
    const refusal = server.until('is not signed by a signer listed in signers')
    const commit = await repository.push({ 'acme.yaml': realm('Smuggled in') }, ...settings)
    expect(await refusal).toContain(`at ${commit} was not applied`)
    expect(await getDisplayName()).toBe('One')
  }
  const next = server.until('One → Two')
  await repository.push({ 'acme.yaml': realm('Two') }, ...sign('ann'))
  await next
})

fullTest(
  'documents may use the variables of --source-variables on a server, and of --variables in a command',
  async () => {
    await mkdir(join(cli.folder, 'values'))
    await writeFile(join(cli.folder, 'values', 'name'), 'From a file')
    await symlink(join(cli.folder, 'secret'), join(cli.folder, 'values', 'link'))
    const folder = join(cli.folder, 'values')
    await repository.push({ 'acme.yaml': realm('$(env:REALM_NAME)') })
    const allowed = `env:REALM_*,file:${folder}`
    const server = await cli.serve('--source', repository.url, '--source-interval', '1', '--source-variables', allowed)
    expect(server.output()).toMatch(/displayName: +From a variable/)
    let next = server.until('→ From a file')
    await repository.push({ 'acme.yaml': realm(`$(file:${folder}/name)`) })
    await next
    for (const variable of ['$(env:OTHER_NAME)', `$(file:${folder}/link)`, `$(file:${folder}/../secret)`]) {
      next = server.until('is not allowed in documents')
      await repository.push({ 'acme.yaml': realm(variable) })
      await next
    }
    expect(await getDisplayName()).toBe('From a file')
    await repository.push({ 'acme.yaml': realm('$(env:OTHER_NAME)') })
    expect((await cli.run('plan', repository.url)).err).toContain('$(env:OTHER_NAME) is not allowed in documents')
    const plan = await cli.run('plan', repository.url, '--variables', 'env:OTHER_NAME')
    expect(plan.out).toContain('Nobody shall see this')
    expect(server.output()).not.toContain('Nobody shall see this')
    await server.stop()
    const withoutVariables = await cli.serve('--source', repository.url)
    expect(withoutVariables.output()).toContain('$(env:OTHER_NAME) is not allowed in documents')
  },
)

baseTest.skipIf(!hasSshd)('a repository is read over ssh only if the host key is known', async () => {
  const ssh = await startSshServer(cli.folder)
  const url = `ssh://${ssh.host}${repository.url.replace('file://', '')}#main`
  await repository.push({ 'acme.yaml': realm('One') })
  const sshCli = await createCommandFolder({ GIT_SSH_COMMAND: ssh.command })
  try {
    expect(await sshCli.run('validate', url)).toMatchObject({
      code: 1,
      err: expect.stringContaining('verification failed'),
    })
    await ssh.trustHost()
    expect(await sshCli.run('validate', url)).toMatchObject({ code: 0, out: 'realm acme: 1 object, valid\n' })
  } finally {
    await sshCli.remove()
    ssh.close()
  }
})
