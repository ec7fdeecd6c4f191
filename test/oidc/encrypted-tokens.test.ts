// ID tokens and UserInfo that are encrypted for the key of a client.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, compactDecrypt, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { createEncryptionKey } from '../support/client-keys.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { app, createRealm } = await openProtectedServers()
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo

type ProtectedRealm = Awaited<ReturnType<typeof createRealm>>

const logIn = ({ post }: ProtectedRealm) =>
  post('token', { grant_type: 'password', client_id: 'web', username: 'ann', password: 'pw', scope: 'openid' })

async function decrypt(token: string, key: CryptoKey): Promise<string> {
  const { plaintext } = await compactDecrypt(token, key)
  return new TextDecoder().decode(plaintext)
}

async function verify({ name }: ProtectedRealm, token: string) {
  const certificates = new URL(`http://127.0.0.1:${port}/realms/${name}/protocol/openid-connect/certs`)
  return (await jwtVerify(token, createRemoteJWKSet(certificates))).payload
}

describe.each([
  ['RSA-OAEP', undefined, 'A128CBC-HS256'],
  ['RSA-OAEP-256', 'A256GCM', 'A256GCM'],
  ['ECDH-ES+A256KW', 'A128GCM', 'A128GCM'],
])('a client with %s and %s', (alg, enc, usedEnc) => {
  const select = (prefix: string) => ({
    [`${prefix}.encrypted.response.alg`]: alg,
    ...(enc !== undefined && { [`${prefix}.encrypted.response.enc`]: enc }),
  })

  test('gets ID tokens that only its key decrypts', async () => {
    const { privateKey, attributes } = await createEncryptionKey(alg)
    const realm = await createRealm({ ...attributes, ...select('id.token') })
    const { body } = await logIn(realm)
    expect(decodeProtectedHeader(body.id_token)).toMatchObject({ alg, enc: usedEnc, cty: 'JWT', kid: 'e1' })
    const claims = await verify(realm, await decrypt(body.id_token, privateKey))
    expect(claims).toMatchObject({ aud: 'web', typ: 'ID', preferred_username: 'ann' })
  })

  test('gets encrypted UserInfo, signed or not', async () => {
    const { privateKey, attributes } = await createEncryptionKey(alg)
    const realm = await createRealm({ ...attributes, ...select('user.info') })
    const headers = { authorization: `Bearer ${(await logIn(realm)).body.access_token}` }
    const plain = await realm.get('userinfo', { headers })
    expect(plain).toMatchObject({ status: 200, headers: { 'content-type': 'application/jwt' } })
    expect(decodeProtectedHeader(plain.body)).toMatchObject({ alg, enc: usedEnc })
    expect(decodeProtectedHeader(plain.body).cty).toBeUndefined()
    expect(JSON.parse(await decrypt(plain.body, privateKey))).toMatchObject({ preferred_username: 'ann' })
    const [client] = (await realm.call('GET', '/clients?clientId=web')).body
    const signed = { ...client.attributes, 'user.info.response.signature.alg': 'ES256' }
    await realm.call('PUT', `/clients/${client.id}`, { attributes: signed })
    const token = (await realm.get('userinfo', { headers })).body
    expect(decodeProtectedHeader(token)).toMatchObject({ alg, enc: usedEnc, cty: 'JWT' })
    const claims = await verify(realm, await decrypt(token, privateKey))
    expect(claims).toMatchObject({ aud: 'web', preferred_username: 'ann' })
  })
})

test.each([
  ['without a key', {}],
  ['with a key for signatures', (await createEncryptionKey('RSA-OAEP', { kty: 'RSA', use: 'sig' })).attributes],
  ['with a key for another algorithm', (await createEncryptionKey('RSA-OAEP-256')).attributes],
  ['with an invalid key set', { 'use.jwks.string': 'true', 'jwks.string': 'nonsense' }],
])('a client %s gets neither an ID token nor UserInfo that is not encrypted', async (_name, attributes) => {
  const realm = await createRealm(attributes)
  const [client] = (await realm.call('GET', '/clients?clientId=web')).body
  const headers = { authorization: `Bearer ${(await logIn(realm)).body.access_token}` }
  expect((await realm.get('userinfo', { headers })).status).toBe(200)
  const required = { 'id.token.encrypted.response.alg': 'RSA-OAEP', 'user.info.encrypted.response.alg': 'RSA-OAEP' }
  await realm.call('PUT', `/clients/${client.id}`, { attributes: { ...client.attributes, ...required } })
  const { status, body } = await logIn(realm)
  expect([status, body.error_description]).toEqual([
    400,
    'The client requires id.token.encrypted.response.alg RSA-OAEP, and has no key for it',
  ])
  expect((await realm.get('userinfo', { headers })).status).toBe(403)
})

test('an algorithm that is not supported is refused', async () => {
  const { attributes } = await createEncryptionKey()
  const realm = await createRealm({ ...attributes, 'id.token.encrypted.response.alg': 'RSA1_5' })
  expect((await logIn(realm)).body.error_description).toMatch(/which this server does not support/)
})

test('the key is fetched from the address of the client', async () => {
  const { privateKey, jwk } = await createEncryptionKey()
  const host = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })))
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done))
  const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}/keys`
  const realm = await createRealm({
    'use.jwks.url': 'true',
    'jwks.url': address,
    'id.token.encrypted.response.alg': 'RSA-OAEP',
  })
  const { body } = await logIn(realm)
  host.close()
  expect(await verify(realm, await decrypt(body.id_token, privateKey))).toMatchObject({ typ: 'ID' })
})

test('discovery lists the algorithms', async () => {
  const { body } = await (await createRealm()).get('../../.well-known/openid-configuration')
  for (const token of ['id_token', 'userinfo', 'authorization', 'request_object']) {
    expect(body[`${token}_encryption_alg_values_supported`]).toContain('RSA-OAEP')
    expect(body[`${token}_encryption_enc_values_supported`]).toContain('A256GCM')
  }
})
