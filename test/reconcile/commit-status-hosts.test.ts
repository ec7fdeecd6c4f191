// The requests that set the status of a commit on GitHub, GitLab and Gitea, against a server that plays all three.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createOutbound, type Outbound, UNRESTRICTED } from '../../src/lib/http/outbound.ts'
import {
  type CommitStatus,
  createCommitStatusTarget,
  setCommitStatus,
} from '../../src/reconcile/following/commit-status-hosts.ts'
import type { CommitStatusFields } from '../../src/reconcile/read/source-resource.ts'
import { type RepositoryHost, startRepositoryHost } from '../support/repository-host.ts'

const sha = 'a'.repeat(40)
let host: RepositoryHost
beforeAll(async () => {
  host = await startRepositoryHost()
})
beforeEach(() => {
  host.statuses.length = 0
})
afterAll(() => host.close())

const createTarget = (repository: string, fields: CommitStatusFields, outbound: Outbound = UNRESTRICTED) =>
  createCommitStatusTarget('team', fields, {
    ...{ repository, outbound, authorities: undefined, token: 'the-token', githubApp: undefined },
  })

/** Sets statuses of each state, and returns the requests. */
async function setAll(fields: CommitStatusFields, repository = `${host.url}/acme/sub/realms.git`) {
  const target = createTarget(repository, fields)
  for (const state of ['pending', 'success', 'failure', 'error'] as const)
    await setCommitStatus(target, { sha, state, description: 'x'.repeat(300) })
  return host.statuses
}

test('GitHub gets states, a description of 140 characters, the context and the target URL', async () => {
  const requests = await setAll({ provider: 'github', targetUrl: 'https://id.example.com/console' })
  expect(requests.map(({ body }) => body.state)).toEqual(['pending', 'success', 'failure', 'error'])
  expect(requests[0]).toMatchObject({
    method: 'POST',
    path: `/api/v3/repos/acme/sub/realms/statuses/${sha}`,
    headers: {
      authorization: 'Bearer the-token',
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    body: {
      context: 'regent/team',
      description: `${'x'.repeat(139)}…`,
      target_url: 'https://id.example.com/console',
    },
  })
})

test('GitLab gets its own states and the whole path as the project; a status that it has already is no failure', async () => {
  const message =
    'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")'
  host.responses.push({ status: 400, body: { message } })
  const requests = await setAll({ provider: 'gitlab', context: 'identity' })
  expect(requests.map(({ body }) => body.state)).toEqual(['pending', 'success', 'failed', 'failed'])
  expect(requests[0]).toMatchObject({
    method: 'POST',
    path: `/api/v4/projects/acme%2Fsub%2Frealms/statuses/${sha}`,
    headers: { 'private-token': 'the-token' },
    body: { context: 'identity', description: `${'x'.repeat(254)}…` },
  })
  expect(requests[0]!.body).not.toHaveProperty('target_url')
})

test('Gitea gets states at its own path, also below a path of the server', async () => {
  const requests = await setAll({ provider: 'gitea' }, `${host.url}/acme/realms`)
  expect(requests.map(({ body }) => body.state)).toEqual(['pending', 'success', 'failure', 'error'])
  expect(requests[0]).toMatchObject({
    method: 'POST',
    path: `/api/v1/repos/acme/realms/statuses/${sha}`,
    headers: { authorization: 'token the-token' },
  })
  const apiUrl = `${host.url}/git/api/v1/`
  const status: CommitStatus = { sha, state: 'success', description: 'x' }
  await setCommitStatus(createTarget(`${host.url}/git/acme/realms.git`, { provider: 'gitea', apiUrl }), status)
  await setCommitStatus(createTarget('git@127.0.0.1:acme/realms.git', { provider: 'gitea', apiUrl }), status)
  for (const { path } of host.statuses.slice(-2)) expect(path).toBe(`/git/api/v1/repos/acme/realms/statuses/${sha}`)
})

test.each([
  ['https://github.com/acme/realms.git', 'github', 'api.github.com'],
  ['git@github.com:acme/realms.git', 'github', 'api.github.com'],
  ['https://acme.ghe.com/acme/realms.git', 'github', 'api.acme.ghe.com'],
  ['ssh://git@gitlab.example.com:2222/acme/realms.git', 'gitlab', 'gitlab.example.com'],
  ['https://gitea.example.com/acme/realms.git', 'gitea', 'gitea.example.com'],
] as const)('the API of %s is at a host that follows from the URL', async (repository, provider, expected) => {
  const hosts: string[] = []
  const outbound: Outbound = {
    ...UNRESTRICTED,
    lookup(name, _options, callback) {
      hosts.push(name)
      callback(new Error('no lookup in tests'), [])
    },
  }
  const target = createTarget(repository, { provider }, outbound)
  await expect(setCommitStatus(target, { sha, state: 'success', description: 'x' })).rejects.toThrow('no response')
  expect(hosts).toEqual([expected])
})

test('a refused status, and a host in a private network, are failures with the reason', async () => {
  host.responses.push({ status: 404, body: { message: 'Not Found' } })
  const status: CommitStatus = { sha, state: 'success', description: 'x' }
  const repository = `${host.url}/acme/realms.git`
  await expect(setCommitStatus(createTarget(repository, { provider: 'github' }), status)).rejects.toThrow(
    `${host.url} responded with status 404 (Not Found)`,
  )
  const guarded = createTarget(repository, { provider: 'github' }, createOutbound({}))
  await expect(setCommitStatus(guarded, status)).rejects.toThrow('is in a private network')
})
