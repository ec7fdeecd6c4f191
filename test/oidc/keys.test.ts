// The keys of a realm: which one signs, which ones verify, and how they are generated and exported.
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { listRealmKeys } from '../../src/oidc/realm-keys.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { generateCertifiedKey } from '../../src/service/realms/key-generation.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { call, create, createRealm } = await testServer()
const { service, statements } = await testService()

const KEYS = 'org.keycloak.keys.KeyProvider'

/** Creates a realm with a client and the user Ann. */
async function realmWithAnn(settings: object = {}, attributes: object = {}) {
  const path = await createRealm(settings)
  const name = path.split('/').at(-1)!
  await addClientAndUser(name, path, attributes)
  return { path, name, logIn: () => logIn(name) }
}

async function addClientAndUser(name: string, path: string, attributes: object = {}): Promise<void> {
  await create(`${path}/clients`, { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true, attributes })
  const representation = {
    username: 'ann',
    enabled: true,
    email: 'ann@example.org',
    firstName: 'Ann',
    lastName: 'Lee',
    credentials: [await hashPassword('pw')],
  }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
}

async function logIn(name: string): Promise<{ access_token: string; refresh_token: string; id_token: string }> {
  const form = { grant_type: 'password', client_id: 'web', username: 'ann', password: 'pw', scope: 'openid' }
  const response = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  expect(response.status, JSON.stringify(response.body)).toBe(200)
  return response.body
}

const refresh = (name: string, refresh_token: string) =>
  call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'web', refresh_token }).toString(),
  })

const listPublishedKeys = async (name: string): Promise<(JWK & { kid: string })[]> =>
  (await call('GET', `/realms/${name}/protocol/openid-connect/certs`, { token: null })).body.keys

const keyComponent = (name: string, providerId: string, config: Representation) => ({
  name,
  providerId,
  providerType: KEYS,
  config,
})

const kidOf = (token: string) => decodeProtectedHeader(token).kid

/** Whether a token can be verified with the published keys. */
async function isVerifiable(name: string, token: string): Promise<boolean> {
  const jwk = (await listPublishedKeys(name)).find(({ kid }) => kid === kidOf(token))
  return jwk !== undefined && (await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }))) !== undefined
}

test('the active key with the highest priority signs, and passive keys verify until they are disabled', async () => {
  const { path, name, logIn } = await realmWithAnn()
  const old = (await logIn()).access_token
  const config = { priority: ['200'], algorithm: ['RS256'] }
  const newer = await create(`${path}/components`, keyComponent('newer', 'rsa-generated', config))
  const newToken = (await logIn()).access_token
  expect(kidOf(newToken)).not.toBe(kidOf(old))
  expect([await isVerifiable(name, old), await isVerifiable(name, newToken)]).toEqual([true, true])

  await call('PUT', newer, { body: keyComponent('newer', 'rsa-generated', { active: ['false'] }) })
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(old))
  expect(await isVerifiable(name, newToken)).toBe(true)
  await call('PUT', newer, { body: keyComponent('newer', 'rsa-generated', { enabled: ['false'] }) })
  expect(await isVerifiable(name, newToken)).toBe(false)
})

test('a disabled key verifies no tokens on any replica', async () => {
  const { path, name, logIn } = await realmWithAnn()
  // Another replica shares the store but not the memory.
  const replica = { ...service }
  const kids = async (server: typeof service) => {
    const row = await server.read(SYSTEM, name, async (context) => context.realm)
    return (await listRealmKeys(server, row)).filter(({ status }) => status !== 'DISABLED').map(({ kid }) => kid)
  }
  const tokens = await logIn()
  expect(await kids(replica)).toEqual(await kids(service))
  const list = (await call('GET', `${path}/components?type=${KEYS}`)).body
  const hmac = list.find(({ providerId }: { providerId: string }) => providerId === 'hmac-generated')
  expect((await refresh(name, tokens.refresh_token)).status).toBe(200)
  await call('PUT', `${path}/components/${hmac.id}`, { body: { ...hmac, config: { enabled: ['false'] } } })
  expect(await kids(replica)).not.toContain(kidOf(tokens.refresh_token))
  expect(await kids(replica)).toEqual(await kids(service))
  expect((await refresh(name, tokens.refresh_token)).body.error).toBe('invalid_grant')
})

