import { once } from 'node:events'
// What stands in the way, said so that one knows the next command. Exit code 1, and nothing is changed.

import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { lockFolder } from '../../src/store/database/folder-lock.ts'
import { isFullRun } from '../support/campaign.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'

let at: CommandFolder
beforeEach(async () => {
  at = await createCommandFolder()
})
afterEach(() => at.remove())

const refused = (err: string | RegExp) => ({
  code: 1,
  err: typeof err === 'string' ? `${err}\n` : expect.stringMatching(err),
})

test('a port that is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  expect(await at.run('serve', '--port', String(port), '--source', '')).toMatchObject(
    refused(new RegExp(`port ${port} is taken: stop what listens there, or choose another with --port`)),
  )
  other.close()
})

test.skipIf(inject('databaseUrl'))('a folder that another server holds', async () => {
  const server = await at.serve('--source', '')
  expect(await at.run('serve', '--port', '0', '--source', '')).toMatchObject(
    refused(new RegExp(`data is in use by another process, which serves ${server.url}`)),
  )
  await server.stop()
})

test('a server that does not answer', async () => {
  expect(await at.run('drift', '--server', 'http://127.0.0.1:1', '--token', 'x')).toMatchObject(
    refused(/nobody answers at http:\/\/127.0.0.1:1 .*: is the server running\? Start it with "regent serve"/),
  )
})

test('a server that redirects to another gets no second request', async () => {
  const redirecting = createServer((_request, response) =>
    response.writeHead(307, { location: 'http://b.test/' }).end(),
  )
  redirecting.listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  const { port } = redirecting.address() as { port: number }
  expect(await at.run('drift', '--server', `http://127.0.0.1:${port}`, '--token', 'x')).toMatchObject(
    refused(new RegExp(`http://127.0.0.1:${port} redirects to http://b.test/: name that server with --server`)),
  )
  redirecting.close()
})

test('a server that wants to know who asks', async () => {
  expect(await at.run('drift', '--server', 'http://127.0.0.1:1')).toMatchObject(
    refused(/wants to know who asks: give --token, or --user and --password/),
  )
})

test('a database that does not answer', async () => {
  await writeFile(join(at.folder, 'key'), Buffer.alloc(32, 7).toString('base64url'))
  expect(await at.run('drift', '--database', 'postgres://x:y@127.0.0.1:1/z', '--key-file', 'key')).toMatchObject(
    refused(/the database at 127.0.0.1:1 does not answer: start it, or name another with --database/),
  )
})

test('documents that are wrong are refused with their places, and the store stays as it was', async () => {
  const server = await at.serve('--source', '')
  const flags = ['--server', server.url, '--user', 'admin', '--password', 'admin']
  const good = 'realm: shop\nclients:\n  - clientId: web\n'
  await writeFile(join(at.folder, 'realm.yaml'), good)
  await at.run('apply', 'realm.yaml', ...flags)
  const before = (await at.run('export', 'shop', '--ids', '--secrets', ...flags)).out
  const cases: [text: string, problem: RegExp][] = [
    [`${good}    enabled: perhaps\n`, /^realm.yaml:4:5: client web: enabled must be true or false/],
    [`${good}    defaultClientScopes: [nowhere]\n`, /^realm.yaml:4:27: client web: .*client scope nowhere/],
  ]
  for (const [text, problem] of cases) {
    await writeFile(join(at.folder, 'realm.yaml'), text)
    expect(await at.run('apply', 'realm.yaml', ...flags)).toMatchObject(refused(problem))
  }
  expect((await at.run('export', 'shop', '--ids', '--secrets', ...flags)).out).toBe(before)
  await server.stop()
})

test('a file that is not there, a command and a flag that do not exist', async () => {
  expect(await at.run('plan', 'nowhere.yaml')).toMatchObject(refused('nowhere.yaml: no such file or folder'))
  expect(await at.run('aply', 'x.yaml')).toMatchObject(refused(/unknown command 'aply'/))
})

test('production does not start without what protects it', async () => {
  expect(await at.run('serve', '--production', '--source', '')).toMatchObject(
    refused(/--hostname \(REGENT_HOSTNAME\): production demands it/),
  )
})

