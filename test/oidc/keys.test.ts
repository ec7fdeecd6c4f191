// The keys of a realm are what its components hold: which one signs, which verify, and where they go.
import { createPublicKey, X509Certificate } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { keysOf } from '../../src/oidc/keys.ts'
import { exportRealm } from '../../src/realm-file/export/render.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/passwords.ts'
import { users } from '../../src/service/users/users.ts'
import { applyAs, planText, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const { service, statements } = await testService()

const KEYS = 'org.keycloak.keys.KeyProvider'

/** A realm with a client and a person who can log in. */
async function realmWithAnn(settings: object = {}, attributes: object = {}) {
  const path = await realm(settings)
  const name = path.split('/').at(-1)!
  await fill(name, path, attributes)
  return { path, name, logIn: () => logIn(name) }
}

async function fill(name: string, path: string, attributes: object = {}): Promise<void> {
  await make(`${path}/clients`, { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true, attributes })
  const representation = { username: 'ann', enabled: true, credentials: [await hashPassword('pw')] }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
}

async function logIn(name: string): Promise<{ access_token: string; refresh_token: string; id_token: string }> {
  const form = { grant_type: 'password', client_id: 'web', username: 'ann', password: 'pw', scope: 'openid' }
  const answer = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const refresh = (name: string, refresh_token: string) =>
  call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'web', refresh_token }).toString(),
  })

const published = async (name: string): Promise<(JWK & { kid: string })[]> =>
  (await call('GET', `/realms/${name}/protocol/openid-connect/certs`, { token: null })).body.keys

const keyComponent = (name: string, providerId: string, config: Representation) => ({
  name,
  providerId,
  providerType: KEYS,
  config,
})

const kidOf = (token: string) => decodeProtectedHeader(token).kid

/** What everybody can check with the published keys. */
async function verifies(name: string, token: string): Promise<boolean> {
  const jwk = (await published(name)).find(({ kid }) => kid === kidOf(token))
  return jwk !== undefined && (await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }))) !== undefined
}

test('the active key of the highest priority signs; those that do not sign any more verify until they are disabled', async () => {
  const { path, name, logIn } = await realmWithAnn()
  const old = (await logIn()).access_token
  const config = { priority: ['200'], algorithm: ['RS256'] }
  const newer = await make(`${path}/components`, keyComponent('newer', 'rsa-generated', config))
  const fresh = (await logIn()).access_token
  expect(kidOf(fresh)).not.toBe(kidOf(old))
  expect([await verifies(name, old), await verifies(name, fresh)]).toEqual([true, true])

  await call('PUT', newer, { body: keyComponent('newer', 'rsa-generated', { active: ['false'] }) })
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(old))
  expect(await verifies(name, fresh)).toBe(true)
  await call('PUT', newer, { body: keyComponent('newer', 'rsa-generated', { enabled: ['false'] }) })
  expect(await verifies(name, fresh)).toBe(false)
})

