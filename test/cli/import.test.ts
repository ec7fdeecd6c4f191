// The command import: reads a realm with an object of every kind over the admin API, writes its files, and applies them.

import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { isFullRun } from '../support/property-options.ts'
import { createRemoteRealm, LABEL, type RemoteCall } from '../support/remote-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

/** URL of a Keycloak server to import from, if there is one. */
const keycloakUrl = process.env.REGENT_REFERENCE
const adminFlags = ['--from-user', 'admin', '--from-password', 'admin']
const nothingToDo = expect.stringContaining('Nothing to do.')

let cli: CommandFolder
let proxy: Server | undefined
beforeEach(async () => {
  cli = await createCommandFolder()
})
afterEach(async () => {
  proxy?.close()
  await cli.remove()
})

/** Returns the files of a folder by path, without masked secrets. */
async function readFiles(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(join(cli.folder, folder), { recursive: true })).filter((name) => name.endsWith('.yaml'))
  const texts = await Promise.all(names.map((name) => readFile(join(cli.folder, folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index]!.replaceAll(/^.*\*{10}.*\n/gm, '')]))
}

/** Creates a realm with an object of every kind. */
async function createFullRealm(call: RemoteCall, realm: string): Promise<void> {
  await createRemoteRealm(call, realm).ensure()
  const path = `/admin/realms/${realm}`
  await call('PUT', path, {
    displayName: 'Costs $(env:NOTHING)',
    smtpServer: {
      host: 'mail.example.org',
      from: 'a@example.org',
      auth: 'true',
      user: 'u',
      password: 'never-exported',
    },
  })
  const flow = encodeURIComponent(LABEL)
  await call('POST', `${path}/authentication/flows/${flow}/executions/flow`, { alias: 'inner', type: 'basic-flow' })
}

/** Creates a realm on the test server that has more users than one page of a list. */
async function createLargeRealm(): Promise<{ url: string; realm: string }> {
  const server = await testServer()
  const { service } = await testService()
  const realm = newName()
  await createFullRealm(async (method, address, body) => {
    const response = await server.call(method, address, {
      ...(body !== undefined && { body }),
      ...(address.includes('/localization/') && { headers: { 'content-type': 'text/plain' } }),
    })
    return { status: response.status, body: response.body, location: response.headers.location as string | undefined }
  }, realm)
  const users = Array.from({ length: 120 }, (_, number) => ({ username: `user-${number}`, groups: [`/${LABEL}`] }))
  await applySource(service, createSource([{ realm, users }], realm))
  return { url: await server.listen(), realm }
}

