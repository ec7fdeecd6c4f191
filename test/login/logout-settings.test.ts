// The settings of clients that decide how they learn of a logout.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { decodeJwt } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { loginAddress, testBrowser } from '../support/browser.ts'
import { openTimedServer } from '../support/timed-server.ts'

const { app, outbox, call, createRealm, close } = await openTimedServer()
const received: { host: string | undefined; body: string }[] = []
const application = createServer(async (request, response) => {
  received.push({ host: request.headers.host, body: await text(request) })
  response.writeHead(204).end()
})
await new Promise<void>((resolve) => application.listen(0, resolve))
const { port } = application.address() as AddressInfo
afterAll(async () => {
  application.close()
  await close()
})

/** Ends a session of Ann at a client, and returns what the client received. */
async function endSession(client: object) {
  const { path, logIn } = await createRealm({}, { client })
  await call('DELETE', `${path}/sessions/${(await logIn()).session_state}`)
  await outbox.whenIdle()
  return received.splice(0)
}

test.each([
  ['true', true],
  ['false', false],
])(
  'with backchannel.logout.session.required "%s", the logout token contains the session: %s',
  async (required, hasSession) => {
    const url = `http://127.0.0.1:${port}/`
    const attributes = { 'backchannel.logout.url': url, 'backchannel.logout.session.required': required }
    const [notification] = await endSession({ attributes })
    const token = new URLSearchParams(notification!.body).get('logout_token')!
    expect('sid' in decodeJwt(token)).toBe(hasSession)
  },
)

test.each([
  ['true', true],
  ['false', false],
  ['', false],
])(
  'with backchannel.logout.revoke.offline.tokens "%s", the logout token revokes offline access: %s',
  async (revokes, isRevoked) => {
    const url = `http://127.0.0.1:${port}/`
    const attributes = { 'backchannel.logout.url': url, 'backchannel.logout.revoke.offline.tokens': revokes }
    const [notification] = await endSession({ attributes })
    const { events } = decodeJwt(new URLSearchParams(notification!.body).get('logout_token')!)
    const logout = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    expect(events).toEqual(isRevoked ? { ...logout, revoke_offline_access: true } : logout)
  },
)

test.each([
  ['true', true],
  ['false', false],
])(
  'with frontchannel.logout.session.required "%s", the frame of a client has the session: %s',
  async (required, hasSession) => {
    const url = 'https://app.example/over'
    const attributes = { 'frontchannel.logout.url': url, 'frontchannel.logout.session.required': required }
    const { name } = await createRealm({}, { client: { frontchannelLogout: true, attributes } })
    const browser = testBrowser(app)
    await browser.send(await browser.open(loginAddress(name).address), { username: 'ann', password: 'pw' })
    const page = await browser.open(`/realms/${name}/protocol/openid-connect/logout`)
    const { text } = await browser.send(page, { confirmLogout: 'true' })
    expect(text).toContain(`<iframe src="${url}${hasSession ? '?' : '"'}`)
    expect(text.includes('sid=')).toBe(hasSession)
  },
)

test('each of the registeredNodes of a client is notified at its admin URL', async () => {
  const adminUrl = `http://app.example:${port}/admin`
  const registeredNodes = { '127.0.0.1': 1, localhost: 1 }
  const hosts = (await endSession({ adminUrl, registeredNodes })).map(({ host }) => host)
  expect(hosts.sort()).toEqual([`127.0.0.1:${port}`, `localhost:${port}`])
})
