import { once } from 'node:events'
import { get } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createCommandFolder } from '../support/cli.ts'
import { newRealm, testService } from '../support/service.ts'

const { service } = await testService()
const opened: { close(): Promise<unknown> }[] = []
afterAll(() => Promise.all(opened.map((one) => one.close())))

/** What the server takes for its own address, by discovery; or the status of a refusal. */
async function issuerFor(host: string, options: ServerOptions, headers: Record<string, string> = {}) {
  const app = await createServer(service, options)
  opened.push(app)
  const realm = await newRealm(service)
  const url = `/realms/${realm}/.well-known/openid-configuration`
  const answer = await app.inject({ url, headers: { host, ...headers } })
  return answer.statusCode === 200 ? answer.json().issuer.replace(`/realms/${realm}`, '') : answer.statusCode
}

test.each(['localhost:8080', '127.0.0.1', '127.1.2.3:80', '[::1]:9000', 'acme.localhost:18000', 'LOCALHOST:1'])(
  'Host: %s is believed in development',
  async (host) => expect(await issuerFor(host, { ownHost: '127.0.0.1' })).toBe(`http://${host}`),
)

test.each([
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '10.0.0.1',
  '[::2]',
  '[',
  'a b',
  '127.0.0.1.evil.example',
  'x@localhost',
  'localhost#.evil.example',
  '0.0.0.0',
])('Host: %s is refused in development', async (host) =>
  expect(await issuerFor(host, { ownHost: '127.0.0.1' })).toBe(400),
)

test('the address that the server listens at is believed; with a host name of the settings, no header counts', async () => {
  expect(await issuerFor('[::2]:80', { ownHost: '::2' })).toBe('http://[::2]:80')
  const hostname = 'https://id.example'
  expect(await issuerFor('evil.example', { ownHost: '127.0.0.1', hostname })).toBe(hostname)
  expect(await issuerFor('evil.example', { ownHost: '127.0.0.1' }, { 'x-forwarded-host': 'localhost' })).toBe(400)
  const proxies = { headers: 'xforwarded' } as const
  const forwarded = { 'x-forwarded-host': 'sso.example', 'x-forwarded-proto': 'https' }
  expect(await issuerFor('inside', { ownHost: '127.0.0.1', proxies }, forwarded)).toBe('https://sso.example')
})

test('a server that is started in development refuses other hosts', async () => {
  const at = await createCommandFolder()
  try {
    const { url } = await at.serve('--source', '')
    const statusFor = async (host: string) => {
      const [answer] = await once(get(`${url}/realms/master`, { headers: { host } }), 'response')
      answer.resume()
      return answer.statusCode
    }
    expect(await statusFor('localhost')).toBe(200)
    expect(await statusFor('evil.example')).toBe(400)
  } finally {
    await at.remove()
  }
})
