// A required second approver: the authors of a plan may not approve it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { parseGitAddress } from '../../src/reconcile/read/git-address.ts'
import { openGitSource } from '../../src/reconcile/read/git-source.ts'
import type { SourceContent } from '../../src/reconcile/read/source-content.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { type Caller, type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { recordEditor } from '../../src/service/sources/cluster-resources.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { createRepository, hasGit } from '../support/git.ts'
import { toSourceBody } from '../support/plan-client.ts'
import { newName, openNewService } from '../support/service.ts'
import { createSource } from '../support/sources.ts'

let service: Service
let call: (method: string, url: string, body: unknown, token: string) => Promise<{ status: number; body: never }>
let [ann, bob] = ['', '']
let realm: string

beforeAll(async () => {
  service = await openNewService({ requiresSecondApprover: true })
  await bootstrap(service)
  const credentials = [await hashPassword('pw')]
  const toUser = (username: string) => ({
    representation: { username, enabled: true, email: `${username}@example.org`, realmRoles: ['admin'], credentials },
  })
  await service.write(SYSTEM, 'master', (context) => users.create(context, ['ann', 'bob'].map(toUser)))
  const app = await createServer(service, {})
  const logIn = async (username: string) => {
    const response = await app.inject({
      method: 'POST',
      url: '/realms/master/protocol/openid-connect/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=password&client_id=admin-cli&username=${username}&password=pw`,
    })
    return response.json<{ access_token: string }>().access_token
  }
  ;[ann, bob] = [await logIn('ann'), await logIn('bob')]
  call = async (method, url, body, token) => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await app.inject({ method: method as 'GET', url, headers, ...(body ? { payload: body } : {}) })
    return { status: response.statusCode, body: response.body ? response.json() : undefined } as never
  }
})
afterAll(() => service.close())
beforeEach(() => {
  realm = newName()
})

const roles = (count: number) => ({
  realm,
  roles: { realm: Array.from({ length: count }, (_, at) => ({ name: `role-${at}` })) },
})
const limited = { guards: { deletions: 5 } }
interface RunResult {
  readonly realms: readonly { readonly pendingApproval?: { readonly plan: string } }[]
}
const getPlan = ({ realms }: RunResult): string => realms[0]!.pendingApproval!.plan
const approve = (plan: string, token: string) => call('POST', `/regent/v1/plans/${plan}/approve`, {}, token)
const refusal = (message: string) => ({
  status: 403,
  body: { error: 'HTTP 403 Forbidden', error_description: expect.stringContaining(message) },
})
const secondUser = (author: string) => `${author} made changes of the plan`

test('the caller of an apply may not approve its plan, and another user may', async () => {
  const apply = async (count: number, token: string) =>
    (await call('POST', '/regent/v1/apply', toSourceBody([roles(count)], realm, limited), token)).body as RunResult
  await apply(10, ann)
  const plan = getPlan(await apply(1, ann))
  expect(await approve(plan, ann)).toMatchObject(refusal(secondUser('ann')))
  expect(await approve(plan, bob)).toMatchObject({
    status: 200,
    body: { plan: { state: 'applied', approvedBy: 'bob' } },
  })
})

test('a user who applies the same changes again is another author of the plan', async () => {
  const apply = async (count: number, token: string) =>
    (await call('POST', '/regent/v1/apply', toSourceBody([roles(count)], realm, limited), token)).body as RunResult
  await apply(10, ann)
  const plan = getPlan(await apply(1, ann))
  expect(getPlan(await apply(1, bob))).toBe(plan)
  for (const [name, token] of [
    ['ann', ann],
    ['bob', bob],
  ] as const)
    expect(await approve(plan, token)).toMatchObject(refusal(secondUser(name)))
})

test('the caller of a saved plan may not approve it', async () => {
  const body = (count: number) => toSourceBody([roles(count)], realm, limited)
  await call('POST', '/regent/v1/apply', body(10), ann)
  const { saved } = (await call('POST', '/regent/v1/plan?save=true', body(1), ann)).body as { saved: { id: string } }
  expect(await approve(saved.id, ann)).toMatchObject(refusal(secondUser('ann')))
  expect(await approve(saved.id, bob)).toMatchObject({ status: 200 })
})

test.skipIf(!hasGit)('authors and committers of the commits since the last apply may not approve', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  const repository = await createRepository(folder)
  const options = { env: {}, isAllowed: () => true, readsAuthors: true, name: realm }
  const source = await openGitSource(parseGitAddress(repository.url)!, options)
  // The committer is always Ann.
  const push = async (count: number, name: string) => {
    await repository.push({ 'acme.yaml': JSON.stringify(roles(count)) })
    await repository.git('commit', '--quiet', '--amend', '--no-edit', `--author=${name} <${name}@example.org>`)
    await repository.git('push', '--quiet', '--force', 'origin', 'main')
  }
  const apply = async () => {
    const content = { ...(await source.read()), settings: limited }
    const caller: Caller = { actor: { kind: 'source', source: content.name } }
    return (await applySources(service, caller, [content])) as RunResult
  }
  try {
    await push(10, 'bob')
    await apply()
    await push(2, 'dan')
    await push(1, 'carol')
    const plan = getPlan(await apply())
    expect(await approve(plan, ann)).toMatchObject(refusal(secondUser('Ann')))
    expect(await approve(plan, bob)).toMatchObject({ status: 200, body: { plan: { approvedBy: 'bob' } } })
    await push(10, 'carol')
    await apply()
    await push(2, 'bob')
    await push(1, 'carol')
    const next = getPlan(await apply())
    for (const [name, token] of [
      ['Ann', ann],
      ['bob', bob],
    ] as const)
      expect(await approve(next, token)).toMatchObject(refusal(secondUser(name)))
  } finally {
    await source.close()
    await rm(folder, { recursive: true })
  }
})

test('users of a cluster who edited resources since the last apply may not approve, also by another spelling', async () => {
  const apply = async (count: number) => {
    const source: SourceContent = { ...createSource([roles(count)], realm), settings: limited }
    return (await applySources(service, { actor: { kind: 'source', source: realm } }, [source])) as RunResult
  }
  await apply(10)
  await recordEditor(service, { source: realm, editor: 'ANN@example.org' })
  const plan = getPlan(await apply(1))
  expect(await approve(plan, ann)).toMatchObject(refusal(secondUser('ANN@example.org')))
  expect(await approve(plan, bob)).toMatchObject({ status: 200 })
})

test('nobody may approve a plan whose authors are unknown, until a user applies its changes', async () => {
  const body = (count: number) => toSourceBody([roles(count)], realm, limited)
  const apply = async (count: number) => {
    const source: SourceContent = { ...createSource([roles(count)], realm), settings: limited }
    return (await applySources(service, { actor: { kind: 'source', source: realm } }, [source])) as RunResult
  }
  await apply(10)
  const plan = getPlan(await apply(1))
  for (const token of [ann, bob]) expect(await approve(plan, token)).toMatchObject(refusal('does not know who made'))
  expect(getPlan((await call('POST', '/regent/v1/apply', body(1), ann)).body as RunResult)).toBe(plan)
  expect(await approve(plan, ann)).toMatchObject(refusal(secondUser('ann')))
  expect(await approve(plan, bob)).toMatchObject({ status: 200 })
})
