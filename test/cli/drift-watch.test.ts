// The command drift --watch, on a server and on a store.
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { adminFlags, callAsAdmin, createCommandFolder } from '../support/cli.ts'

const cli = await createCommandFolder()
afterAll(() => cli.remove())

const document = { realm: 'acme', enabled: true, clients: [{ clientId: 'shop', name: 'Web shop' }] }

const receivedBody = Promise.withResolvers<string>()
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.end()
  const signature = `sha256=${createHmac('sha256', 'shared').update(body).digest('hex')}`
  receivedBody.resolve(request.headers['x-hub-signature-256'] === signature ? body : 'the signature is wrong')
}).listen(0, '127.0.0.1')
afterAll(() => void receiver.close())

test('drift --watch prints each change of a server or a store until Ctrl-C, and the server posts it to a webhook', async () => {
  await writeFile(join(cli.folder, 'acme.json'), JSON.stringify(document))
  await writeFile(join(cli.folder, 'secret'), 'shared\n')
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const webhookFlags = ['--drift-webhook', webhook, '--drift-webhook-secret-file', 'secret']
  const server = await cli.serve('--source', 'acme.json', ...webhookFlags)
  const renameShop = async (name: string) => {
    const { body } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/acme/clients?clientId=shop' })
    await callAsAdmin(server.url, { method: 'PUT', path: `/acme/clients/${body[0]!.id}`, body: { name } })
  }
  const remote = cli.start('drift', 'acme', '--watch', ...adminFlags(server.url))
  // With PGlite the command calls the server, which has the folder open. A database is opened by the command itself.
  const store = cli.start('drift', '--watch', '--output', 'json')
  await remote.waitForOutput('No drift.')
  await renameShop('Changed')
  expect(await remote.waitForOutput('Web shop → Changed')).toMatch(
    /^drift acme client shop: name: Web shop → Changed, admin via admin-cli from 127\.0\.0\.1 at \S+Z \(acme\.json:1\)$/m,
  )
  expect(JSON.parse(await receivedBody.promise)).toMatchObject({
    realm: 'acme',
    events: [{ event: 'drift', live: 'Changed' }],
  })
  await renameShop('Web shop')
  expect(await remote.waitForOutput('resolved')).toMatch(
    /^resolved acme client shop: name no longer differs \(acme\.json:1\)$/m,
  )
  await renameShop('Again')
  const lines = (await store.waitForOutput('"live":"Again"')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
    event: 'drift',
    realm: 'acme',
    path: 'name',
    live: 'Again',
    by: { name: 'admin', client: 'admin-cli', address: '127.0.0.1' },
  })
  expect([await remote.stop(), await store.stop()]).toEqual([0, 0])
  expect(await server.stop()).toBe(0)
  const unknownRealm = await cli.run('drift', 'nowhere', '--watch')
  expect(unknownRealm).toMatchObject({ code: 1, err: 'There is no realm nowhere. Check its name.\n' })
})
