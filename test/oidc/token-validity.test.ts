// The validity of a token depends on the current state of its realm and client.
import { decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const { service, statements } = await testService()

const post = (name: string, form: Record<string, string>) =>
  call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: 'web', ...form }).toString(),
  })

/** Creates a realm with a client and the user Ann, who administers it. */
async function realmWithAnn(settings: object = {}) {
  const path = await createRealm(settings)
  const name = path.split('/').at(-1)!
  const client = await create(`${path}/clients`, {
    clientId: 'web',
    publicClient: true,
    directAccessGrantsEnabled: true,
  })
  const representation = {
    username: 'ann',
    enabled: true,
    email: 'ann@example.org',
    firstName: 'Ann',
    lastName: 'Lee',
    credentials: [await hashPassword('pw')],
    clientRoles: { 'realm-management': ['realm-admin'] },
  }
  await service.write(SYSTEM, name, (context) => users.create(context, [{ representation }]))
  return {
    path,
    name,
    client,
    logIn: (username = 'ann') => post(name, { grant_type: 'password', username, password: 'pw' }),
  }
}

test('users log in with their email address if the realm allows it', async () => {
  const { path, logIn } = await realmWithAnn({ loginWithEmailAllowed: true })
  expect((await logIn('ann@example.org')).status).toBe(200)
  await call('PUT', path, { body: { loginWithEmailAllowed: false } })
  expect((await logIn('ann@example.org')).body.error_description).toBe('Invalid user credentials')
  expect((await logIn()).status).toBe(200)
  await call('PUT', path, { body: { loginWithEmailAllowed: true, duplicateEmailsAllowed: true } })
  expect((await logIn('ann@example.org')).status).not.toBe(200)
})

test('a client without full scope has the admin permissions of its user only if the role is in its scope', async () => {
  const { path, client, logIn } = await realmWithAnn()
  const token = (await logIn()).body.access_token
  const read = async () => (await call('GET', `${path}/clients`, { token })).status
  expect(await read()).toBe(200)
  await call('PUT', client, { body: { fullScopeAllowed: false } })
  expect(await read()).toBe(403)
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  const role = (await call('GET', `${path}/clients/${management.id}/roles/realm-admin`)).body
  const composites = { client: { 'realm-management': ['realm-admin'] } }
  await create(`${path}/roles`, { name: 'deputy', composite: true, composites })
  const deputy = (await call('GET', `${path}/roles/deputy`)).body
  await call('POST', `${client}/scope-mappings/realm`, { body: [deputy] })
  expect(await read(), 'the role is part of another one').toBe(200)
  await call('DELETE', `${client}/scope-mappings/realm`, { body: [deputy] })
  expect(await read()).toBe(403)
  await call('POST', `${client}/scope-mappings/clients/${management.id}`, { body: [role] })
  expect(await read()).toBe(200)
})

test('the not-before time of a client and its deletion invalidate its tokens', async () => {
  const { path, name, client, logIn } = await realmWithAnn()
  const { access_token: token, refresh_token } = (await logIn()).body
  const refresh = () => post(name, { grant_type: 'refresh_token', refresh_token })
  await call('PUT', client, { body: { notBefore: Math.floor(Date.now() / 1000) + 60 } })
  expect((await refresh()).body).toEqual({ error: 'invalid_grant', error_description: 'Stale token' })
  expect((await call('GET', `${path}/clients`, { token })).status).toBe(401)
  await call('PUT', client, { body: { notBefore: 0 } })
  expect((await refresh()).status).toBe(200)
  expect((await call('GET', `${path}/clients`, { token })).status).toBe(200)
  await call('PUT', path, { body: { notBefore: Math.floor(Date.now() / 1000) + 60 } })
  expect((await refresh()).body).toEqual({ error: 'invalid_grant', error_description: 'Stale token' })
  await call('PUT', path, { body: { notBefore: 0 } })
  await call('DELETE', client)
  expect((await call('GET', `${path}/clients`, { token })).status).toBe(401)
})

test('a realm that is deleted and created again with the same name and id has new keys', async () => {
  const id = newName('id')
  const first = await realmWithAnn({ id, realm: id })
  const old = (await first.logIn()).body
  await call('DELETE', first.path)
  const second = await realmWithAnn({ id, realm: id })
  const current = (await second.logIn()).body
  const kid = (token: string) => decodeProtectedHeader(token).kid
  expect(kid(current.access_token)).not.toBe(kid(old.access_token))
  expect((await post(id, { grant_type: 'refresh_token', refresh_token: old.refresh_token })).body.error).toBe(
    'invalid_grant',
  )
})

test('tokens with unknown keys do not cause the keys to be read again', async () => {
  const { name, logIn } = await realmWithAnn()
  const [, body, signature] = (await logIn()).body.access_token.split('.')
  const read = await statements(
    async () => {
      for (let at = 0; at < 5; at++) {
        const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: `forged-${at}` })).toString('base64url')
        expect((await call('GET', `/admin/realms/${name}`, { token: `${head}.${body}.${signature}` })).status).toBe(401)
      }
    },
    { keepsCaches: true },
  )
  expect(read.filter(({ sql }) => sql.includes('component'))).toEqual([])
})

test('the password grant is refused while an action of the realm is due that is none of the user', async () => {
  const { path, logIn } = await realmWithAnn()
  const setUp = { error: 'invalid_grant', error_description: 'Account is not fully set up' }
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  const update = (body: object) => call('PUT', `${path}/users/${ann.id}`, { body })
  expect((await logIn()).status).toBe(200)
  await update({ lastName: '' })
  expect((await logIn()).body).toEqual(setUp)
  const action = `${path}/authentication/required-actions/VERIFY_PROFILE`
  const { body } = await call('GET', action)
  await call('PUT', action, { body: { ...body, enabled: false } })
  expect((await logIn()).status).toBe(200)
  await call('PUT', path, { body: { verifyEmail: true } })
  expect((await logIn()).body).toEqual(setUp)
  await update({ emailVerified: true })
  expect((await logIn()).status).toBe(200)
})

test('a service account has the notes of its client under the names of all versions', async () => {
  const path = await createRealm()
  const name = path.split('/').at(-1)!
  const toMapper = (note: string) => ({
    name: note,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-usersessionmodel-note-mapper',
    config: { 'user.session.note': note, 'claim.name': `${note}_note`, 'access.token.claim': 'true' },
  })
  const protocolMappers = ['client_id', 'clientId'].map(toMapper)
  await create(`${path}/clients`, { clientId: 'job', secret: 's', serviceAccountsEnabled: true, protocolMappers })
  const response = await post(name, { grant_type: 'client_credentials', client_id: 'job', client_secret: 's' })
  const claims = JSON.parse(Buffer.from(response.body.access_token.split('.')[1], 'base64url').toString())
  expect(claims).toMatchObject({ client_id_note: 'job', clientId_note: 'job' })
})
