// Errors of the network and of TLS: commands say what to do.

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { connect } from '../../src/cli/connect.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'

const open: Server[] = []
afterAll(() => {
  for (const server of open) server.close()
})

async function listen(server: Server): Promise<string> {
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function openSecureServer({ name = 'localhost', from = new Date(), until = new Date(Date.now() + 3_600_000) }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = createSelfSignedCertificate({ name, publicKey, privateKey, from, until }).toString('base64')
  return listen(
    createSecureServer({
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`,
    }),
  )
}

async function getError(server: string): Promise<string> {
  const connection = await connect({ server, token: 'x' })
  return connection.request('GET', '/regent/v1/drift').then(
    () => 'no error',
    (error: Error) => error.message,
  )
}

test('https to a server without TLS names the URL with http', async () => {
  const host = await listen(createServer())
  expect(await getError(`https://${host}`)).toBe(`https://${host} responds without TLS. Use http://${host}.`)
})

test('http to a server with TLS names the URL with https', async () => {
  const host = await openSecureServer({})
  expect(await getError(`http://${host}`)).toBe(
    `http://${host} does not respond with HTTP (ECONNRESET). If it uses TLS, use https://${host}.`,
  )
})

test('a certificate of an unknown authority names the variable for it', async () => {
  const host = await openSecureServer({})
  expect(await getError(`https://${host}`)).toBe(
    `The certificate of https://${host} is not from a known certificate authority (DEPTH_ZERO_SELF_SIGNED_CERT). Set NODE_EXTRA_CA_CERTS to the file of its authority.`,
  )
})

test('a port without a server, and a name without an address, are named', async () => {
  expect(await getError('http://127.0.0.1:1')).toBe(
    'No server responds at http://127.0.0.1:1 (ECONNREFUSED). Start it with "regent serve".',
  )
  expect(await getError('http://no-such-host.invalid')).toMatch(
    /^The host name no-such-host.invalid cannot be resolved/,
  )
})
