// Key stores of clients: those of other programs are read, and those of Regent are written.
import { execFileSync, spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { JKS, LEGACY_PKCS12, PKCS12 } from '../support/key-stores.ts'
import { testServer } from '../support/server.ts'

const { app, adminToken, call, create, createRealm } = await testServer()
const folder = mkdtempSync(join(tmpdir(), 'key-stores-'))
afterAll(() => rmSync(folder, { recursive: true }))
const hasKeytool = spawnSync('keytool', ['-help']).error === undefined

const PASSWORDS = { keyPassword: 'key-pass', storePassword: 'store-pass' }

/** Creates a realm with a client. `upload` uploads a key store of it, and `download` downloads one. */
async function createClient() {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'Signer', clientAuthenticatorType: 'client-jwt' })
  const certificates = `${client}/certificates/jwt.credential`
  const upload = async (file: Uint8Array, keystoreFormat: string, fields: Record<string, string> = {}) => {
    const form = new FormData()
    for (const [name, text] of Object.entries({ keystoreFormat, keyAlias: 'signer', ...PASSWORDS, ...fields }))
      if (text) form.append(name, text)
    form.append('file', new Blob([Buffer.from(file)]), 'file')
    const request = new Request('http://localhost', { method: 'POST', body: form })
    const response = await app.inject({
      method: 'POST',
      url: `${certificates}/upload`,
      headers: {
        authorization: `Bearer ${await adminToken()}`,
        'content-type': request.headers.get('content-type')!,
      },
      payload: Buffer.from(await request.arrayBuffer()),
    })
    return { status: response.statusCode, body: response.json() }
  }
  const download = async (
    body: object,
    { operation = 'download', token = '', accept = 'application/octet-stream' } = {},
  ) => {
    const response = await app.inject({
      method: 'POST',
      url: `${certificates}/${operation}`,
      headers: { authorization: `Bearer ${token || (await adminToken())}`, accept, 'content-type': 'application/json' },
      payload: JSON.stringify({ ...PASSWORDS, ...body }),
    })
    return { status: response.statusCode, bytes: response.rawPayload, text: response.body }
  }
  const read = async () => (await call('GET', certificates)).body
  return { path, certificates, upload, download, read }
}

const toCertificate = (text: string) => new X509Certificate(Buffer.from(text, 'base64'))

function isKeyOf({ privateKey, certificate }: { privateKey: string; certificate: string }): boolean {
  const [key] = (['pkcs1', 'sec1'] as const).flatMap((type) => {
    try {
      return [createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type })]
    } catch {
      return []
    }
  })
  return key !== undefined && toCertificate(certificate).checkPrivateKey(key)
}

test('the key and the certificate of an alias are read from key stores of keytool and OpenSSL', async () => {
  const { upload, read } = await createClient()
  const stores = [
    [JKS, 'JKS', 'signer', 'CN=signer'],
    [PKCS12, 'PKCS12', 'SIGNER', 'CN=signer'],
    [PKCS12, 'JKS', 'signer', 'CN=signer'],
    [LEGACY_PKCS12, 'PKCS12', '1', 'CN=legacy'],
  ] as const
  for (const [store, format, keyAlias, subject] of stores) {
    const { status, body } = await upload(store, format, { keyAlias })
    expect([status, toCertificate(body.certificate).subject, isKeyOf(body)]).toEqual([200, subject, true])
    expect(await read()).toEqual(body)
  }
  const trusted = await upload(JKS, 'JKS', { keyAlias: 'partner' })
  expect(Object.keys(trusted.body)).toEqual(['certificate'])
  expect(await read()).toEqual(trusted.body)
  const withoutKeyPassword = await upload(JKS, 'JKS', { keyPassword: '' })
  expect(Object.keys(withoutKeyPassword.body)).toEqual(['certificate'])
})

test('wrong passwords, unknown aliases and broken key stores return 400, and change nothing', async () => {
  const { upload, read } = await createClient()
  const { body: before } = await upload(JKS, 'JKS')
  const damaged = Buffer.from(JKS)
  damaged[200]! ^= 1
  // The protected key begins after magic, version, count, tag, alias, time and size. Without a password, the digest is not checked.
  const undecodable = Buffer.from(JKS)
  undecodable[4 * 4 + 2 + 'signer'.length + 8 + 4]! ^= 0xff
  const huge = Buffer.from(JKS)
  huge.writeUInt32BE(0xffff_ffff, 30)
  const refused: [store: Uint8Array, format: string, fields: Record<string, string>, error: RegExp][] = [
    [JKS, 'JKS', { storePassword: 'wrong' }, /^Password verification failed$/],
    [JKS, 'JKS', { keyPassword: 'wrong' }, /password of the key is wrong/],
    [JKS, 'JKS', { keyAlias: 'nobody' }, /certificate-not-found/],
    [JKS, 'JKS', { keyAlias: '' }, /certificate-not-found/],
    [JKS, 'PKCS12', {}, /error loading keystore/],
    [damaged, 'JKS', {}, /Password verification failed/],
    [huge, 'JKS', {}, /error loading keystore/],
    [JKS.subarray(0, 100), 'JKS', {}, /error loading keystore/],
    [undecodable, 'JKS', { storePassword: '' }, /error loading keystore/],
    [PKCS12, 'PKCS12', { storePassword: 'wrong' }, /Password verification failed/],
    [PKCS12, 'PKCS12', { storePassword: 'pässword' }, /ASCII/],
    [PKCS12, 'PKCS12', { keyAlias: 'nobody' }, /certificate-not-found/],
    [PKCS12.subarray(0, 500), 'PKCS12', {}, /error loading keystore/],
    [Buffer.from('text'), 'PKCS12', {}, /error loading keystore/],
    [PKCS12, 'BCFKS', {}, /error loading keystore/],
  ]
  for (const [store, format, fields, error] of refused) {
    const response = await upload(store, format, fields)
    expect([format, fields, response.status, response.body.error]).toEqual([
      format,
      fields,
      400,
      expect.stringMatching(error),
    ])
  }
  expect(await read()).toEqual(before)
})

