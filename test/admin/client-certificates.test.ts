// Keys and certificates of clients: generating, uploading and using them.
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { app, adminToken, call, create, createRealm } = await testServer()

/** Creates a realm with admin events and a client that authenticates with signed JWTs. `upload` uploads a key of the client. */
async function createRealmWithSigner() {
  const path = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const signer = { clientId: 'signer', clientAuthenticatorType: 'client-jwt', serviceAccountsEnabled: true }
  const client = await create(`${path}/clients`, signer)
  const upload = async (prefix: string, keystoreFormat: string, text: string) => {
    const form = new FormData()
    form.append('keystoreFormat', keystoreFormat)
    form.append('file', new Blob([text]), 'file')
    const request = new Request('http://localhost', { method: 'POST', body: form })
    const response = await app.inject({
      method: 'POST',
      url: `${client}/certificates/${prefix}/upload-certificate`,
      headers: {
        authorization: `Bearer ${await adminToken()}`,
        'content-type': request.headers.get('content-type')!,
      },
      payload: Buffer.from(await request.arrayBuffer()),
    })
    return { status: response.statusCode, body: response.json() }
  }
  return { path, name: path.split('/').at(-1)!, client, upload }
}

/** Whether the client can authenticate with the key. */
async function canAuthenticate(name: string, privateKey: string): Promise<boolean> {
  const discovery = `/realms/${name}/.well-known/openid-configuration`
  const { issuer } = (await call('GET', discovery, { token: null })).body
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs1' })
  const assertion = await new SignJWT({ iss: 'signer', sub: 'signer', aud: issuer, jti: randomUUID() })
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuedAt()
    .setExpirationTime('30s')
    .sign(key)
  const { status } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    }).toString(),
  })
  return status === 200
}

test('a client authenticates with its key until the key is replaced, and admin events do not contain private keys', async () => {
  const { path, name, client, upload } = await createRealmWithSigner()
  const generated = (await call('POST', `${client}/certificates/jwt.credential/generate`)).body
  const certificate = new X509Certificate(Buffer.from(generated.certificate, 'base64'))
  expect(certificate.subject).toBe('CN=signer')
  expect((await call('GET', `${client}/certificates/jwt.credential`)).body).toEqual(generated)
  expect(await canAuthenticate(name, generated.privateKey)).toBe(true)

  const jwks = JSON.stringify({ keys: [{ ...certificate.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' }] })
  expect((await upload('jwt.credential', 'JSON Web Key Set', jwks)).body).toMatchObject({ kid: 'k', jwks })
  expect(await canAuthenticate(name, generated.privateKey)).toBe(true)
  const { attributes } = (await call('GET', client)).body
  expect(attributes).toMatchObject({ 'use.jwks.string': 'true', 'jwks.string': jwks })
  expect(attributes).not.toHaveProperty(['jwt.credential.private.key'])

  const replacement = (await call('POST', `${client}/certificates/jwt.credential/generate`)).body
  expect([
    await canAuthenticate(name, generated.privateKey),
    await canAuthenticate(name, replacement.privateKey),
  ]).toEqual([false, true])
  const events = JSON.stringify((await call('GET', `${path}/admin-events`)).body)
  expect(events).toContain('certificates/jwt.credential/generate')
  expect([events.includes(generated.privateKey), events.includes(replacement.privateKey)]).toEqual([false, false])
})

test('a file without a key and a key under an unknown attribute prefix are refused', async () => {
  const { client, upload } = await createRealmWithSigner()
  expect((await upload('jwt.credential', 'Certificate PEM', 'nonsense')).status).toBe(400)
  const generation = await call('POST', `${client}/certificates/anything/generate`)
  expect([generation.status, generation.body.errorMessage]).toEqual([400, expect.stringContaining('under anything')])
  expect((await call('GET', `${client}/certificates/jwt.credential`)).body).toEqual({})
})

test('a new SAML client that must sign gets a key, unless it has a certificate or the caller may not create clients', async () => {
  const { path } = await createRealmWithSigner()
  const readKey = async (attributes: object) => {
    const client = await create(`${path}/clients`, { clientId: randomUUID(), protocol: 'saml', attributes })
    return (await call('GET', client)).body.attributes
  }
  const generated = await readKey({})
  const certificate = new X509Certificate(Buffer.from(generated['saml.signing.certificate'], 'base64'))
  const der = Buffer.from(generated['saml.signing.private.key'], 'base64')
  expect(certificate.checkPrivateKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs1' }))).toBe(true)
  expect(await readKey({ 'saml.client.signature': 'false' })).not.toHaveProperty('saml.signing.certificate')
  expect(await readKey({ 'saml.signing.certificate': 'MIIB' })).not.toHaveProperty('saml.signing.private.key')
  const [event] = (await call('GET', `${path}/admin-events?resourceTypes=CLIENT`)).body
  expect(event.representation).not.toContain('saml.signing.private.key')
  const body = { clientId: 'x', protocol: 'saml' }
  expect((await call('POST', `${path}/clients`, { token: null, body })).status).toBe(401)
  expect((await call('POST', '/admin/realms/nowhere/clients', { body })).status).toBe(404)
})
