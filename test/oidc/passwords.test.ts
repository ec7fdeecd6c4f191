// Passwords at login: imported hashes, rehashing, and expired passwords.
import { pbkdf2Sync } from 'node:crypto'
import { hashRawSync } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { verifyPassword } from '../../src/service/users/password-hashing.ts'
import { getPasswordHashing, parsePasswordPolicy } from '../../src/service/users/password-policy.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const salt = Buffer.from('salt of sixteen.')
const credential = (algorithm: string, hashIterations: number, hash: Buffer, parameters: object = {}) => ({
  type: 'password',
  secretData: JSON.stringify({ value: hash.toString('base64'), salt: salt.toString('base64') }),
  credentialData: JSON.stringify({ algorithm, hashIterations, additionalParameters: parameters }),
})
const pbkdf2 = (name: string, digest: string, length = 64) =>
  credential(name, 1000, pbkdf2Sync('pw', salt, 1000, length, digest))
const argon2 = (type: string, algorithm: 0 | 1 | 2, version: string, number: 0 | 1) =>
  credential(
    'argon2',
    2,
    hashRawSync('pw', {
      algorithm: algorithm as number,
      version: number as number,
      salt,
      timeCost: 2,
      memoryCost: 64,
      parallelism: 2,
      outputLen: 24,
    }),
    { type: [type], version: [version], memory: ['64'], parallelism: ['2'], hashLength: ['24'] },
  )

/** Creates a realm with a user who has a credential. */
async function createUser(settings: object, hash: object) {
  const path = await createRealm(settings)
  const representation = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B' }
  const user = await create(`${path}/users`, { ...representation, credentials: [hash] })
  return {
    path,
    logIn: async (password: string) =>
      (
        await call('POST', `/realms/${path.split('/').at(-1)}/protocol/openid-connect/token`, {
          token: null,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: `grant_type=password&client_id=admin-cli&username=ann&password=${password}`,
        })
      ).body,
    credential: async () => (await call('GET', `${user}/credentials`)).body[0],
    user: async () => (await call('GET', user)).body,
    reset: (value: string) => call('PUT', `${user}/reset-password`, { body: { value } }),
  }
}

test.each([
  ['pbkdf2', pbkdf2('pbkdf2', 'sha1')],
  ['pbkdf2-sha256', pbkdf2('pbkdf2-sha256', 'sha256')],
  ['pbkdf2-sha512, shorter', pbkdf2('pbkdf2-sha512', 'sha512', 32)],
  ['argon2id', argon2('id', 2, '1.3', 1)],
  ['argon2i of the version before', argon2('i', 1, '1.0', 0)],
  ['argon2d', argon2('d', 0, '1.3', 1)],
])('a password with an imported %s hash is accepted, and rehashed by the policy of the realm', async (_, hash) => {
  const { logIn, credential } = await createUser({}, hash)
  const before = await credential()
  expect(await logIn('wrong')).toMatchObject({ error: 'invalid_grant' })
  expect((await credential()).credentialData).toBe(hash.credentialData)
  expect(await logIn('pw')).toHaveProperty('access_token')
  const { credentialData, ...rest } = await credential()
  expect(JSON.parse(credentialData)).toMatchObject({ algorithm: 'argon2', hashIterations: 5 })
  expect({ ...rest, credentialData: before.credentialData }).toEqual(before)
  expect(await logIn('pw')).toHaveProperty('access_token')
})

test('an empty hash and an unknown algorithm match no password', async () => {
  const nothing = await createUser({}, credential('pbkdf2', 1000, Buffer.alloc(0)))
  expect(await nothing.logIn('pw')).toMatchObject({ error: 'invalid_grant' })
  const unknown = await createUser({}, credential('md5', 1, Buffer.from('5f4dcc3b', 'hex')))
  expect(await unknown.logIn('pw')).toMatchObject({ error: 'invalid_grant' })
})

const ONE = Buffer.alloc(32, 1)

test.each([
  ['with too many iterations', credential('pbkdf2-sha256', 2_000_000_000, ONE)],
  ['with too many bytes', credential('pbkdf2', 1000, Buffer.alloc(50_000_000, 1))],
  ['with 3 GB of memory', credential('argon2', 1, ONE, { memory: ['3000000'] })],
  ['with too many iterations for its memory', credential('argon2', 100_000, ONE, { memory: ['7168'] })],
  ['with 100,000 lanes', credential('argon2', 1, ONE, { memory: ['7168'], parallelism: ['100000'] })],
  ['without memory', credential('argon2', 1, ONE, { memory: ['0'] })],
  ['with an unknown type of Argon2', credential('argon2', 1, ONE, { type: ['x'] })],
  ['with an unknown version of Argon2', credential('argon2', 1, ONE, { version: ['2'] })],
  ['without iterations', credential('pbkdf2-sha512', 0, ONE)],
  ['with half an iteration', credential('pbkdf2-sha512', 0.5, ONE)],
  ['with two bytes', credential('argon2', 1, Buffer.alloc(2, 1))],
])('a hash %s matches no password', async (_, hash) => {
  expect(await verifyPassword('pw', hash.secretData, hash.credentialData)).toBe(false)
})

test.each([
  ['hashIterations(2000000000)', 5],
  ['hashIterations(0)', 5],
  ['hashAlgorithm(pbkdf2-sha512) and hashIterations(2000000000)', 210_000],
])('the policy %s, which is out of range, uses the default iterations', (policy, iterations) =>
  expect(getPasswordHashing(parsePasswordPolicy(policy))).toMatchObject({ iterations }),
)

test('a changed hashing policy applies to new passwords, and to existing ones at the next login', async () => {
  const { path, logIn, credential, reset } = await createUser({}, { value: 'pw' })
  const policy = (passwordPolicy: string) => call('PUT', path, { body: { passwordPolicy } })
  const hashed = async () => JSON.parse((await credential()).credentialData)
  await policy('hashIterations(3)')
  await logIn('pw')
  expect(await hashed()).toMatchObject({ algorithm: 'argon2', hashIterations: 3 })
  await policy('hashAlgorithm(pbkdf2-sha256) and hashIterations(100)')
  await logIn('pw')
  expect(await hashed()).toEqual({ algorithm: 'pbkdf2-sha256', hashIterations: 100, additionalParameters: {} })
  expect(await logIn('pw')).toHaveProperty('access_token')
  await policy('hashAlgorithm(pbkdf2-sha512)')
  await reset('new')
  expect(await hashed()).toMatchObject({ algorithm: 'pbkdf2-sha512', hashIterations: 210_000 })
})

test('an expired password must be changed before the user can log in', async () => {
  const old = { ...pbkdf2('pbkdf2', 'sha1'), createdDate: Date.now() - 3 * 24 * 60 * 60 * 1000 }
  const { path, logIn, user, reset } = await createUser({ passwordPolicy: 'forceExpiredPasswordChange(4)' }, old)
  expect(await logIn('pw')).toHaveProperty('access_token')
  await call('PUT', path, { body: { passwordPolicy: 'forceExpiredPasswordChange(2)' } })
  expect(await logIn('pw')).toEqual({ error: 'invalid_grant', error_description: 'Account is not fully set up' })
  expect(await user()).toMatchObject({ requiredActions: ['UPDATE_PASSWORD'] })
  await reset('new')
  expect(await logIn('new')).toHaveProperty('access_token')
})