test('a downloaded key store has the key, its certificate, and the certificate of the realm unless it is declined', async () => {
  const { path, certificates, upload, download, read } = await createClient()
  const { body: generated } = await call('POST', `${certificates}/generate`)
  const [{ certificate: ofRealm }] = (await call('GET', `${path}/keys`)).body.keys.filter(
    ({ algorithm }: { algorithm: string }) => algorithm === 'RS256',
  )
  const realm = path.split('/').at(-1)!
  for (const format of ['JKS', 'PKCS12']) {
    const { bytes } = await download({ format })
    await call('POST', `${certificates}/generate`)
    expect((await upload(bytes, format)).body).toEqual(generated)
    expect((await upload(bytes, format, { keyAlias: realm })).body).toEqual({ certificate: ofRealm })
    await upload(bytes, format)
    const renamed = await download({ format, keyAlias: 'mine', realmAlias: 'issuer' })
    expect((await upload(renamed.bytes, format, { keyAlias: 'issuer' })).body).toEqual({ certificate: ofRealm })
    expect((await upload(renamed.bytes, format, { keyAlias: 'mine' })).body).toEqual(generated)
    const alone = await download({ format, realmCertificate: false })
    expect((await upload(alone.bytes, format, { keyAlias: realm })).status).toBe(400)
  }
  expect(await read()).toEqual(generated)
  const pfx = (await download({ format: 'PKCS12' })).bytes
  expect(() => createSecureContext({ pfx, passphrase: 'store-pass' })).not.toThrow()
  expect(() => createSecureContext({ pfx, passphrase: 'wrong' })).toThrow(/mac verify/)
})

test.runIf(hasKeytool)('keytool reads key stores of Regent', async () => {
  const { upload, download } = await createClient()
  await upload(PKCS12, 'PKCS12')
  for (const format of ['JKS', 'PKCS12']) {
    const file = join(folder, format)
    writeFileSync(file, (await download({ format, realmAlias: 'issuer' })).bytes)
    const list = execFileSync('keytool', ['-list', '-keystore', file, '-storepass', 'store-pass'], { encoding: 'utf8' })
    expect(list).toMatch(/signer, .*, PrivateKeyEntry/)
    expect(list).toMatch(/issuer, .*, trustedCertEntry/)
    const copy = ['-destkeystore', `${file}-copy`, '-deststoretype', 'PKCS12', '-deststorepass', 'new-pass']
    const source = ['-srckeystore', file, '-srcstorepass', 'store-pass', '-srcalias', 'signer']
    const keyPassword = format === 'JKS' ? ['-srckeypass', 'key-pass'] : []
    execFileSync('keytool', ['-importkeystore', '-noprompt', ...source, ...keyPassword, ...copy], { stdio: 'pipe' })
  }
})

test('a key that is generated for the download is not kept, only its certificate', async () => {
  const { upload, download, read } = await createClient()
  const body = { format: 'PKCS12', keySize: 2048, validity: 1 }
  const { status, bytes } = await download(body, { operation: 'generate-and-download' })
  const stored = await read()
  expect([status, Object.keys(stored)]).toEqual([200, ['certificate']])
  const days = (toCertificate(stored.certificate).validToDate.getTime() - Date.now()) / 86_400_000
  expect(Math.round(days)).toBeOneOf([365, 366])
  const read12 = (await upload(bytes, 'PKCS12')).body
  expect([read12.certificate, isKeyOf(read12)]).toEqual([stored.certificate, true])
})

test('invalid settings of a download are refused, and change nothing', async () => {
  const { certificates, download, read } = await createClient()
  const generated = (await call('POST', `${certificates}/generate`)).body
  const generation = { operation: 'generate-and-download' }
  const refused: [body: object, status: number, error: string][] = [
    [{ format: 'BCFKS' }, 406, 'these formats: JKS, PKCS12'],
    [{ format: 'JKS', keyPassword: null }, 400, 'key password'],
    [{ format: 'JKS', storePassword: null }, 400, 'store password'],
    [{ format: 'JKS', keySize: 1024 }, 400, 'keySize must be from 2048'],
    [{ format: 'JKS', keySize: 16_384 }, 400, 'keySize must be from 2048'],
    [{ format: 'JKS', validity: 0 }, 400, 'validity must be from 1'],
    [{ format: 'JKS', keySise: 2048 }, 400, 'keySise'],
  ]
  for (const [body, status, error] of refused) {
    const response = await download(body, generation)
    expect([response.status, response.text]).toEqual([status, expect.stringContaining(error)])
  }
  const notAccepted = await download({ format: 'JKS' }, { ...generation, accept: 'application/json' })
  expect(notAccepted.status).toBe(406)
  expect(await read()).toEqual(generated)
})

test('an administrator who may only view clients downloads no key store', async () => {
  const { path, certificates, download } = await createClient()
  await call('POST', `${certificates}/generate`)
  const token = await createAdminToken(path.split('/').at(-1)!, {
    clientRoles: { 'realm-management': ['view-clients'] },
  })
  expect((await download({ format: 'JKS' }, { token })).status).toBe(403)
})
