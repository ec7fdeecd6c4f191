// What a person sees who watches drift, on a server and on a store.
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createCommandFolder } from '../support/cli.ts'

const at = await createCommandFolder()
afterAll(() => at.remove())

const stated = { realm: 'acme', enabled: true, clients: [{ clientId: 'shop', name: 'Web shop' }] }

const posted = Promise.withResolvers<string>()
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.end()
  const signature = `sha256=${createHmac('sha256', 'shared').update(body).digest('hex')}`
  posted.resolve(request.headers['x-hub-signature-256'] === signature ? body : 'the signature is wrong')
}).listen(0, '127.0.0.1')
afterAll(() => void receiver.close())

test('a change is told in a line as it happens, on a server and on its store, until Ctrl-C, and to a webhook', async () => {
  await writeFile(join(at.folder, 'acme.json'), JSON.stringify(stated))
  await writeFile(join(at.folder, 'secret'), 'shared\n')
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const told = ['--drift-webhook', webhook, '--drift-webhook-secret-file', 'secret']
  const server = await at.serve('--source', 'acme.json', ...told)
  const credentials = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const put = async (name: string) => {
    const tokens = `${server.url}/realms/master/protocol/openid-connect/token`
    const answer = await fetch(tokens, { method: 'POST', body: new URLSearchParams(credentials) })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const clients = `${server.url}/admin/realms/acme/clients`
    const [{ id } = { id: '' }] = (await (await fetch(`${clients}?clientId=shop`, { headers })).json()) as {
      id: string
    }[]
    await fetch(`${clients}/${id}`, { method: 'PUT', headers, body: JSON.stringify({ name }) })
  }
  const asked = ['--server', server.url, '--user', 'admin', '--password', 'admin']
  const remote = at.start('drift', 'acme', '--watch', ...asked)
  // With PGlite the server holds the folder, and is asked; a database is opened by the command itself.
  const store = at.start('drift', '--watch', '--output', 'json')
  await remote.waitForOutput('No drift.')
  await put('Changed')
  expect(await remote.waitForOutput('Web shop → Changed')).toMatch(
    /^drift acme client shop: name: Web shop → Changed, admin by admin-cli from 127\.0\.0\.1 at \S+Z \(acme\.json:1\)$/m,
  )
  expect(JSON.parse(await posted.promise)).toMatchObject({
    realm: 'acme',
    events: [{ event: 'drift', live: 'Changed' }],
  })
  await put('Web shop')
  expect(await remote.waitForOutput('resolved')).toMatch(
    /^resolved acme client shop: name no longer differs \(acme\.json:1\)$/m,
  )
  await put('Again')
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
  const refused = await at.run('drift', 'nowhere', '--watch')
  expect(refused).toMatchObject({ code: 1, err: 'Realm not found.\n' })
})
