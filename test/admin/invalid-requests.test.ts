// Invalid requests return 400, 404 or 409. For most of them Keycloak returns 500, and after some it can no longer read the realm.
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

let path: string
/** The URLs of existing objects, by their placeholder in the requests below. */
const urls: Record<string, string> = {}
beforeAll(async () => {
  path = await createRealm({ editUsernameAllowed: true, organizationsEnabled: true })
  urls.ANN = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann@example.org' })
  urls.BOB = await create(`${path}/users`, {
    username: 'bob',
    enabled: true,
    credentials: [{ id: 'of-bob', value: 'secret' }],
  })
  urls.CLIENT = await create(`${path}/clients`, { clientId: 'shop' })
  urls.GROUP = await create(`${path}/groups`, { name: 'staff' })
  urls.CHILD = new URL(
    String((await call('POST', `${urls.GROUP}/children`, { body: { name: 'sales' } })).headers.location),
  ).pathname
  await create(`${path}/roles`, { name: 'buyer' })
})

const getId = (placeholder: string) => urls[placeholder]!.split('/').at(-1)!
const toPath = (address: string) =>
  address.replace(/^(ANN|BOB|CLIENT|GROUP|CHILD)/, (placeholder) => urls[placeholder]!)

const LONG = 'x'.repeat(256)
/** Random, since PostgreSQL compresses other texts until they fit into an index. */
const VERY_LONG = randomBytes(5_000).toString('hex')
const flows = ['browser', 'registration', 'directGrant', 'resetCredentials', 'clientAuthentication', 'firstBrokerLogin']

/** An invalid request with its title, and the expected status. */
type InvalidRequest = readonly [title: string, method: string, address: string, body: unknown, status: number]

const updateRealm = (title: string, body: object, status = 400): InvalidRequest => [title, 'PUT', '', body, status]
const requests: InvalidRequest[] = [
  ...flows.map((flow) => updateRealm(`a realm with an unknown flow: ${flow}`, { [`${flow}Flow`]: 'nowhere' })),
  updateRealm('a realm with an unknown sslRequired', { sslRequired: 'sometimes' }),
  updateRealm('a realm with an unknown signature algorithm', { defaultSignatureAlgorithm: 'ROT13' }),
  updateRealm('a realm with an unknown brute force strategy', { bruteForceStrategy: 'NONE' }),
  updateRealm('a realm with an unknown password policy', { passwordPolicy: 'nothing(1)' }),
  updateRealm('a client policy with an unknown profile', {
    clientPolicies: { policies: [{ name: 'p', profiles: ['none'] }] },
  }),
  updateRealm('two client profiles with the same name', {
    clientProfiles: { profiles: [{ name: 'a' }, { name: 'a' }] },
  }),
  updateRealm('a not-before time with more than 32 bits', { notBefore: 99_999_999_999 }),
  updateRealm('a negative failure factor', { failureFactor: -1 }),
  updateRealm('a negative failure reset time', { maxDeltaTimeSeconds: -1 }),
  updateRealm('an attribute that is not a number', { attributes: { parRequestUriLifespan: 'x' } }),
  updateRealm('an attribute whose number is too large', { attributes: { clientSessionIdleTimeout: '9'.repeat(20) } }),
  updateRealm('a lifespan of verification links that is not a number', {
    attributes: { 'actionTokenGeneratedByUserLifespan.verify-email': 'x' },
  }),
  updateRealm('a realm name that is not a URL segment', { realm: '..' }),
  updateRealm('a realm name that is too long', { realm: LONG }),
  updateRealm('a mail server without a sender', { smtpServer: { host: 'mail.example' } }),
  ['a new realm whose name is not a URL segment', 'POST', '..', { realm: '.' }, 400],
  ['a new realm with an unknown flow', 'POST', '..', { realm: 'new-1', browserFlow: 'nowhere' }, 400],
  [
    'a new realm with a user in an unknown group',
    'POST',
    '..',
    { realm: 'new-2', users: [{ username: 'a', groups: ['/no'] }] },
    400,
  ],
  [
    'a new realm with a role of an unknown client',
    'POST',
    '..',
    { realm: 'new-3', roles: { client: { no: [{ name: 'x' }] } } },
    400,
  ],
  ['a filter by an unknown event type', 'GET', 'events?type=NOTHING', undefined, 400],
  ['a filter by an unknown operation type', 'GET', 'admin-events?operationTypes=NOTHING', undefined, 400],
  ['a filter by an invalid date', 'GET', 'events?dateFrom=2020-13-01', undefined, 400],
  ['a new user in an unknown group', 'POST', 'users', { username: 'new', groups: ['/nowhere'] }, 400],
  ['a new user with an existing username', 'POST', 'users', { username: 'ANN' }, 409],
  ['a user with the email of another user', 'PUT', 'BOB', { email: 'ann@example.org' }, 409],
  ['a password without a value', 'POST', 'users', { username: 'new', credentials: [{ type: 'password' }] }, 400],
  [
    'a credential whose data are not JSON',
    'POST',
    'users',
    { username: 'new', credentials: [{ secretData: 'x', credentialData: 'y' }] },
    400,
  ],
  [
    'a credential with the id of an existing one',
    'POST',
    'users',
    { username: 'new', credentials: [{ id: 'of-bob', value: 'secret' }] },
    409,
  ],
  [
    'a credential with an invalid creation date',
    'POST',
    'users',
    { username: 'new', credentials: [{ value: 'x', createdDate: 9e15 }] },
    400,
  ],
  ['an existing user in an unknown group', 'PUT', 'BOB/groups/nowhere', undefined, 404],
  ['an unknown role for a user', 'POST', 'BOB/role-mappings/realm', [{ id: 'none', name: 'none' }], 404],
  ['an unknown role for a group', 'POST', 'GROUP/role-mappings/realm', [{ id: 'none' }], 404],
  ['an unknown role for a composite role', 'POST', 'roles/buyer/composites', [{ id: 'none' }], 404],
  ['role mappings of an unknown client', 'GET', 'BOB/role-mappings/clients/nowhere', undefined, 404],
  ['an unknown credential', 'DELETE', 'BOB/credentials/nowhere', undefined, 404],

  ['an unknown session', 'DELETE', 'sessions/nowhere', undefined, 404],
  ['an unknown default group', 'PUT', 'default-groups/nowhere', undefined, 404],
  ['an unknown parent of a group', 'POST', 'groups/nowhere/children', { name: 'x' }, 404],
  ['a new group with an existing name', 'POST', 'groups', { name: 'staff' }, 409],
  ['a new group with a name that is too long', 'POST', 'groups', { name: LONG }, 400],
  ['a subgroup with a new name that is too long', 'PUT', 'CHILD', { name: VERY_LONG }, 400],
  ['a realm role with a name that is too long', 'POST', 'roles', { name: VERY_LONG }, 400],
  ['a client role with a name that is too long', 'POST', 'CLIENT/roles', { name: LONG }, 400],
  ['a user with a name that is too long', 'POST', 'users', { username: VERY_LONG }, 400],
  ['a client with an id that is too long', 'POST', 'clients', { clientId: 'new', id: VERY_LONG }, 400],
  ['an email in a realm without a mail server', 'PUT', 'ANN/execute-actions-email', ['VERIFY_EMAIL'], 400],
  ['an email to a user without an email address', 'PUT', 'BOB/send-verify-email', undefined, 400],
  ['an email for an unknown client', 'PUT', 'ANN/reset-password-email?client_id=nowhere', undefined, 400],
  ['an email with an unknown required action', 'PUT', 'ANN/execute-actions-email', ['NOTHING'], 400],
  ...['roles', 'CLIENT/roles', 'groups', 'organizations'].map(
    (address): InvalidRequest => [
      'an attribute whose value is not a list',
      'POST',
      address,
      { name: 'new', domains: [{ name: 'new.example' }], attributes: { colour: 'red' } },
      400,
    ],
  ),
  ['a user profile without attributes', 'PUT', 'users/profile', { attributes: [] }, 400],
  [
    'a user profile with an unknown attribute group',
    'PUT',
    'users/profile',
    { attributes: [{ name: 'username' }, { name: 'email' }, { name: 'x', group: 'none' }] },
    400,
  ],
  ['a query parameter first that is not a number', 'GET', 'users?first=x', undefined, 404],
]