test('the keys of a realm are generated once under concurrent requests, and then cached', async () => {
  const { name, logIn } = await realmWithAnn()
  const replicas = [service, { ...service }, { ...service }]
  const row = await service.read(SYSTEM, name, async (context) => context.realm)
  const keySets = await Promise.all(replicas.map((replica) => listRealmKeys(replica, row)))
  const kids = keySets.map((keys) => keys.map(({ kid }) => kid))
  expect(kids[0]).toHaveLength(4)
  expect(kids[1]).toEqual(kids[0])
  expect(kids[2]).toEqual(kids[0])
  await logIn()
  const executed = await statements(logIn, { keepsCaches: true })
  expect(executed.filter(({ sql }) => sql.includes('component'))).toEqual([])
})

test('tokens are signed with the algorithms of the client or realm, for which missing keys are generated', async () => {
  const attributes = { 'access.token.signed.response.alg': 'ES384', 'id.token.signed.response.alg': 'EdDSA' }
  const { path, name, logIn } = await realmWithAnn({ defaultSignatureAlgorithm: 'PS256' }, attributes)
  const { access_token, id_token, refresh_token } = await logIn()
  const algorithms = [access_token, id_token, refresh_token].map((token) => decodeProtectedHeader(token).alg)
  expect(algorithms).toEqual(['ES384', 'EdDSA', 'HS512'])
  expect([await isVerifiable(name, access_token), await isVerifiable(name, id_token)]).toEqual([true, true])
  const clients = (await call('GET', `${path}/clients?clientId=web`)).body
  const unstated = { 'access.token.signed.response.alg': '', 'id.token.signed.response.alg': '' }
  await call('PUT', `${path}/clients/${clients[0].id}`, { body: { ...clients[0], attributes: unstated } })
  expect(decodeProtectedHeader((await logIn()).access_token).alg).toBe('PS256')
  const names = (await call('GET', `${path}/components?type=${KEYS}`)).body.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['fallback-ES384', 'fallback-EdDSA', 'fallback-PS256']))
})

test('user info is a signed token if the client sets an algorithm', async () => {
  const { name, logIn } = await realmWithAnn({}, { 'user.info.response.signature.alg': 'PS512' })
  const token = (await logIn()).access_token
  const response = await call('GET', `/realms/${name}/protocol/openid-connect/userinfo`, { token })
  expect(response.headers['content-type']).toMatch(/^application\/jwt/)
  expect([decodeProtectedHeader(response.body).alg, await isVerifiable(name, response.body)]).toEqual(['PS512', true])
  expect(decodeJwt(response.body)).toMatchObject({ aud: 'web', preferred_username: 'ann', iss: decodeJwt(token).iss })
})

test('an export contains keys only with secrets', async () => {
  const { name, path, logIn } = await realmWithAnn()
  const token = (await logIn()).access_token
  const exported = (options: object) => service.read(SYSTEM, name, (context) => exportRealm(context, options))
  const plain = JSON.stringify(await exported({}))
  expect(plain).not.toMatch(/privateKey|"certificate"|"kid"/)
  expect(await planText(service, createSource([await exported({})], newName()))).toContain('Nothing to do.')

  const secrets = await exported({ secrets: true })
  // Creating the realm again would need an approval if it had users.
  for (const { id } of (await call('GET', `${path}/users`)).body) await call('DELETE', `${path}/users/${id}`)
  await call('DELETE', path)
  await applySource(service, createSource([secrets], newName()))
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(token))
  expect(await isVerifiable(name, token)).toBe(true)
  expect(await exported({ secrets: true })).toEqual(secrets)
})

test('a key is generated again only if its config asks for another size', async () => {
  const { path, name, logIn } = await realmWithAnn()
  const component = await create(`${path}/components`, keyComponent('own', 'rsa-generated', { priority: ['200'] }))
  const before = (await logIn()).access_token
  const bits = async (kid: string | undefined) => {
    const jwk = (await listPublishedKeys(name)).find((key) => key.kid === kid)!
    return createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails!.modulusLength
  }
  await call('PUT', component, { body: keyComponent('own', 'rsa-generated', { keySize: ['2048'] }) })
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(before))
  await call('PUT', component, { body: keyComponent('own', 'rsa-generated', { keySize: ['3072'] }) })
  const after = (await logIn()).access_token
  expect([await bits(kidOf(after)), await isVerifiable(name, before)]).toEqual([3072, false])
})