test('a disabled key verifies nothing any more, on no replica', async () => {
  const { path, name, logIn } = await realmWithAnn()
  // Another replica knows the store, and nothing that this one has in memory.
  const replica = { ...service }
  const kids = async (one: typeof service) => {
    const row = await one.read(SYSTEM, name, async (context) => context.realm)
    return (await keysOf(one, row)).filter(({ status }) => status !== 'DISABLED').map(({ kid }) => kid)
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

test('a realm makes its keys once, however many ask for them at once, and asks the store no more for them', async () => {
  const { name, logIn } = await realmWithAnn()
  const replicas = [service, { ...service }, { ...service }]
  const row = await service.read(SYSTEM, name, async (context) => context.realm)
  const found = await Promise.all(replicas.map((one) => keysOf(one, row)))
  const kids = found.map((keys) => keys.map(({ kid }) => kid))
  expect(kids[0]).toHaveLength(4)
  expect(kids[1]).toEqual(kids[0])
  expect(kids[2]).toEqual(kids[0])
  await logIn()
  const asked = await statements(logIn)
  expect(asked.filter(({ sql }) => sql.includes('component'))).toEqual([])
})

test('tokens are signed as the realm and the client say; a key that is missing for that is made', async () => {
  const attributes = { 'access.token.signed.response.alg': 'ES384', 'id.token.signed.response.alg': 'EdDSA' }
  const { path, name, logIn } = await realmWithAnn({ defaultSignatureAlgorithm: 'PS256' }, attributes)
  const { access_token, id_token, refresh_token } = await logIn()
  const algorithms = [access_token, id_token, refresh_token].map((token) => decodeProtectedHeader(token).alg)
  expect(algorithms).toEqual(['ES384', 'EdDSA', 'HS512'])
  expect([await verifies(name, access_token), await verifies(name, id_token)]).toEqual([true, true])
  const clients = (await call('GET', `${path}/clients?clientId=web`)).body
  const unstated = { 'access.token.signed.response.alg': '', 'id.token.signed.response.alg': '' }
  await call('PUT', `${path}/clients/${clients[0].id}`, { body: { ...clients[0], attributes: unstated } })
  expect(decodeProtectedHeader((await logIn()).access_token).alg).toBe('PS256')
  const names = (await call('GET', `${path}/components?type=${KEYS}`)).body.map((one: { name: string }) => one.name)
  expect(names).toEqual(expect.arrayContaining(['fallback-ES384', 'fallback-EdDSA', 'fallback-PS256']))
})

test('user info is a signed token where the client wants it so', async () => {
  const { name, logIn } = await realmWithAnn({}, { 'user.info.response.signature.alg': 'PS512' })
  const token = (await logIn()).access_token
  const answer = await call('GET', `/realms/${name}/protocol/openid-connect/userinfo`, { token })
  expect(answer.headers['content-type']).toMatch(/^application\/jwt/)
  expect([decodeProtectedHeader(answer.body).alg, await verifies(name, answer.body)]).toEqual(['PS512', true])
  expect(decodeJwt(answer.body)).toMatchObject({ aud: 'web', preferred_username: 'ann', iss: decodeJwt(token).iss })
})

test('keys go along with an export that shows secrets, and only with that', async () => {
  const { name, path, logIn } = await realmWithAnn()
  const token = (await logIn()).access_token
  const exported = (options: object) => service.read(SYSTEM, name, (context) => exportRealm(context, options))
  const plain = JSON.stringify(await exported({}))
  expect(plain).not.toMatch(/privateKey|"certificate"|"kid"/)
  expect(await planText(service, source([await exported({})], newName()))).toContain('Nothing to do.')

  const secrets = await exported({ secrets: true })
  // A realm that had people would not be made again without an approval.
  for (const { id } of (await call('GET', `${path}/users`)).body) await call('DELETE', `${path}/users/${id}`)
  await call('DELETE', path)
  await applyAs(service, source([secrets], newName()))
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(token))
  expect(await verifies(name, token)).toBe(true)
  expect(await exported({ secrets: true })).toEqual(secrets)
})

test('a key that its settings do not want any more is made anew, and one that they want stays', async () => {
  const { path, name, logIn } = await realmWithAnn()
  const own = await make(`${path}/components`, keyComponent('own', 'rsa-generated', { priority: ['200'] }))
  const before = (await logIn()).access_token
  const bits = async (kid: string | undefined) => {
    const jwk = (await published(name)).find((one) => one.kid === kid)!
    return createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails!.modulusLength
  }
  await call('PUT', own, { body: keyComponent('own', 'rsa-generated', { keySize: ['2048'] }) })
  expect(kidOf((await logIn()).access_token)).toBe(kidOf(before))
  await call('PUT', own, { body: keyComponent('own', 'rsa-generated', { keySize: ['3072'] }) })
  const after = (await logIn()).access_token
  expect([await bits(kidOf(after)), await verifies(name, before)]).toEqual([3072, false])
})

test('a certificate says what its key is called, and is signed with it', async () => {
  const { path, name } = await realmWithAnn()
  const config = { ecGenerateCertificate: ['true'] }
  await make(`${path}/components`, keyComponent('curve', 'ecdsa-generated', config))
  const certified = (await published(name)).filter(({ x5c }) => x5c)
  expect(certified.map(({ kty }) => kty).sort()).toEqual(['EC', 'RSA', 'RSA'])
  for (const jwk of certified) {
    const certificate = new X509Certificate(Buffer.from(jwk.x5c![0]!, 'base64'))
    expect(certificate.subject).toBe(`CN=${name}`)
    expect(certificate.verify(createPublicKey({ key: jwk, format: 'jwk' }))).toBe(true)
  }
})

test('a key store of Java is refused over REST, and kept with a warning in a document', async () => {
  const path = await realm()
  const config = { keystore: ['/keys.jks'], keystorePassword: ['x'], keyAlias: ['x'], keyPassword: ['x'] }
  const refused = await call('POST', `${path}/components`, { body: keyComponent('jks', 'java-keystore', config) })
  expect([refused.status, refused.body.errorMessage]).toEqual([400, expect.stringContaining('provider rsa')])
  const stated = { realm: newName(), components: { [KEYS]: [{ name: 'jks', providerId: 'java-keystore', config }] } }
  expect(await planText(service, source([stated]))).toContain('does not have the component java-keystore')
})
