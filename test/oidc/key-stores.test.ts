// Keys of realms in key stores: files of the server to which key providers refer.
import { X509Certificate } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { writeKeyStore } from '../../src/lib/key-stores/run.ts'
import { openKeyStoreDirectory } from '../../src/service/context/key-store-directory.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { generateCertifiedKey } from '../../src/service/realms/key-generation.ts'
import { parsePrivateKey } from '../../src/service/realms/realm-keys.ts'
import { JKS, PKCS12 } from '../support/key-stores.ts'
import { openNewService } from '../support/service.ts'
import { createSource, planText } from '../support/sources.ts'

const KEYS = 'org.keycloak.keys.KeyProvider'
const root = await mkdtemp(join(tmpdir(), 'key-stores-'))
const directory = join(root, 'stores')
await mkdir(directory)
await writeFile(join(root, 'outside.jks'), JKS)
await writeFile(join(directory, 'realm.jks'), JKS)
await writeFile(join(directory, 'realm.p12'), PKCS12)

const service = await openNewService({ keyStoreDirectory: openKeyStoreDirectory(directory) })
const serviceWithoutStores = await openNewService()
await bootstrap(service, { user: 'admin', password: 'admin' })
const app = await createServer(service)
afterAll(async () => {
  await app.close()
  await service.close()
  await serviceWithoutStores.close()
  await rm(root, { recursive: true })
})

async function send(method: 'GET' | 'POST', url: string, payload?: object | string, token?: string) {
  const isForm = typeof payload === 'string'
  const response = await app.inject({
    method,
    url,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(payload !== undefined && { payload }),
  })
  return { status: response.statusCode, body: response.body ? response.json() : undefined }
}