test.each(requests)('%s is refused: %s %s', async (_, method, address, body, status) => {
  const fullPath = address === '..' ? '/admin/realms' : toPath(address)
  const url = fullPath.startsWith('/') ? fullPath : `${path}/${fullPath}`
  const response = await call(method, url, body === undefined ? {} : { body })
  expect(response.status, JSON.stringify(response.body)).toBe(status)
  expect((await call('GET', path)).status).toBe(200)
})

test('moving a group below its subgroup returns 400', async () => {
  const body = { id: getId('GROUP'), name: 'staff' }
  expect((await call('POST', `${urls.CHILD}/children`, { body })).status).toBe(400)
})

test('a group path that is too long returns 400', async () => {
  const names = Array.from({ length: 12 }, () => randomBytes(120).toString('hex'))
  let [address, status] = [urls.GROUP!, 201]
  for (const name of names) {
    const response = await call('POST', `${address}/children`, { body: { name } })
    status = response.status
    if (status !== 201) break
    address = new URL(String(response.headers.location)).pathname
  }
  expect(status).toBe(400)
})

test('a negative first and max return the full list', async () => {
  const countRoles = async (query: string) => (await call('GET', `${path}/roles?${query}`)).body.length
  expect(await countRoles('first=-1&max=-1')).toBe(await countRoles(''))
})

test.each(['__proto__', 'constructor', 'toString'])(
  'the name %s, which every JavaScript object has, is ignored in a query and refused as a field',
  async (name) => {
    const { status } = await call('GET', `${path}/roles?${name}=a&${name}=b&first=0`)
    expect(status).toBe(200)
    expect((await call('POST', `${path}/clients`, { body: toObject(name, 'x') })).status).toBe(400)
  },
)

test.each(['constructor', 'toString'])('the attribute %s is stored as any other', async (name) => {
  const role = await create(`${path}/roles`, { name: `with-${name}`, attributes: toObject(name, ['a value']) })
  expect((await call('GET', role)).body.attributes).toEqual(toObject(name, ['a value']))
})

test('an attribute with the name __proto__ is refused', async () => {
  const body = { name: 'with-proto', attributes: toObject('__proto__', ['a value']) }
  const response = await call('POST', `${path}/roles`, { body })
  expect(response).toMatchObject({ status: 400, body: { error: 'The name "__proto__" is not supported.' } })
})

/** Returns an object with one field of its own, even if its name is `__proto__`. */
function toObject(name: string, value: unknown): object {
  return Object.fromEntries([[name, value]])
}