test.skipIf(inject('databaseUrl') || !isFullRun)(
  'the key file of the embedded store is made once, for its owner only',
  async () => {
    const file = join(at.folder, 'data', 'key')
    await at.run('drift')
    const key = await readFile(file, 'utf8')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await at.run('drift')
    expect(await readFile(file, 'utf8')).toBe(key)
    expect((await stat(join(at.folder, 'data'))).mode & 0o777).toBe(0o700)

    await rename(file, join(at.folder, 'kept'))
    expect(await at.run('drift')).toMatchObject(
      refused(/without the key the secrets in the store are lost: put it back/),
    )
    await writeFile(file, Buffer.alloc(32, 7).toString('base64url'))
    expect(await at.run('drift')).toMatchObject(
      refused(/protected by the key \w+, but the key file contains the key \w+\. Name the/),
    )
    expect(await at.run('drift', '--key-file', 'kept')).toMatchObject({ code: 0 })
  },
)

test.skipIf(!inject('databaseUrl'))('the key file of a database is never made up', async () => {
  const database = process.env.REGENT_DATABASE ?? 'postgres://x:y@127.0.0.1:1/z'
  await writeFile(join(at.folder, 'other'), Buffer.alloc(32, 7).toString('base64url'))
  expect(await at.run('drift', '--key-file', 'nowhere')).toMatchObject(refused(/nowhere cannot be read \(ENOENT\)/))
  expect(await at.run('drift', '--database', database, '--key-file', '')).toMatchObject(
    refused(/the key of the database's secrets is missing: .*openssl rand/),
  )
  await at.run('drift')
  expect(await at.run('drift', '--key-file', 'other')).toMatchObject(
    refused(/protected by the key \w+, but the key file contains the key \w+\. Name the/),
  )
})

test.runIf(isFullRun)('a key is replaced without touching what it protects', async () => {
  await writeFile(join(at.folder, 'realm.yaml'), 'realm: kept\nclients: [{ clientId: shop, secret: hush }]\n')
  await at.run('apply', 'realm.yaml')
  await writeFile(join(at.folder, 'next'), Buffer.alloc(32, 9).toString('base64'))
  expect(await at.run('replace-key', '--new-key-file', 'nowhere')).toMatchObject(refused(/nowhere cannot be read/))
  expect(await at.run('replace-key', '--new-key-file', 'next')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^The key in next opens this store now. Put it in the place of \S+key,/),
  })
  expect(await at.run('drift')).toMatchObject(refused(/protected by the key \w+, but the key file contains the key \w+\. Name the/))
  expect(await at.run('plan', 'realm.yaml', '--key-file', 'next', '--detailed-exitcode')).toMatchObject({ code: 0 })
  expect((await at.run('export', 'kept', '--secrets', '--key-file', 'next')).out).toContain('secret: hush')
})

test('credentials do not go to another machine, whatever a data folder says', async () => {
  const folder = join(at.folder, 'd')
  await mkdir(folder)
  const lock = await lockFolder(folder)
  await lock.announce('http://192.0.2.1:8080')
  expect(await at.run('drift', '--data', 'd', '--user', 'ann', '--password', 'x')).toMatchObject(
    refused(/d is in use by another process, which serves http:\/\/192\.0\.2\.1:8080: name it with --server/),
  )
  lock.release()
})

test('a lost password is not set anew over the network', async () => {
  expect(await at.run('admin-password', '--server', 'http://127.0.0.1:1', '--new-password', 'x')).toMatchObject(
    refused(/http:\/\/127\.0\.0\.1:1 wants to know who asks: give --token, or --user and --password/),
  )
  expect(await at.run('admin-password', '--data', 'd', '--new-password-file', 'missing')).toMatchObject(
    refused(/the file missing of the new password cannot be read \(ENOENT\)/),
  )
})

test.skipIf(!inject('databaseUrl'))('production does not start where nobody can administer', async () => {
  const start = ['serve', '--port', '0', '--production', '--hostname', 'http://127.0.0.1:1', '--source', '']
  expect(await at.run(...start)).toMatchObject(refused(/nobody can administer this store: give --admin-user/))
  await at.run('admin-password', 'root', '--new-password', 'x')
  const server = await at.serve(...start.slice(3))
  expect(await server.stop()).toBe(0)
})