const requestToken = async (realm: string, form: Record<string, string>) => {
  const url = `/realms/${realm}/protocol/openid-connect/token`
  const { body } = await send('POST', url, new URLSearchParams(form).toString())
  return body.access_token as string
}
const logInAsAdmin = () =>
  requestToken('master', { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' })

let realms = 0
/** Creates a realm whose access tokens have an algorithm, and returns functions to add a key and to request a token. */
async function createRealm(algorithm = 'ES256') {
  const realm = `stores-${++realms}`
  const token = await logInAsAdmin()
  const client = { clientId: 'app', secret: 's', serviceAccountsEnabled: true }
  const settings = {
    realm,
    enabled: true,
    sslRequired: 'none',
    defaultSignatureAlgorithm: algorithm,
    clients: [client],
  }
  expect((await send('POST', '/admin/realms', settings, token)).status).toBe(201)
  return {
    realm,
    addKey: async (config: Record<string, string>) => {
      const body = {
        name: 'store',
        providerId: 'java-keystore',
        providerType: KEYS,
        config: Object.fromEntries(
          Object.entries({ priority: '200', ...config }).map(([name, value]) => [name, [value]]),
        ),
      }
      return send('POST', `/admin/realms/${realm}/components`, body, token)
    },
    /** Requests a token, verifies it by the published keys, and returns its key id with those keys. */
    async verifyToken() {
      const text = await requestToken(realm, { grant_type: 'client_credentials', client_id: 'app', client_secret: 's' })
      const { body } = await send('GET', `/realms/${realm}/protocol/openid-connect/certs`)
      const { protectedHeader } = await jwtVerify(text, createLocalJWKSet(body))
      return { kid: protectedHeader.kid, alg: protectedHeader.alg, keys: body.keys }
    },
  }
}

const passwords = { keystorePassword: 'store-pass', keyPassword: 'key-pass', keyAlias: 'signer' }

test.each([
  ['JKS', '/opt/keycloak/conf/realm.jks', passwords],
  ['PKCS12', 'realm.p12', passwords],
  ['JKS', 'realm.p12', passwords],
])('the key of a key store of the type %s in %s signs tokens', async (keystoreType, keystore, config) => {
  const { addKey, verifyToken } = await createRealm()
  expect(await addKey({ keystore, keystoreType, ...config })).toMatchObject({ status: 201 })
  const { kid, alg, keys } = await verifyToken()
  expect(alg).toBe('ES256')
  const key = keys.find((candidate: { kid: string }) => candidate.kid === kid)
  expect(new X509Certificate(Buffer.from(key.x5c[0], 'base64')).subject).toBe('CN=signer')
})

test('an RSA key signs with the algorithm of the component', async () => {
  const { privateKey, certificate } = await generateCertifiedKey(2048, { owner: 'rsa', now: new Date(), years: 1 })
  const der = (text: string) => Buffer.from(text, 'base64')
  const bytes = await writeKeyStore({
    format: 'PKCS12',
    content: {
      key: {
        alias: 'rsa',
        privateKey: parsePrivateKey(privateKey)!.export({ type: 'pkcs8', format: 'der' }),
        certificate: der(certificate),
      },
      trusted: [],
    },
    passwords: { storePassword: 'p', keyPassword: 'p' },
  })
  await writeFile(join(directory, 'rsa.p12'), bytes)
  const { addKey, verifyToken } = await createRealm('PS512')
  const config = {
    keystore: 'rsa.p12',
    keystoreType: 'PKCS12',
    keystorePassword: 'p',
    keyPassword: 'p',
    keyAlias: 'rsa',
    algorithm: 'PS512',
  }
  expect(await addKey(config)).toMatchObject({ status: 201 })
  const { kid, alg, keys } = await verifyToken()
  expect([alg, keys.find((key: { kid: string }) => key.kid === kid).alg]).toEqual(['PS512', 'PS512'])
})

test.each([
  [{ keystorePassword: 'wrong' }, 'The password of the key store is wrong.'],
  [{ keyPassword: 'wrong' }, 'The password of the key is wrong.'],
  [{ keyAlias: 'other' }, 'The key store has no key with this alias.'],
  [{ keyAlias: 'partner' }, 'The alias is that of a certificate without a key.'],
  [
    { keystore: 'missing.jks' },
    'Add the file missing.jks to the directory of --key-store-dir, readable by the server.',
  ],
  [
    { keystore: '../outside.jks' },
    'Add the file outside.jks to the directory of --key-store-dir, readable by the server.',
  ],
])('a component with %o is refused, and adds no key', async (changes, advice) => {
  const { realm, addKey } = await createRealm()
  const { status, body } = await addKey({ keystore: 'realm.jks', ...passwords, ...changes })
  expect([status, body.errorMessage]).toEqual([400, `Failed to load keys. ${advice}`])
  const { body: components } = await send(
    'GET',
    `/admin/realms/${realm}/components?type=${KEYS}`,
    undefined,
    await logInAsAdmin(),
  )
  expect(components.map(({ providerId }: { providerId: string }) => providerId)).not.toContain('java-keystore')
})

test('a plan notes a declared key that cannot be read, and none that can', async () => {
  const toDocument = (keystore: string) => {
    const config = Object.fromEntries(
      Object.entries({ keystore, ...passwords }).map(([name, value]) => [name, [value]]),
    )
    return createSource([
      {
        realm: `declared-${keystore}`,
        components: { [KEYS]: [{ name: 'store', providerId: 'java-keystore', config }] },
      },
    ])
  }
  expect(await planText(service, toDocument('realm.jks'))).not.toContain('is unresolved')
  expect(await planText(service, toDocument('none.jks'))).toContain(
    'component KeyProvider/store: none.jks in config.keystore is unresolved, so that its use fails. Add the file none.jks to the directory of --key-store-dir, readable by the server.',
  )
  await bootstrap(serviceWithoutStores)
  expect(await planText(serviceWithoutStores, toDocument('realm.jks'))).toContain(
    'Start the server with --key-store-dir, a directory with the file realm.jks.',
  )
})
