import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { openStream, sendRequest } from '../../src/lib/http/http-request.ts'
import { createOutbound, OutboundRefused, UNRESTRICTED } from '../../src/lib/http/outbound.ts'
import { version } from '../../src/lib/version.ts'

const development = createOutbound({ development: true })
const production = createOutbound({})
const allowing = createOutbound({ allow: ['10.1.0.0/16', 'fd12::/16', '127.0.0.1', '169.254.0.0/16'] })

/** Returns the names of the guards that allow an address. */
const listAllowingGuards = (address: string) =>
  Object.entries({ development, production, allowing }).flatMap(([name, guard]) => {
    try {
      guard.check(address)
      return [name]
    } catch (error) {
      if (!(error instanceof OutboundRefused)) throw error
      return []
    }
  })

describe('an address is allowed', () => {
  test.each([
    ...[
      '169.254.169.254',
      '169.254.0.1',
      '0.0.0.0',
      '0.1.2.3',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'fd00:ec2::254',
      'fd00:ec2::254%1',
    ],
    ...[
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '64:ff9b::169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::',
    ],
    ...[
      '::ffff:0:169.254.169.254',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      '224.0.0.1',
      'ff02::1',
      '255.255.255.255',
    ],
    ...['fd20:ce::254', 'localhost', ''],
  ])('never: %s', (address) => expect(listAllowingGuards(address)).toEqual([]))

  test.each([
    ...[
      '127.8.8.8',
      '::1',
      '::127.0.0.1',
      '::a9fe:a9fe',
      '10.2.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '198.18.0.1',
      '192.0.0.8',
      'fc00::1',
      'fdff::1',
    ],
    ...[
      '::ffff:127.0.0.2',
      '::ffff:7f00:2',
      '64:ff9b::10.2.0.1',
      '2002:c0a8:0101::1',
      '::ffff:0:7f00:2',
      '2001::1',
      'fec0::1',
      '64:ff9b:1::8.8.8.8',
    ],
  ])('in development only: %s', (address) => expect(listAllowingGuards(address)).toEqual(['development']))

  test('only in development: every address of this machine, also as an IPv6 address', () => {
    const addresses = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
    const external = addresses.filter((address) => !/^fe80:/.test(address) && address !== '127.0.0.1')
    const mapped = external.filter(isIPv4).map((address) => `::ffff:${address}`)
    for (const address of [...external, ...mapped])
      expect([address, listAllowingGuards(address)]).toEqual([address, ['development']])
  })

  test.each(['127.0.0.1', '10.1.2.3', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', '2002:0a01:0203::1', 'fd12::1'])(
    'in production where its network is allowed: %s',
    (address) => expect(listAllowingGuards(address)).toEqual(['development', 'allowing']),
  )

  test.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '169.253.0.1',
  ])('everywhere: %s', (address) =>
    expect(listAllowingGuards(address)).toEqual(['development', 'production', 'allowing']),
  )
})

test.each(['localhost', '0x7f000001', '2130706433', '127.1', '0177.0.0.1'])(
  'production refuses a name of a private address: %s',
  async (host) => {
    await expect(production.resolve(host)).rejects.toThrow(`${host} is in a private network`)
    expect(await development.resolve(host)).toMatch(/^127\.0\.0\.1$|^::1$/)
  },
)

test.each(['169.254.43518', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376'])(
  'development refuses another spelling of the metadata address: %s',
  (host) => expect(development.resolve(host)).rejects.toThrow('link-local or metadata address'),
)

describe('a request', async () => {
  let requests = 0
  let respond: RequestListener = () => {}
  const server = createServer((request, response) => {
    requests++
    respond(request, response)
  }).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const limits = { timeout: 1000, limit: 1000 }
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '[64:ff9b::7f00:1]'])(
    'in production is not sent to http://%s',
    async (host) => {
      const before = requests
      await expect(sendRequest(production, `http://${host}:${port}/`, limits)).rejects.toThrow(
        'is in a private network',
      )
      expect(requests).toBe(before)
    },
  )

  test('follows no redirect', async () => {
    respond = (_request, response) => response.writeHead(302, { location: `http://localhost:${port}/x` }).end()
    const before = requests
    expect(await sendRequest(allowing, `http://127.0.0.1:${port}/`, limits)).toMatchObject({ status: 302, ok: false })
    expect(requests).toBe(before + 1)
  })

  test('fails if the response is too long, or takes too long', async () => {
    respond = (_request, response) => response.end('x'.repeat(1001))
    await expect(sendRequest(UNRESTRICTED, `http://127.0.0.1:${port}/`, limits)).rejects.toThrow(
      'longer than 1000 bytes',
    )
    respond = (_request, response) => response.write('x')
    const request = sendRequest(UNRESTRICTED, `http://127.0.0.1:${port}/`, { timeout: 200, limit: 1000 })
    await expect(request).rejects.toThrow('no response in time')
  })

  test('names Regent and its version as the user agent', async () => {
    respond = (request, response) => response.end(request.headers['user-agent'])
    expect(await sendRequest(UNRESTRICTED, `http://127.0.0.1:${port}/`, limits)).toMatchObject({
      text: `regent/${version}`,
    })
  })

  test('reads a gzip response, limited by the size of the text', async () => {
    const zipped = gzipSync('x'.repeat(1000))
    respond = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped)
    const request = (limit: number) => sendRequest(UNRESTRICTED, `http://127.0.0.1:${port}/`, { timeout: 1000, limit })
    expect((await request(1000)).text).toBe('x'.repeat(1000))
    await expect(request(999)).rejects.toThrow('longer than 999 bytes')
  })

  test('as a stream is limited by idle time only', async () => {
    const idle = { idleTimeout: 300 }
    respond = (_request, response) => response.write('x'.repeat(1_000_000))
    const { body } = await openStream(UNRESTRICTED, `http://127.0.0.1:${port}/`, idle)
    let length = 0
    const read = async () => {
      for await (const chunk of body as AsyncIterable<Buffer>) length += chunk.length
    }
    await expect(read()).rejects.toThrow('no response in time')
    expect(length).toBe(1_000_000)

    respond = () => {}
    await expect(openStream(UNRESTRICTED, `http://127.0.0.1:${port}/`, idle)).rejects.toThrow('no response in time')
  })

  test('as a stream is refused at private addresses, follows no redirect, and ends by its signal', async () => {
    const address = `http://127.0.0.1:${port}/`
    await expect(openStream(production, address, { idleTimeout: 1000 })).rejects.toThrow('is in a private network')
    respond = (_request, response) => response.writeHead(302, { location: `http://localhost:${port}/x` }).end()
    const redirected = await openStream(allowing, address, { idleTimeout: 1000 })
    expect(redirected.status).toBe(302)
    redirected.body.destroy()
    respond = (_request, response) => response.write('x')
    const ending = new AbortController()
    const { body } = await openStream(UNRESTRICTED, address, { idleTimeout: 60_000, signal: ending.signal })
    ending.abort()
    await expect(body.toArray()).rejects.toThrow()
  })

  test('accepts http and https only, and no address with a password', async () => {
    for (const address of ['file:///etc/passwd', 'ftp://127.0.0.1/', 'x', 'gopher://127.0.0.1/'])
      await expect(sendRequest(UNRESTRICTED, address, limits)).rejects.toThrow('it is not an HTTP address')
    await expect(sendRequest(UNRESTRICTED, `http://a:b@127.0.0.1:${port}/`, limits)).rejects.toThrow('password')
  })
})
