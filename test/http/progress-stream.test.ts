// Plans and applies whose callers accept server-sent events: the progress, the outcome or error, and the cancellation.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { progressEvent } from '../../src/http/server/progress-stream.ts'
import { readEvents, type ServerEvent } from '../../src/lib/http/http-request.ts'
import { createAdminTokens } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call, createRealm, listen, adminToken } = await testServer()
const address = await listen()

const toSource = (document: object) => ({
  name: newName('source'),
  files: [{ file: 'a.yaml', text: JSON.stringify(document) }],
})

const listUsers = (count: number) => Array.from({ length: count }, (_, at) => ({ username: `user-${at}` }))

interface StreamOptions {
  readonly token?: string
  readonly signal?: AbortSignal
  readonly accept?: string
}

async function post(path: string, body: object, options: StreamOptions = {}): Promise<Response> {
  const { token = await adminToken(), signal, accept = 'text/event-stream, application/json' } = options
  return fetch(`${address}/regent/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

async function collectEvents(path: string, body: object): Promise<ServerEvent[]> {
  const response = await post(path, body)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const events: ServerEvent[] = []
  for await (const event of readEvents(response.body!)) events.push(event)
  for (const { event, data } of events) if (event === 'progress') progressEvent.parse(data)
  return events
}

test('an apply reports each chunk of users, and the commit, and ends with the outcome', async () => {
  const realm = newName()
  const events = await collectEvents('apply', toSource({ realm, users: listUsers(2500) }))
  const created = events.flatMap(({ event, data }) => {
    const { phase, kind, done } = data as { phase: string; kind: string; done: number }
    return event === 'progress' && phase === 'create' && kind === 'user' ? [done] : []
  })
  expect(created).toEqual([0, 1000, 2000, 2500])
  const committed = [{ phase: 'record', realm }, { phase: 'commit' }, { phase: 'applied', realm }]
  expect(events.slice(-4, -1).map(({ data }) => data)).toEqual(committed)
  expect(events.at(-1)).toMatchObject({
    event: 'outcome',
    data: { status: 200, body: { realms: [{ plan: { realm, creates: true } }] } },
  })
  expect((await call('GET', `/admin/realms/${realm}/users/count`)).body).toBe(2500)
})

test('a plan reports its dry run, and commits nothing', async () => {
  const realm = newName()
  const events = await collectEvents('plan', toSource({ realm, users: listUsers(2) }))
  expect(events.map(({ data }) => data)).toContainEqual({
    ...{ phase: 'create', realm, kind: 'user', dryRun: true, done: 2, total: 2 },
  })
  expect(events.map(({ data }) => data)).not.toContainEqual({ phase: 'commit' })
  expect(events.at(-1)).toMatchObject({ event: 'outcome', data: { status: 200 } })
  expect((await call('GET', `/admin/realms/${realm}`)).status).toBe(404)
})

test('passwords are counted while they are hashed', async () => {
  const realm = newName()
  const users = ['a', 'b'].map((username) => ({ username, credentials: [{ type: 'password', value: 'pw' }] }))
  const events = await collectEvents('apply', toSource({ realm, users }))
  for (const done of [1, 2])
    expect(events.map(({ data }) => data)).toContainEqual({ phase: 'hash', realm, done, total: 2 })
})

test('the apply of a saved plan reports progress', async () => {
  const realm = newName()
  const saved = await collectEvents('plan?save=true', toSource({ realm }))
  const { id } = (saved.at(-1)!.data as { body: { saved: { id: string } } }).body.saved
  const events = await collectEvents(`plans/${id}/apply`, {})
  expect(events[0]).toEqual({ event: 'progress', data: { phase: 'compare', realm } })
  expect(events.at(-1)).toMatchObject({ event: 'outcome', data: { status: 200 } })
})

test('an error before the first progress has its own status', async () => {
  const realm = newName()
  const invalid = await post('apply', toSource({ realm, nothing: true }))
  expect([invalid.status, invalid.headers.get('content-type')]).toEqual([400, 'application/json'])
  const [token] = await createAdminTokens((await createRealm()).split('/').at(-1)!, [
    { clientRoles: { 'realm-management': ['view-realm'] } },
  ])
  expect((await post('apply', toSource({ realm }), { token: token! })).status).toBe(403)
  expect((await post('apply', toSource({ realm }), { token: 'none' })).status).toBe(401)
})

test('an error after the first progress ends the stream with its status and body', async () => {
  const realm = newName()
  const users = ['a', 'b'].map((username) => ({ username, email: 'same@example.org' }))
  const document = toSource({ realm, users })
  const plain = await post('apply', document, { accept: 'application/json' })
  const events = await collectEvents('apply', document)
  expect(events.at(-1)).toEqual({ event: 'error', data: { status: plain.status, body: await plain.json() } })
  expect(plain.status).toBe(409)
})

test('a caller who does not accept server-sent events by name gets JSON', async () => {
  for (const accept of ['application/json', '*/*', 'text/*']) {
    const response = await post('plan', toSource({ realm: newName() }), { accept })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  }
})

test('an apply whose caller closes the connection before the commit is rolled back', async () => {
  const realm = newName()
  const source = toSource({ realm, users: listUsers(5000) })
  const controller = new AbortController()
  const response = await post('apply', source, { signal: controller.signal })
  const read = async () => {
    for await (const { data } of readEvents(response.body!)) {
      const { phase, done } = data as { phase: string; done: number }
      if (phase === 'create' && done >= 1000) controller.abort()
    }
  }
  await expect(read()).rejects.toThrow(/abort/)
  // A write to the realm would wait for the end of the transaction.
  await sleep(200)
  expect((await call('POST', '/admin/realms', { body: { realm } })).status).toBe(201)
  expect((await call('GET', `/admin/realms/${realm}/users/count`)).body).toBe(0)
  expect((await call('DELETE', `/admin/realms/${realm}`)).status).toBe(204)
  expect((await collectEvents('apply', source)).at(-1)).toMatchObject({ event: 'outcome', data: { status: 200 } })
})
