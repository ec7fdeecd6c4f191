// Signed and encrypted authorization responses. JARM.
import type { AddressInfo } from 'node:net'
import { compactDecrypt, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { createEncryptionKey } from '../support/client-keys.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { app, createRealm } = await openProtectedServers()
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo

type ProtectedRealm = Awaited<ReturnType<typeof createRealm>>

const request = { client_id: 'web', redirect_uri: APPLICATION, response_type: 'code', scope: 'openid', state: 'st' }

async function verify({ name }: ProtectedRealm, token: string) {
  const certificates = new URL(`http://127.0.0.1:${port}/realms/${name}/protocol/openid-connect/certs`)
  return (await jwtVerify(token, createRemoteJWKSet(certificates), { audience: 'web' })).payload
}

test.each([
  ['jwt', '?'],
  ['query.jwt', '?'],
  ['fragment.jwt', '#'],
])('the mode %s returns only a signed token', async (response_mode, separator) => {
  const realm = await createRealm()
  const { headers, response } = await realm.logIn({ ...request, response_mode })
  expect(headers.location).toMatch(`${APPLICATION}${separator}response=`)
  expect([...response!.keys()]).toEqual(['response'])
  const token = response!.get('response')!
  const claims = await verify(realm, token)
  expect(decodeProtectedHeader(token).alg).toBe('RS256')
  expect(claims).toMatchObject({ iss: realm.issuer, aud: 'web', state: 'st' })
  expect(claims.exp! - Date.now() / 1000).toBeLessThanOrEqual(60)
  const form = { grant_type: 'authorization_code', client_id: 'web', redirect_uri: APPLICATION }
  expect((await realm.post('token', { ...form, code: String(claims.code) })).status).toBe(200)
})

test('the mode form_post.jwt submits a signed token', async () => {
  const realm = await createRealm()
  const { text } = await realm.logIn({ ...request, response_mode: 'form_post.jwt' })
  const [, token] = /name="response" value="([^"]*)"/.exec(text) ?? []
  expect(await verify(realm, token!)).toMatchObject({ state: 'st', code: expect.any(String) })
  expect(text).not.toContain('name="code"')
})

test('errors are signed, too', async () => {
  const realm = await createRealm()
  for (const [parameters, error] of [
    [{ prompt: 'none' }, 'login_required'],
    [{ scope: 'nope' }, 'invalid_scope'],
    [{ response_type: 'foo' }, 'unsupported_response_type'],
  ] as const) {
    const { response } = await realm.open({ ...request, response_mode: 'jwt', ...parameters })
    expect([...response!.keys()]).toEqual(['response'])
    expect(await verify(realm, response!.get('response')!)).toMatchObject({ error, state: 'st' })
  }
})

test('the client selects the signature and the encryption', async () => {
  const { privateKey, attributes } = await createEncryptionKey()
  const realm = await createRealm({
    ...attributes,
    'authorization.signed.response.alg': 'ES256',
    'authorization.encrypted.response.alg': 'RSA-OAEP',
    'authorization.encrypted.response.enc': 'A256GCM',
  })
  for (const parameters of [{}, { prompt: 'none' }]) {
    const { response } = await realm.logIn({ ...request, response_mode: 'jwt', ...parameters })
    const token = response!.get('response')!
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RSA-OAEP', enc: 'A256GCM', cty: 'JWT' })
    const signed = new TextDecoder().decode((await compactDecrypt(token, privateKey)).plaintext)
    expect(decodeProtectedHeader(signed).alg).toBe('ES256')
    expect(await verify(realm, signed)).toMatchObject({ state: 'st' })
  }
})

test('a client without the key that it requires gets no response', async () => {
  const realm = await createRealm({ 'authorization.encrypted.response.alg': 'RSA-OAEP' })
  for (const parameters of [{}, { prompt: 'none' }]) {
    const page = await realm.logIn({ ...request, response_mode: 'jwt', ...parameters })
    expect([page.status, page.response, page.headers.location]).toEqual([400, undefined, undefined])
  }
  expect((await realm.logIn(request, testBrowser(app))).response?.has('code')).toBe(true)
})

test('discovery lists the modes', async () => {
  const { body } = await (await createRealm()).get('../../.well-known/openid-configuration')
  expect(body.response_modes_supported).toEqual(
    expect.arrayContaining(['query.jwt', 'fragment.jwt', 'form_post.jwt', 'jwt']),
  )
  expect(body.authorization_signing_alg_values_supported).toContain('ES256')
})
