// The content of tokens, and the number of statements that it takes.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, create } = await testServer()
const { statements } = await testService()

/** The profile of a user who can log in. */
const NAMED = { email: 'ann@example.org', firstName: 'Ann', lastName: 'Example' }

/** Creates a realm with a number of nested groups, each with a composite role. */
async function createNestedRealm(count: number): Promise<string> {
  const realm = newName()
  const numbers = Array.from({ length: count }, (_, at) => at)
  const names = numbers.map((at) => `role-${at}`)
  const nested = numbers.reduceRight<object[]>(
    (below, at) => [
      { name: `g${at}`, attributes: { [`a${at}`]: ['x'] }, realmRoles: [`role-${at}`], subGroups: below },
    ],
    [],
  )
  await create('/admin/realms', {
    realm,
    enabled: true,
    roles: {
      realm: names.flatMap((name) => [
        { name, composite: true, composites: { realm: [`${name}-part`] } },
        { name: `${name}-part` },
      ]),
    },
    groups: nested,
    clients: [
      {
        clientId: 'web',
        publicClient: true,
        directAccessGrantsEnabled: true,
        protocolMappers: [
          {
            name: 'colour',
            protocol: 'openid-connect',
            protocolMapper: 'a-mapper-of-an-extension',
            config: { 'access.token.claim': 'true', 'claim.name': 'colour' },
          },
        ],
      },
    ],
    users: [
      {
        username: 'ann',
        enabled: true,
        ...NAMED,
        credentials: [{ type: 'password', value: 'pw' }],
        groups: [`/${numbers.map((at) => `g${at}`).join('/')}`],
      },
    ],
  })
  return realm
}

const post = (realm: string, form: string) =>
  call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form,
  })

const logIn = async (realm: string, scope = 'openid') =>
  (await post(realm, `grant_type=password&client_id=web&username=ann&password=pw&scope=${scope}`)).body

test('a token takes the same number of statements, however many groups and roles its user has', async () => {
  const [small, large] = [await createNestedRealm(1), await createNestedRealm(40)]
  await Promise.all([logIn(small), logIn(large)])
  const few = await statements(() => logIn(small))
  const many = await statements(() => logIn(large))
  expect(many.length).toBe(few.length)
  const { realm_access } = decodeJwt<{ realm_access: { roles: string[] } }>((await logIn(large)).access_token)
  expect(realm_access.roles.filter((role) => role.startsWith('role-'))).toHaveLength(80)
})

test('a mapper of an extension is ignored, and other mappers apply', async () => {
  const claims = decodeJwt((await logIn(await createNestedRealm(1))).access_token)
  expect(claims).not.toHaveProperty('colour')
  expect(claims).toMatchObject({ name: 'Ann Example' })
})

test('amr contains the reference values of the executed steps until their maximum age', async () => {
  const realm = await createNestedRealm(1)
  const path = `/admin/realms/${realm}`
  const steps = (await call('GET', `${path}/authentication/flows/direct%20grant/executions`)).body
  for (const [step, maxAge] of [
    ['direct-grant-validate-password', '600'],
    ['direct-grant-validate-username', '-1'],
  ]) {
    const { id } = steps.find(({ providerId }: { providerId: string }) => providerId === step)
    const config = { 'default.reference.value': step, 'default.reference.maxAge': maxAge }
    await create(`${path}/authentication/executions/${id}/config`, { alias: step, config })
  }
  const [web] = (await call('GET', `${path}/clients?clientId=web`)).body
  await create(`${path}/clients/${web.id}/protocol-mappers/models`, {
    name: 'amr',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-amr-mapper',
    config: { 'access.token.claim': 'true' },
  })
  expect(decodeJwt((await logIn(realm)).access_token).amr).toEqual(['direct-grant-validate-password'])
})

test('a new and a deleted mapper take effect with the next token', async () => {
  const realm = await createNestedRealm(1)
  const [web] = (await call('GET', `/admin/realms/${realm}/clients?clientId=web`)).body
  const claim = async () => decodeJwt((await logIn(realm)).access_token).colour
  expect(await claim()).toBeUndefined()
  const mapper = await create(`/admin/realms/${realm}/clients/${web.id}/protocol-mappers/models`, {
    name: 'red',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config: { 'claim.name': 'colour', 'claim.value': 'red', 'access.token.claim': 'true' },
  })
  expect(await claim()).toBe('red')
  await call('DELETE', mapper)
  expect(await claim()).toBeUndefined()
})

test('a token contains the memberships of its user in enabled organizations only', async () => {
  const realm = await createNestedRealm(1)
  const path = `/admin/realms/${realm}`
  await call('PUT', path, { body: { organizationsEnabled: true } })
  const [{ id }] = (await call('GET', `${path}/users?username=ann`)).body
  const bodies = ['acme', 'bolt'].map((name) => ({ name, domains: [{ name: `${name}.example` }] }))
  const [acme] = await Promise.all(
    bodies.map(async (body) => {
      const organization = await create(`${path}/organizations`, body)
      await call('POST', `${organization}/members`, { body: id })
      return organization
    }),
  )
  const listMemberships = async () => {
    const { access_token } = await logIn(realm, 'openid organization:*')
    return decodeJwt(access_token).organization
  }
  expect(await listMemberships()).toEqual(expect.arrayContaining(['acme', 'bolt']))
  await call('PUT', acme!, { body: { ...bodies[0], enabled: false } })
  expect(await listMemberships()).toEqual(['bolt'])
})

