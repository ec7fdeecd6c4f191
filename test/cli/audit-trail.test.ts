// The audit trail: what a file and a webhook receive about changes and log-ins.
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { signWebhook } from '../../src/lib/webhook-signature.ts'
import { type CommandFolder, callAsAdmin, createCommandFolder, type RunningServer } from '../support/cli.ts'

/** An entry, as receivers get it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read entries of every form
type Entry = any

/** A receiver of webhooks, which may refuse them. */
class Receiver {
  readonly entries: Entry[] = []
  readonly headers: NodeJS.Dict<string | string[]>[] = []
  refuses = false
  refused = 0
  readonly #server = createServer(async (request, response) => {
    const body = await text(request)
    if (this.refuses) this.refused++
    else {
      this.headers.push({ ...request.headers, expected: signWebhook(body, 's3cret-key') })
      this.entries.push(...JSON.parse(body).entries)
    }
    response.writeHead(this.refuses ? 503 : 204).end()
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/audit`
  }

  close(): void {
    this.#server.close()
  }
}

const receiver = new Receiver()
let commands: CommandFolder
let server: RunningServer
beforeAll(async () => {
  const url = await receiver.listen()
  commands = await createCommandFolder({
    REGENT_AUDIT_LOG: 'audit.jsonl',
    REGENT_AUDIT_WEBHOOK: url,
    REGENT_AUDIT_WEBHOOK_SECRET_FILE: 'audit-secret',
  })
  await writeFile(join(commands.folder, 'audit-secret'), 's3cret-key\n')
  server = await commands.serve('--source', '')
})
afterAll(async () => {
  await commands?.remove()
  receiver.close()
})

const readLog = async (): Promise<Entry[]> => {
  const content = await readFile(join(commands.folder, 'audit.jsonl'), 'utf8').catch(() => '')
  return content
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
/** Waits until the webhook has an entry with the members. */
const waitForEntry = async (members: object): Promise<Entry> => {
  const isExpected = (entry: Entry) =>
    Object.entries(members).every(([name, value]) => JSON.stringify(entry[name]) === JSON.stringify(value))
  await expect.poll(() => receiver.entries.some(isExpected), { timeout: 20_000 }).toBe(true)
  return receiver.entries.find(isExpected)
}

async function logIn(realm: string, username: string, password: string): Promise<number> {
  const form = { grant_type: 'password', client_id: 'admin-cli', username, password }
  const response = await fetch(`${server.url}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'x-request-id': `login-${username}` },
    body: new URLSearchParams(form),
  })
  return response.status
}

const call = (method: string, path: string, body?: object) =>
  callAsAdmin<Entry>(server.url, { method, path, ...(body && { body }) })

test('a change by REST is an entry with its actor, address and fields, and without values', async () => {
  await call('POST', '', { realm: 'acme', enabled: true })
  await call('POST', '/acme/clients', { clientId: 'shop', secret: 'client-secret-1' })
  const [{ id }] = (await call('GET', '/acme/clients?clientId=shop')).body
  await call('PUT', `/acme/clients/${id}`, { clientId: 'shop', name: 'Store', secret: 'client-secret-2' })
  const entry = await waitForEntry({ realm: 'acme', type: 'change', operation: 'update' })
  expect(entry).toMatchObject({
    id: expect.stringMatching(/^\d+-\d+$/),
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    actor: { kind: 'administrator', realm: 'master', user: 'admin', client: 'admin-cli' },
    address: '127.0.0.1',
    resource: { kind: 'client', id, key: ['shop'] },
    fields: expect.arrayContaining(['name', 'secret']),
    requestId: expect.any(String),
  })
  expect(await waitForEntry({ realm: 'acme', type: 'admin-event', operation: 'UPDATE' })).toMatchObject({
    resource: { kind: 'CLIENT', path: `clients/${id}` },
    requestId: entry.requestId,
  })
})

test('log-ins and failed log-ins are entries, also in realms that store no events', async () => {
  await call('POST', '/acme/users', {
    username: 'ann',
    enabled: true,
    email: 'ann@example.org',
    firstName: 'Ann',
    lastName: 'Example',
    credentials: [{ type: 'password', value: 'first-password' }],
  })
  expect(await logIn('acme', 'ann', 'wrong-password')).toBe(400)
  expect(await logIn('acme', 'ann', 'first-password')).toBe(200)
  const failed = await waitForEntry({ realm: 'acme', operation: 'LOGIN_ERROR' })
  expect(failed).toMatchObject({
    type: 'user-event',
    address: '127.0.0.1',
    error: 'invalid_user_credentials',
    resource: { kind: 'user' },
    requestId: 'login-ann',
  })
  expect(await waitForEntry({ realm: 'acme', operation: 'LOGIN' })).toMatchObject({
    type: 'user-event',
    resource: failed.resource,
    details: { client: 'admin-cli', username: 'ann' },
  })
})

