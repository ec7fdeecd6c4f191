// Invalid requests return 400, 404 or 409. Keycloak returns 500 for most of them, and some leave a realm that it cannot read.
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

let path: string
/** The URLs of existing objects, by their placeholder in the rows below. */
const urls: Record<string, string> = {}
beforeAll(async () => {
  path = await realm({ editUsernameAllowed: true })
  urls.ANN = await make(`${path}/users`, { username: 'ann', enabled: true, email: 'ann@example.org' })
  urls.BOB = await make(`${path}/users`, {
    username: 'bob',
    enabled: true,
    credentials: [{ id: 'of-bob', value: 'secret' }],
  })
  urls.CLIENT = await make(`${path}/clients`, { clientId: 'shop' })
  urls.GROUP = await make(`${path}/groups`, { name: 'staff' })
  urls.CHILD = new URL(
    String((await call('POST', `${urls.GROUP}/children`, { body: { name: 'sales' } })).headers.location),
  ).pathname
  await make(`${path}/roles`, { name: 'buyer' })
})

const idOf = (word: string) => urls[word]!.split('/').at(-1)!
const addressOf = (way: string) => way.replace(/^(ANN|BOB|CLIENT|GROUP|CHILD)/, (word) => urls[word]!)

const LONG = 'x'.repeat(256)
/** A text that is too long for an index, and cannot be compressed. */
const VERY_LONG = randomBytes(5_000).toString('hex')
const flows = ['browser', 'registration', 'directGrant', 'resetCredentials', 'clientAuthentication', 'firstBrokerLogin']

/** An invalid request with its title, and the expected status. */
type Row = readonly [title: string, method: string, way: string, body: unknown, status: number]