test('a refresh may request a narrower scope for one token, but no new scopes', async () => {
  const realm = await createNestedRealm(1)
  const { refresh_token } = await logIn(realm, 'openid phone')
  const refresh = async (scope?: string) => {
    const form = { grant_type: 'refresh_token', client_id: 'web', refresh_token, ...(scope && { scope }) }
    const { body } = await post(realm, new URLSearchParams(form).toString())
    return body.error ?? [body.scope, body.id_token !== undefined, decodeJwt(body.refresh_token).scope]
  }
  const lasting = decodeJwt(refresh_token).scope
  expect(await refresh()).toEqual(['openid phone email profile', true, lasting])
  expect(await refresh('phone')).toEqual(['phone email profile', true, lasting])
  expect(await refresh('openid address')).toEqual(['openid email profile', true, lasting])
  expect(await refresh('nowhere')).toBe('invalid_scope')
  const path = `/admin/realms/${realm}`
  const [web] = (await call('GET', `${path}/clients?clientId=web`)).body
  const scopes = (await call('GET', `${path}/client-scopes`)).body
  const { id } = scopes.find(({ name }: { name: string }) => name === 'phone')
  await call('DELETE', `${path}/clients/${web.id}/optional-client-scopes/${id}`)
  expect(await refresh(), 'a scope that is no longer assigned to the client').toEqual([
    'openid email profile',
    true,
    lasting,
  ])
})

test('a mapper with its own setting for UserInfo does not follow the one for ID tokens', async () => {
  const realm = newName()
  const mapper = (name: string, userInfo?: string) => ({
    name,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-hardcoded-claim-mapper',
    config: {
      'claim.name': name,
      'claim.value': 'x',
      'id.token.claim': 'true',
      ...(userInfo && { 'userinfo.token.claim': userInfo }),
    },
  })
  await create('/admin/realms', {
    realm,
    enabled: true,
    clients: [
      {
        clientId: 'web',
        publicClient: true,
        directAccessGrantsEnabled: true,
        protocolMappers: [mapper('hidden', 'false'), mapper('visible', 'true'), mapper('following')],
      },
    ],
    users: [
      {
        ...{ username: 'ann', enabled: true, ...NAMED },
        credentials: [{ type: 'password', value: 'pw' }],
      },
    ],
  })
  const tokens = await logIn(realm)
  expect(decodeJwt(tokens.id_token)).toMatchObject({ hidden: 'x', visible: 'x', following: 'x' })
  const { body } = await call('GET', `/realms/${realm}/protocol/openid-connect/userinfo`, {
    token: tokens.access_token,
  })
  expect(body).toMatchObject({ visible: 'x', following: 'x' })
  expect(body).not.toHaveProperty('hidden')
})

test('pairwise subjects of a user are equal for one sector identifier, and of one client alone without a single host', async () => {
  const realm = newName()
  const client = (clientId: string, sectorIdentifierUri?: string, hosts = [`${clientId}.example.com`]) => ({
    clientId,
    publicClient: true,
    directAccessGrantsEnabled: true,
    redirectUris: hosts.map((host) => `https://${host}/*`),
    protocolMappers: [
      {
        name: 'pairwise',
        protocol: 'openid-connect',
        protocolMapper: 'oidc-sha256-pairwise-sub-mapper',
        config: { pairwiseSubAlgorithmSalt: 'salt', ...(sectorIdentifierUri && { sectorIdentifierUri }) },
      },
    ],
  })
  const sector = 'https://sector.example.com/redirects.json'
  await create('/admin/realms', {
    realm,
    enabled: true,
    clients: [
      ...[client('web', sector), client('app', sector), client('other')],
      ...[client('two', undefined, ['a.example.com', 'b.example.com']), client('none', undefined, [])],
    ],
    users: [{ username: 'ann', enabled: true, credentials: [{ type: 'password', value: 'pw' }], ...NAMED }],
  })
  const getSubject = async (clientId: string) => {
    const { body } = await post(
      realm,
      `grant_type=password&client_id=${clientId}&username=ann&password=pw&scope=openid`,
    )
    return decodeJwt(body.id_token).sub
  }
  const subjects = [await getSubject('web'), await getSubject('app'), await getSubject('other')]
  expect(subjects[0]).toBe(subjects[1])
  expect(new Set(subjects).size).toBe(2)
  const [ann] = (await call('GET', `/admin/realms/${realm}/users?username=ann`)).body
  const withoutSector = [await getSubject('two'), await getSubject('none')]
  expect(new Set([...withoutSector, ...subjects, ann.id]).size).toBe(5)
})