test('an apply is an entry of each change, with its source', async () => {
  await writeFile(join(commands.folder, 'beta.yaml'), 'realm: beta\nclients: [{clientId: shop, name: Shop}]\n')
  const { code, err } = await commands.run(
    'apply',
    'beta.yaml',
    '--server',
    server.url,
    '--user',
    'admin',
    '--password',
    'admin',
  )
  expect(err + code).toBe('0')
  expect(await waitForEntry({ realm: 'beta', type: 'change', operation: 'create' })).toMatchObject({
    actor: { source: expect.stringContaining('test') },
  })
})

test('changes that share a transaction have the ids of their own requests', async () => {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const body = new URLSearchParams(form)
  const response = await fetch(`${server.url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  const { access_token: token } = (await response.json()) as { access_token: string }
  const names = Array.from({ length: 30 }, (_, at) => `shared-${at}`)
  await Promise.all(
    names.map((name) =>
      fetch(`${server.url}/admin/realms/acme/roles`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-request-id': name },
        body: JSON.stringify({ name }),
      }),
    ),
  )
  for (const name of names) await waitForEntry({ realm: 'acme', type: 'change', requestId: name })
  const created = receiver.entries.filter(({ type, requestId }) => type === 'change' && names.includes(requestId))
  expect(created.map(({ resource }) => resource.key.at(-1))).toEqual(created.map(({ requestId }) => requestId))
  expect(created.length).toBe(names.length)
})

test('the file and the webhook get the same entries, the webhook signed, and neither gets secrets', async () => {
  const [header] = receiver.headers
  expect(header).toMatchObject({
    'content-type': 'application/json',
    'x-regent-event': 'audit',
    'x-hub-signature-256': header!.expected,
  })
  await expect.poll(async () => (await readLog()).length).toBe(receiver.entries.length)
  const withoutId = ({ id: _, ...entry }: Entry) => JSON.stringify(entry)
  expect((await readLog()).map(withoutId)).toEqual(receiver.entries.map(withoutId))
  expect(new Set(receiver.entries.map(({ id }) => id)).size).toBe(receiver.entries.length)
  expect(JSON.stringify(receiver.entries)).not.toMatch(/client-secret-[12]|first-password|wrong-password|Store/)
})

test('entries of a deleted realm are delivered when the receiver responds again, also by another process', async () => {
  receiver.refuses = true
  await call('DELETE', '/beta')
  await expect.poll(() => receiver.refused, { timeout: 20_000 }).toBeGreaterThan(0)
  expect(receiver.entries.filter(({ realm, operation }) => realm === 'beta' && operation === 'delete')).toEqual([])
  await server.stop()
  receiver.refuses = false
  server = await commands.serve('--source', '')
  expect(await waitForEntry({ realm: 'beta', operation: 'delete' })).toMatchObject({
    type: 'change',
    resource: { kind: 'realm', key: ['beta'] },
  })
})

test('a command that opens the store itself leaves its entries to a server', async () => {
  await server.stop()
  await writeFile(join(commands.folder, 'gamma.yaml'), 'realm: gamma\n')
  expect(await commands.run('apply', 'gamma.yaml')).toMatchObject({ code: 0 })
  expect(receiver.entries.filter(({ realm }) => realm === 'gamma')).toEqual([])
  server = await commands.serve('--source', '')
  await waitForEntry({ realm: 'gamma', type: 'change', operation: 'create' })
})

test.runIf(inject('databaseUrl'))('of two servers with one database, one delivers each entry', async () => {
  const other = await commands.serve('--source', '')
  const before = receiver.entries.length
  await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      callAsAdmin(at % 2 ? other.url : server.url, {
        method: 'POST',
        path: '/acme/roles',
        body: { name: `role-${at}` },
      }),
    ),
  )
  const listRoles = () =>
    receiver.entries.slice(before).filter(({ type, resource }) => type === 'change' && resource.kind === 'role')
  await expect.poll(() => listRoles().length, { timeout: 20_000 }).toBe(40)
  await other.stop()
  expect(new Set(listRoles().map(({ id }) => id)).size).toBe(40)
  const logged = (await readLog()).filter(({ type, resource }) => type === 'change' && /^role-/.test(resource.key?.[0]))
  expect(new Set(logged.map(({ resource }) => resource.key[0])).size).toBe(40)
  expect(logged.length).toBe(40)
})
