// Which Host headers the server accepts as its own address.
import { once } from 'node:events'
import { get } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { createServer, type ServerOptions } from '../../src/http/server.ts'
import { createCommandFolder } from '../support/cli.ts'
import { newRealm, testService } from '../support/service.ts'

const { service } = await testService()
const servers: { close(): Promise<unknown> }[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))

/** Returns the origin of the issuer for a request with this host, or the status of an error. */
async function getIssuer(host: string, options: ServerOptions, headers: Record<string, string> = {}) {
  const app = await createServer(service, options)
  servers.push(app)
  const realm = await newRealm(service)
  const url = `/realms/${realm}/.well-known/openid-configuration`
  const response = await app.inject({ url, headers: { host, ...headers } })
  return response.statusCode === 200 ? response.json().issuer.replace(`/realms/${realm}`, '') : response.statusCode
}

test.each(['localhost:8080', '127.0.0.1', '127.1.2.3:80', '[::1]:9000', 'acme.localhost:18000', 'LOCALHOST:1'])(
  'Host: %s is accepted in development',
  async (host) => expect(await getIssuer(host, { ownHost: '127.0.0.1' })).toBe(`http://${host}`),
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
])('Host: %s returns 400 in development', async (host) =>
  expect(await getIssuer(host, { ownHost: '127.0.0.1' })).toBe(400),
)

test('the listen address, a configured host name and the forwarded host of a proxy are accepted', async () => {
  expect(await getIssuer('[::2]:80', { ownHost: '::2' })).toBe('http://[::2]:80')
  const hostname = 'https://id.example'
  expect(await getIssuer('evil.example', { ownHost: '127.0.0.1', hostname })).toBe(hostname)
  expect(await getIssuer('evil.example', { ownHost: '127.0.0.1' }, { 'x-forwarded-host': 'localhost' })).toBe(400)
  const proxies = { headers: 'xforwarded' } as const
  const forwarded = { 'x-forwarded-host': 'sso.example', 'x-forwarded-proto': 'https' }
  expect(await getIssuer('inside', { ownHost: '127.0.0.1', proxies }, forwarded)).toBe('https://sso.example')
})

test('a server started in development returns 400 for other hosts', async () => {
  const cli = await createCommandFolder()
  try {
    const { url } = await cli.serve('--source', '')
    const getStatus = async (host: string) => {
      const [response] = await once(get(`${url}/realms/master`, { headers: { host } }), 'response')
      response.resume()
      return response.statusCode
    }
    expect(await getStatus('localhost')).toBe(200)
    expect(await getStatus('evil.example')).toBe(400)
  } finally {
    await cli.remove()
  }
})