test('a certificate is self-signed and names the realm', async () => {
  const { path, name } = await realmWithAnn()
  const config = { ecGenerateCertificate: ['true'] }
  await create(`${path}/components`, keyComponent('curve', 'ecdsa-generated', config))
  const certified = (await listPublishedKeys(name)).filter(({ x5c }) => x5c)
  expect(certified.map(({ kty }) => kty).sort()).toEqual(['EC', 'RSA', 'RSA'])
  for (const jwk of certified) {
    const certificate = new X509Certificate(Buffer.from(jwk.x5c![0]!, 'base64'))
    expect(certificate.subject).toBe(`CN=${name}`)
    expect(certificate.verify(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(true)
  }
})

test('keys of providers are published with their use, type and algorithm', async () => {
  const { path, name } = await realmWithAnn()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = String(privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const listKeys = async () => (await listPublishedKeys(name)).map(({ use, kty, alg }) => `${use} ${kty} ${alg}`).sort()
  const initial = ['enc RSA RSA-OAEP', 'sig RSA RS256']
  expect(await listKeys()).toEqual(initial)
  const addKey = (id: string, config: Representation) => create(`${path}/components`, keyComponent(id, id, config))
  await addKey('ecdh-generated', { ecdhAlgorithm: ['ECDH-ES'] })
  await addKey('ecdsa-generated', {})
  await addKey('eddsa-generated', {})
  await addKey('rsa-enc', { privateKey: [pem] })
  const added = ['enc EC ECDH-ES', 'enc RSA RSA-OAEP', 'sig EC ES256', 'sig OKP EdDSA']
  expect(await listKeys()).toEqual([...initial, ...added].sort())
})

test('a rollback to a revision before the first login keeps keys, and sessions continue', async () => {
  const { path, name, logIn } = await realmWithAnn()
  const { body: before } = await call('GET', `/regent/v1/history/${name}?max=1`)
  const { refresh_token } = await logIn()
  const hmac = (await call('GET', `${path}/components?type=${KEYS}`)).body.find(
    ({ providerId }: { providerId: string }) => providerId === 'hmac-generated',
  )
  await create(`${path}/components`, keyComponent('curve', 'ecdsa-generated', { priority: ['-5'] }))
  const config = { ...hmac.config, priority: ['50'], algorithm: ['HS512'] }
  expect((await call('PUT', `${path}/components/${hmac.id}`, { body: { ...hmac, config } })).status).toBe(204)
  expect((await call('PUT', path, { body: { displayName: 'Oops', notBefore: 1 } })).status).toBe(204)
  const kids = (await listPublishedKeys(name)).map(({ kid }) => kid)
  const rollback = { revision: before[0].number }
  const { status, body } = await call('POST', `/regent/v1/rollback/${name}`, { body: rollback })
  expect(status).toBe(200)
  const changes = body.plan.actions.map(({ kind, changes }: { kind: string; changes: { path: string }[] }) => [
    kind,
    ...changes.map(({ path }) => path),
  ])
  expect(changes).toContainEqual(['realm', 'displayName'])
  expect(changes.filter(([kind]: string[]) => kind === 'component').flat()).toEqual(['component', 'config.priority'])
  const notes = body.plan.notes.map(({ message }: { message: string }) => message)
  expect(notes).toEqual([
    'component KeyProvider/curve is not deleted, since tokens and sessions depend on its key. Delete it if no longer needed.',
    `realm ${name}: notBefore is not restored, since revoked tokens stay revoked.`,
    `1 user has changed since r${before[0].number}. A rollback does not restore users.`,
  ])
  expect((await listPublishedKeys(name)).map(({ kid }) => kid)).toEqual(kids)
  expect((await refresh(name, refresh_token)).status).toBe(200)
})

test('a rollback creates a deleted key provider with a new key, and no provider whose key is lost', async () => {
  const { path, name } = await realmWithAnn()
  const config = keyComponent('own', 'rsa-generated', { priority: ['200'] })
  const generated = await create(`${path}/components`, config)
  const [first] = await listPublishedKeys(name)
  const { privateKey, certificate } = await generateCertifiedKey(2048, { owner: 'own', now: new Date(), years: 1 })
  const keys = { privateKey: [privateKey], certificate: [certificate] }
  const uploaded = await create(`${path}/components`, keyComponent('uploaded', 'rsa', keys))
  const { body: before } = await call('GET', `/regent/v1/history/${name}?max=1`)
  for (const created of [generated, uploaded]) expect((await call('DELETE', created)).status).toBe(204)
  const { body } = await call('POST', `/regent/v1/rollback/${name}`, { body: { revision: before[0].number } })
  expect(body.plan.notes.map(({ message }: { message: string }) => message)).toEqual([
    'component KeyProvider/own gets a new key, since the journal stores no keys.',
    'component KeyProvider/uploaded is not created again, since the journal does not store its key.',
    'component KeyProvider/own is created again without a source: later applies neither change nor delete what no document declares.',
  ])
  const [component] = (await call('GET', `${path}/components?type=${KEYS}&name=own`)).body
  expect(generated).toContain(component.id)
  const published = await listPublishedKeys(name)
  expect(published.map(({ kid }) => kid)).not.toContain(first!.kid)
})