/** Starts a proxy that fails every tenth read of the admin API once, with 401 or 503, and returns its URL. */
async function startFlakyProxy(url: string): Promise<string> {
  const failedReads = new Map<string, boolean>()
  let count = 0
  proxy = createServer(async (request, response) => {
    const address = `${request.method} ${request.url}`
    const isRead = request.url!.startsWith('/admin/') && !request.url!.includes('partial-export')
    if (isRead && !failedReads.get(address)) {
      failedReads.set(address, true)
      const status = { 5: 401, 10: 503 }[count++ % 20]
      if (status) return void response.writeHead(status).end()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
    const body = chunks.length ? { body: Buffer.concat(chunks) } : {}
    const upstream = await fetch(url + request.url, { method: request.method!, headers, ...body })
    response.writeHead(upstream.status, { 'content-type': upstream.headers.get('content-type') ?? '' })
    response.end(await upstream.text())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test.runIf(isFullRun)(
  'import retries reads that fail with 401 or 503, and the plan of the files is empty on both servers',
  async () => {
    const { url, realm } = await createLargeRealm()
    const from = await startFlakyProxy(url)
    const server = await cli.serve('--source', '')
    const imported = await cli.run('import', from, '--realm', realm, ...adminFlags)
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(imported.out).toMatch(/realm\.yaml:\d+:3 {2}smtpServer\.password of realm/)
    expect(imported.out).toContain('121 users need a new one')
    expect(imported.out).not.toContain('never-exported')
    expect(await cli.run('plan', realm, '--detailed-exitcode')).toMatchObject({ code: 0, out: nothingToDo })
    expect(await cli.run('source', 'list')).toMatchObject({ out: 'No source has been applied so far.\n' })

    const reimported = await cli.run(
      'import',
      server.url,
      '--realm',
      realm,
      ...adminFlags,
      '--no-apply',
      '--dir',
      'back',
    )
    expect(reimported.code).toBe(0)
    expect(await readFiles('back')).toEqual(await readFiles(realm))
  },
)

test('import writes ids of service accounts, and with --secrets secrets of clients, to the single file of --file', async () => {
  const { url, realm } = await createLargeRealm()
  const args = ['--realm', realm, ...adminFlags, '--no-apply', '--secrets', '--file', 'one.yaml']
  expect(await cli.run('import', url, ...args)).toMatchObject({
    code: 0,
    out: expect.stringContaining('Wrote one.yaml.'),
  })
  const { call } = await testServer()
  const [client] = (await call('GET', `/admin/realms/${realm}/clients?clientId=${LABEL}`)).body
  const account = (await call('GET', `/admin/realms/${realm}/clients/${client.id}/service-account-user`)).body
  const file = await readFile(join(cli.folder, 'one.yaml'), 'utf8')
  expect(file).toContain(`secret: ${client.secret}`)
  expect(file).toContain(`id: ${account.id}\n`)
})

test('import --strict applies nothing of a realm with a value that is not enforced, and writes its files', async () => {
  const server = await testServer()
  const { service } = await testService()
  const realm = newName()
  await applySource(service, createSource([{ realm, loginTheme: 'acme' }], realm))
  const args = [await server.listen(), '--realm', realm, ...adminFlags, '--dir', 'files', '--data', 'data']
  expect(await cli.run('import', ...args, '--strict', '--no-apply')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Pass --strict or --no-apply, not both.'),
  })
  const strict = await cli.run('import', ...args, '--strict')
  expect(strict).toMatchObject({ code: 1, out: expect.stringContaining('Wrote ') })
  expect(strict.err).toMatch(/files\/realm\.yaml:\d+:\d+.*loginTheme is stored only.*\(refused by --strict\)/)
  expect((await cli.run('get', `${realm}/clients`, '--data', 'data')).code).toBe(1)
  expect(await readFiles('files')).toHaveProperty('realm.yaml', expect.stringContaining('loginTheme: acme'))

  expect((await cli.run('apply', 'files', '--name', 'files', '--data', 'data')).code).toBe(0)
  expect((await cli.run('get', `${realm}/clients`, '--data', 'data')).code).toBe(0)
})

test('import --check shows what is not imported or has no effect, also to a realm-admin, and writes nothing', async () => {
  const server = await testServer()
  const { service } = await testService()
  const realm = newName()
  const names = { email: 'ann@example.org', firstName: 'Ann', lastName: 'Lee' }
  const access = {
    clientRoles: { 'realm-management': ['realm-admin'] },
    credentials: [{ type: 'password', value: 'pw' }],
  }
  const users = [{ username: 'ann', enabled: true, ...names, ...access }]
  await applySource(service, createSource([{ realm, enabled: true, loginTheme: 'acme', users }], realm))
  const check = await cli.run('import', await server.listen(), '--realm', realm, ...adminFlags, '--check')
  expect(check.code, check.err).toBe(0)
  expect(check.out).toContain('passwords and other credentials of 1 user')
  expect(check.out).toContain(
    'apply an export of "kc.sh export" instead of this import, to a realm that does not exist',
  )
  expect(check.out).toContain('key of rsa-generated (rsa-generated): without --keys, the realm gets a new one')
  expect(check.out).toMatch(/loginTheme is stored only/)
  expect(check.out).toContain('Nothing was written.')
  const ofRealm = ['--from-realm', realm, '--from-user', 'ann', '--from-password', 'pw']
  const checkByRealm = await cli.run('import', await server.listen(), '--realm', realm, ...ofRealm, '--check')
  const session = '  1 session of the client admin-cli: users log in again\n'
  expect(checkByRealm.out.replace(session, ''), checkByRealm.err).toBe(check.out)
  expect(await readdir(cli.folder)).toEqual(['regent.yaml'])
}, 60_000)

test('import --keys takes the keys of a realm from its export, and refuses files without them', async () => {
  const server = await testServer()
  const { service } = await testService()
  const realm = newName()
  const credentials = [{ type: 'password', value: 'first-password' }]
  await applySource(
    service,
    createSource([{ realm, users: [{ username: 'ann', credentials }, { username: 'bob' }] }], realm),
  )
  // The first request of the keys generates them.
  await server.call('GET', `/admin/realms/${realm}/keys`)
  const exported = await service.read(SYSTEM, realm, (context) =>
    exportRealm(context, { full: true, secrets: true, ids: true }),
  )
  const withoutKeys = await service.read(SYSTEM, realm, (context) => exportRealm(context, { full: true, ids: true }))
  const write = (file: string, content: unknown) => writeFile(join(cli.folder, file), JSON.stringify(content))
  await write('export.json', exported)
  await write('other.json', { ...exported, realm: 'other' })
  await write('none.json', withoutKeys)
  const args = [await server.listen(), '--realm', realm, ...adminFlags, '--no-apply', '--file', 'realm.yaml']
  const imported = await cli.run('import', ...args, '--keys', 'export.json')
  expect(imported.code, imported.err).toBe(0)
  expect(imported.out).toContain('The files contain the keys of')
  const [, key = ''] = /"privateKey":\["([^"]+)/.exec(JSON.stringify(exported)) ?? []
  expect(key).not.toBe('')
  expect(await readFile(join(cli.folder, 'realm.yaml'), 'utf8')).toContain(key)

  const hint = 'export.json, which has those of 1 user, instead of this import'
  expect(imported.out).toContain(`2 users need a new one.\nHashes of passwords count only when users are created.`)
  expect(imported.out).toContain(`To keep the passwords, apply ${hint}`)
  const check = await cli.run('import', ...args.slice(0, -3), '--check', '--keys', 'export.json')
  expect(check.out).toContain(hint)

  const { users, ...exportedRealm } = exported
  await mkdir(join(cli.folder, 'folder'))
  await write(`folder/${realm}-realm.json`, exportedRealm)
  await write(`folder/${realm}-users-0.json`, { realm, users })
  const ofFolder = await cli.run('import', ...args.slice(0, -1), 'second.yaml', '--keys', 'folder')
  expect(ofFolder.out, ofFolder.err).toContain('folder, which has those of 1 user, instead')
  expect(await readFile(join(cli.folder, 'second.yaml'), 'utf8')).toContain(key)

  const fails = async (message: string, file: string, ...more: string[]) =>
    expect(await cli.run('import', ...args.slice(0, -1), 'unwritten.yaml', '--keys', file, ...more)).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(message),
    })
  await fails('other.json is no export of the realm', 'other.json')
  await fails('none.json has no key of the realm', 'none.json')
  await fails(`${cli.folder} has no file ${realm}-realm.json`, cli.folder)
  await fails('Pass --key-alias', 'realm.yaml')
  await fails('it is no key store of the type JKS or PKCS12', 'realm.yaml', '--key-alias', 'signing')
  await fails('ENOENT', 'missing.p12', '--key-alias', 'signing')
  expect(await readdir(cli.folder)).not.toContain('unwritten.yaml')
}, 60_000)

