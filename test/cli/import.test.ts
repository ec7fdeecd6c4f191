// Moving in: a realm with an object of every kind, read from a server over its admin API, written as files, and applied.

import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'
import { createRemoteRealm, LABEL, type RemoteCall } from '../support/remote-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

/** A real server of Keycloak, where there is one to move in from. */
const reference = process.env.REGENT_REFERENCE
const credentials = ['--from-user', 'admin', '--from-password', 'admin']
const nothing = expect.stringContaining('Nothing to do.')

let at: CommandFolder
let front: Server | undefined
beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(async () => {
  front?.close()
  await at.remove()
})

/** The files of a folder, by path, less the secrets that nobody could read. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(join(at.folder, folder), { recursive: true })).filter((name) => name.endsWith('.yaml'))
  const texts = await Promise.all(names.map((name) => readFile(join(at.folder, folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!.replaceAll(/^.*\*{10}.*\n/gm, '')]))
}

/** Fills a realm with an object of every kind. */
async function fill(call: RemoteCall, realm: string): Promise<void> {
  await createRemoteRealm(call, realm).ensure()
  const below = `/admin/realms/${realm}`
  await call('PUT', below, {
    displayName: 'Costs $(env:NOTHING)',
    smtpServer: {
      host: 'mail.example.org',
      from: 'a@example.org',
      auth: 'true',
      user: 'u',
      password: 'told to nobody',
    },
  })
  const flow = encodeURIComponent(LABEL)
  await call('POST', `${below}/authentication/flows/${flow}/executions/flow`, { alias: 'inner', type: 'basic-flow' })
}

/** A realm of the test server, with more people than a page has. */
async function filledRealm(): Promise<{ url: string; realm: string }> {
  const server = await testServer()
  const { service } = await testService()
  const realm = newName()
  await fill(async (method, address, body) => {
    const answer = await server.call(method, address, {
      ...(body !== undefined && { body }),
      ...(address.includes('/localization/') && { headers: { 'content-type': 'text/plain' } }),
    })
    return { status: answer.status, body: answer.body, location: answer.headers.location as string | undefined }
  }, realm)
  const users = Array.from({ length: 120 }, (_, number) => ({ username: `person-${number}`, groups: [`/${LABEL}`] }))
  await applySource(service, createSource([{ realm, users }], realm))
  return { url: await server.listen(), realm }
}

/** What is sent to it goes on to the server, but one request in ten of the admin API is refused the first time. */
async function moodyServer(url: string): Promise<string> {
  const seen = new Map<string, boolean>()
  let count = 0
  front = createServer(async (request, response) => {
    const address = `${request.method} ${request.url}`
    const isRead = request.url!.startsWith('/admin/') && !request.url!.includes('partial-export')
    if (isRead && !seen.get(address)) {
      seen.set(address, true)
      const status = { 5: 401, 10: 503 }[count++ % 20]
      if (status) return void response.writeHead(status).end()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
    const body = chunks.length ? { body: Buffer.concat(chunks) } : {}
    const answer = await fetch(url + request.url, { method: request.method!, headers, ...body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  })
  await once(front.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

test.runIf(isFullRun)(
  'a realm with every kind moves in from a server that is busy at times and ends its tokens: its files plan to nothing, on both',
  async () => {
    const { url, realm } = await filledRealm()
    const from = await moodyServer(url)
    const server = await at.serve('--source', '')
    const moved = await at.run('import', from, '--realm', realm, ...credentials)
    expect(moved).toMatchObject({ code: 0, err: '' })
    expect(moved.out).toMatch(/realm\.yaml:\d+:3 {2}smtpServer\.password of realm/)
    expect(moved.out).toContain('121 users need a new one')
    expect(moved.out).not.toContain('told to nobody')
    expect(await at.run('plan', realm, '--detailed-exitcode')).toMatchObject({ code: 0, out: nothing })
    expect(await at.run('source', 'list')).toMatchObject({ out: 'No source has been applied so far.\n' })

    const back = await at.run('import', server.url, '--realm', realm, ...credentials, '--no-apply', '--dir', 'back')
    expect(back.code).toBe(0)
    expect(await filesIn('back')).toEqual(await filesIn(realm))
  },
)

test('with --secrets, files hold those of clients; one file is enough where it is asked for', async () => {
  const { url, realm } = await filledRealm()
  const args = ['--realm', realm, ...credentials, '--no-apply', '--secrets', '--file', 'one.yaml']
  expect(await at.run('import', url, ...args)).toMatchObject({
    code: 0,
    out: expect.stringContaining('Wrote one.yaml.'),
  })
  const there = (await (await testServer()).call('GET', `/admin/realms/${realm}/clients?clientId=${LABEL}`)).body
  expect(await readFile(join(at.folder, 'one.yaml'), 'utf8')).toContain(`secret: ${there[0].secret}`)
})

test('nothing is read or written where it is not clear who asks, for what, or where to', async () => {
  const url = await (await testServer()).listen()
  const refused = async (message: string, ...args: string[]) =>
    expect(await at.run('import', url, '--no-apply', ...args)).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(message),
    })
  await refused('Pass --from-user and --from-password', '--realm', 'a')
  await refused('admin cannot log in at', '--realm', 'a', '--from-user', 'admin', '--from-password', 'wrong')
  await refused('Check the name of the realm', '--realm', 'not-there', ...credentials)
  await refused('Pass --allow-master', '--realm', 'master', ...credentials)
  await refused('Use a new token', '--realm', 'a', '--from-token', 'ended')
  await at.run('init', 'full/my-realm.yaml')
  await at.run('init', 'my-realm.yaml')
  await refused('my-realm.yaml exists already', '--realm', 'a', '--file', 'my-realm.yaml', ...credentials)
  expect(await readdir(at.folder)).not.toContain('a')
})

test.skipIf(!reference)(
  'a realm with every kind moves in from the reference server: its files plan to nothing, on both',
  async () => {
    const realm = newName()
    const token = async () => {
      const body = new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'admin',
        password: 'admin',
      })
      const answer = await fetch(`${reference}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
      return ((await answer.json()) as { access_token: string }).access_token
    }
    await fill(async (method, address, body) => {
      const isText = address.includes('/localization/')
      const answer = await fetch(reference + address, {
        method,
        headers: {
          authorization: `Bearer ${await token()}`,
          'content-type': isText ? 'text/plain' : 'application/json',
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      return {
        status: answer.status,
        body: /^[[{]/.test(text) ? JSON.parse(text) : text,
        location: answer.headers.get('location') ?? undefined,
      }
    }, realm)
    expect(await at.run('import', reference!, '--realm', realm, ...credentials)).toMatchObject({ code: 0, err: '' })
    expect(await at.run('plan', realm, '--detailed-exitcode')).toMatchObject({ code: 0, out: nothing })
    const server = await at.serve('--source', '')
    for (const [folder, url] of Object.entries({ here: server.url, there: reference! })) {
      const again = await at.run('import', url, '--realm', realm, ...credentials, '--no-apply', '--dir', folder)
      expect(again.code).toBe(0)
    }
    expect(await filesIn('here')).toEqual(await filesIn('there'))
  },
  120_000,
)