const ofRealm = (title: string, body: object, status = 400): Row => [title, 'PUT', '', body, status]
const rows: Row[] = [
  ...flows.map((flow) => ofRealm(`an unknown flow: ${flow}`, { [`${flow}Flow`]: 'nowhere' })),
  ofRealm('an unknown choice', { sslRequired: 'sometimes' }),
  ofRealm('an unknown algorithm', { defaultSignatureAlgorithm: 'ROT13' }),
  ofRealm('an unknown strategy', { bruteForceStrategy: 'NONE' }),
  ofRealm('an unknown password policy', { passwordPolicy: 'nothing(1)' }),
  ofRealm('a profile that no policy can name', { clientPolicies: { policies: [{ name: 'p', profiles: ['none'] }] } }),
  ofRealm('two profiles of one name', { clientProfiles: { profiles: [{ name: 'a' }, { name: 'a' }] } }),
  ofRealm('a number of more than 32 bits', { notBefore: 99_999_999_999 }),
  ofRealm('a negative count', { failureFactor: -1 }),
  ofRealm('a negative time', { maxDeltaTimeSeconds: -1 }),
  ofRealm('an attribute that is no number', { attributes: { parRequestUriLifespan: 'x' } }),
  ofRealm('an attribute whose number is too large', { attributes: { clientSessionIdleTimeout: '9'.repeat(20) } }),
  ofRealm('a time for one kind of link that is none', {
    attributes: { 'actionTokenGeneratedByUserLifespan.verify-email': 'x' },
  }),
  ofRealm('a name without an address', { realm: '..' }),
  ofRealm('a name that is too long', { realm: LONG }),
  ofRealm('a mail server without a sender', { smtpServer: { host: 'mail.example' } }),
  ['a new realm without an address', 'POST', '..', { realm: '.' }, 400],
  ['a new realm of an unknown flow', 'POST', '..', { realm: 'new-1', browserFlow: 'nowhere' }, 400],
  [
    'a new realm with a user of no group',
    'POST',
    '..',
    { realm: 'new-2', users: [{ username: 'a', groups: ['/no'] }] },
    400,
  ],
  [
    'a new realm with a role of nothing',
    'POST',
    '..',
    { realm: 'new-3', roles: { client: { no: [{ name: 'x' }] } } },
    400,
  ],
  ['an unknown type of event to look for', 'GET', 'events?type=NOTHING', undefined, 400],
  ['an unknown type of operation to look for', 'GET', 'admin-events?operationTypes=NOTHING', undefined, 400],
  ['a day that is none', 'GET', 'events?dateFrom=2020-13-01', undefined, 400],
  ['an unknown group of a new user', 'POST', 'users', { username: 'new', groups: ['/nowhere'] }, 400],
  ['a name that is taken', 'POST', 'users', { username: 'ANN' }, 409],
  ['an address that is taken', 'PUT', 'BOB', { email: 'ann@example.org' }, 409],
  ['a credential without a value', 'POST', 'users', { username: 'new', credentials: [{ type: 'password' }] }, 400],
  [
    'a credential that is no JSON',
    'POST',
    'users',
    { username: 'new', credentials: [{ secretData: 'x', credentialData: 'y' }] },
    400,
  ],
  [
    'the credential of another',
    'POST',
    'users',
    { username: 'new', credentials: [{ id: 'of-bob', value: 'secret' }] },
    409,
  ],
  [
    'a credential of no time',
    'POST',
    'users',
    { username: 'new', credentials: [{ value: 'x', createdDate: 9e15 }] },
    400,
  ],
  ['a user of an unknown group', 'PUT', 'BOB/groups/nowhere', undefined, 404],
  ['an unknown role of a user', 'POST', 'BOB/role-mappings/realm', [{ id: 'none', name: 'none' }], 404],
  ['an unknown role of a group', 'POST', 'GROUP/role-mappings/realm', [{ id: 'none' }], 404],
  ['an unknown role in a role', 'POST', 'roles/buyer/composites', [{ id: 'none' }], 404],
  ['roles of an unknown client', 'GET', 'BOB/role-mappings/clients/nowhere', undefined, 404],
  ['an unknown credential', 'DELETE', 'BOB/credentials/nowhere', undefined, 404],

  ['an unknown session', 'DELETE', 'sessions/nowhere', undefined, 404],
  ['an unknown default group', 'PUT', 'default-groups/nowhere', undefined, 404],
  ['an unknown parent of a group', 'POST', 'groups/nowhere/children', { name: 'x' }, 404],
  ['a group that is taken', 'POST', 'groups', { name: 'staff' }, 409],
  ['a group of a name that is too long', 'POST', 'groups', { name: LONG }, 400],
  ['a group that takes a name that is too long', 'PUT', 'CHILD', { name: VERY_LONG }, 400],
  ['a role of a name that is too long', 'POST', 'roles', { name: VERY_LONG }, 400],
  ['a role of a client of such a name', 'POST', 'CLIENT/roles', { name: LONG }, 400],
  ['a user of such a name', 'POST', 'users', { username: VERY_LONG }, 400],
  ['an id that is too long', 'POST', 'clients', { clientId: 'new', id: VERY_LONG }, 400],
  ['a mail without a server', 'PUT', 'ANN/execute-actions-email', ['VERIFY_EMAIL'], 400],
  ['a mail to nobody', 'PUT', 'BOB/send-verify-email', undefined, 400],
  ['a mail for an unknown client', 'PUT', 'ANN/reset-password-email?client_id=nowhere', undefined, 400],
  ['a mail that asks for what nobody can do', 'PUT', 'ANN/execute-actions-email', ['NOTHING'], 400],
  ['a profile without names', 'PUT', 'users/profile', { attributes: [] }, 400],
  [
    'a profile of an unknown group',
    'PUT',
    'users/profile',
    { attributes: [{ name: 'username' }, { name: 'email' }, { name: 'x', group: 'none' }] },
    400,
  ],
  ['a page that is none', 'GET', 'users?first=x', undefined, 404],
]

test.each(rows)('%s: %s %s', async (_what, method, way, body, status) => {
  const address = way === '..' ? '/admin/realms' : addressOf(way)
  const url = address.startsWith('/') ? address : `${path}/${address}`
  const response = await call(method, url, body === undefined ? {} : { body })
  expect(response.status, JSON.stringify(response.body)).toBe(status)
  expect((await call('GET', path)).status).toBe(200)
})

test('a group is not moved below itself', async () => {
  const body = { id: idOf('GROUP'), name: 'staff' }
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

test('a negative page returns the same as no page', async () => {
  const names = async (query: string) => (await call('GET', `${path}/roles?${query}`)).body.length
  expect(await names('first=-1&max=-1')).toBe(await names(''))
})