test('import fails without valid credentials, realm or target file, and writes nothing', async () => {
  const url = await (await testServer()).listen()
  const expectFailure = async (message: string, ...args: string[]) =>
    expect(await cli.run('import', url, '--no-apply', ...args)).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining(message),
    })
  await expectFailure('Pass --from-user and --from-password', '--realm', 'a')
  await expectFailure('admin cannot log in at', '--realm', 'a', '--from-user', 'admin', '--from-password', 'wrong')
  await expectFailure('Check the name of the realm', '--realm', 'not-there', ...adminFlags)
  await expectFailure('Pass --allow-master', '--realm', 'master', ...adminFlags)
  await expectFailure('Use a new token', '--realm', 'a', '--from-token', 'ended')
  await cli.run('init', 'full/my-realm.yaml')
  await cli.run('init', 'my-realm.yaml')
  await expectFailure('my-realm.yaml exists already', '--realm', 'a', '--file', 'my-realm.yaml', ...adminFlags)
  expect(await readdir(cli.folder)).not.toContain('a')
})

test.skipIf(!keycloakUrl)(
  'the plan of the files of a realm imported from Keycloak is empty on both servers',
  async () => {
    const realm = newName()
    const token = async () => {
      const body = new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'admin',
        password: 'admin',
      })
      const response = await fetch(`${keycloakUrl}/realms/master/protocol/openid-connect/token`, {
        method: 'POST',
        body,
      })
      return ((await response.json()) as { access_token: string }).access_token
    }
    await createFullRealm(async (method, address, body) => {
      const isText = address.includes('/localization/')
      const response = await fetch(keycloakUrl + address, {
        method,
        headers: {
          authorization: `Bearer ${await token()}`,
          'content-type': isText ? 'text/plain' : 'application/json',
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return {
        status: response.status,
        body: /^[[{]/.test(text) ? JSON.parse(text) : text,
        location: response.headers.get('location') ?? undefined,
      }
    }, realm)
    expect(await cli.run('import', keycloakUrl!, '--realm', realm, ...adminFlags)).toMatchObject({ code: 0, err: '' })
    expect(await cli.run('plan', realm, '--detailed-exitcode')).toMatchObject({ code: 0, out: nothingToDo })
    const server = await cli.serve('--source', '')
    for (const [folder, url] of Object.entries({ regent: server.url, keycloak: keycloakUrl! })) {
      const reimported = await cli.run('import', url, '--realm', realm, ...adminFlags, '--no-apply', '--dir', folder)
      expect(reimported.code).toBe(0)
    }
    expect(await readFiles('regent')).toEqual(await readFiles('keycloak'))
  },
  120_000,
)
