// Schemathesis makes requests from /openapi.json, right ones and wrong ones: no answer is a fault of the server, and each
// is what the document says.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { listParameters } from '../../src/http/operation.ts'
import { type Mailbox, openMailbox } from '../support/mailbox.ts'
import {
  hasSchemathesis,
  runSchemathesis,
  type SchemathesisSettings,
  withSchemathesis,
} from '../support/schemathesis.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { userTags } from '../support/user-tags.ts'

/** How many requests per operation. */
const EXAMPLES = Number(process.env.REGENT_EXAMPLES ?? 10)
const SEED = process.env.REGENT_SEED ?? '1'

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

/** What a parameter of a path names. */
const meanings: Readonly<Record<string, string>> = {
  realm: 'realm',
  'user-id': 'users',
  userId: 'users',
  'group-id': 'groups',
  groupId: 'groups',
  'role-name': 'roles',
  'role-id': 'ids of roles',
  'client-uuid': 'clients',
  'part-client-uuid': 'clients',
  clientUuid: 'clients',
  'client-id': 'clients',
  client: 'names of clients',
  credentialId: 'credentials',
  newPreviousCredentialId: 'credentials',
  clientScopeId: 'client scopes',
  provider: 'identity providers',
  path: 'paths of groups',
  session: 'sessions',
  locale: 'languages',
  key: 'keys of texts',
}

/** Enough to delete some and to have some left. */
const many = <T>(make: (number: number) => T): T[] => Array.from({ length: 20 }, (_, number) => make(number))

describe.skipIf(!hasSchemathesis)(withSchemathesis, () => {
  let mailbox: Mailbox
  beforeAll(async () => {
    mailbox = await openMailbox()
  })
  afterAll(() => mailbox.close())

  test('what is asked of realms and people is answered as it is described', { timeout: 0 }, async () => {
    const { listen } = await testServer()
    const address = await listen()
    const [status, said] = await runSchemathesis(
      [
        `${address}/openapi.json`,
        ...userTags.flatMap((tag) => ['--include-tag', tag]),
        // What is fuzzed would be gone.
        ...['--exclude-operation-id', 'deleteRealm'],
        ...['--checks', checks.join()],
        ...['--phases', 'fuzzing', '--max-examples', String(EXAMPLES), '--seed', SEED],
        ...['--workers', '2', '--warnings', 'off', '--generation-database', 'none', '--continue-on-failure'],
        // A busy machine must not fail a test.
        ...['--request-timeout', '600', '--suppress-health-check', 'all'],
      ],
      await fill(mailbox.port),
    )
    if (EXAMPLES > 10) console.log(said)
    expect(status, said).toBe(0)
  })
})

/** Makes what is asked for: a realm with some of everything, and realms to change. */
async function fill(smtpPort: string): Promise<SchemathesisSettings> {
  const { call, realm } = await testServer()
  const users = many((number) => ({
    username: `person-${number}`,
    email: `person-${number}@example.org`,
    enabled: true,
    credentials: [{ type: 'password', value: 'pw' }],
    groups: [`/group-${number}`],
    realmRoles: [`role-${number}`],
    federatedIdentities: [{ identityProvider: 'elsewhere', userId: String(number), userName: 'somebody' }],
  }))
  const roles = many((number) => ({ name: `role-${number}`, attributes: { colour: ['red'] } }))
  const path = await realm({
    eventsEnabled: true,
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    editUsernameAllowed: true,
    smtpServer: { host: '127.0.0.1', port: smtpPort, from: 'realm@example.org' },
    identityProviders: [{ alias: 'elsewhere', providerId: 'github', config: { clientId: 'a', clientSecret: 'b' } }],
    clients: ['one', 'two'].map((clientId) => ({ clientId, redirectUris: ['*'] })),
    roles: { realm: roles, client: { one: roles, two: roles } },
    groups: many((number) => ({ name: `group-${number}`, subGroups: [{ name: 'below' }], realmRoles: ['role-0'] })),
    localizationTexts: { en: { greeting: 'Hello' } },
    users,
  })
  const list = async (what: string, member = 'id'): Promise<string[]> =>
    (await call('GET', `${path}/${what}`)).body.map((one: Record<string, string>) => one[member])
  const clients = [...(await list('clients?clientId=one')), ...(await list('clients?clientId=two'))]
  const people = await list('users')
  const spare: string[] = []
  while (spare.length < EXAMPLES / 2) spare.push(await realm())
  const lists = {
    realm: [nameIn(path)],
    'spare realms': spare.map(nameIn),
    users: people,
    groups: await list('groups'),
    'paths of groups': (await list('groups', 'path')).map((path) => path.slice(1)),
    roles: roles.map(({ name }) => name),
    'ids of roles': [...(await list('roles?max=10')), ...(await list(`clients/${clients[0]}/roles?max=10`))],
    clients,
    'names of clients': ['one', 'two'],
    credentials: (await Promise.all(people.map((id) => list(`users/${id}/credentials`)))).flat(),
    'client scopes': await list('client-scopes'),
    'identity providers': ['elsewhere'],
    sessions: ['a-session'],
    languages: ['en', 'de'],
    'keys of texts': ['greeting', 'farewell'],
    names: [...many(() => newName('made')), ...roles.map(({ name }) => name), 'group-0', 'person-0', 'é', ''],
    passwords: ['pw', 'another one', ''],
  }
  const asked = operations.filter(({ tag }) => userTags.includes(tag)).flatMap(({ path }) => listParameters(path))
  return {
    token: await lastingToken(),
    lists,
    values: {
      ...Object.fromEntries([...new Set(asked)].map((name) => [`path.${name}`, [listOf(name), 0.9]])),
      'path.realm': ['realm', 1],
      'query.client_id': ['names of clients', 0.7],
      'body.name': ['names', 0.7],
      'body.username': ['names', 0.7],
      'body.value': ['passwords', 0.7],
      'body.[*].id': ['ids of roles', 0.7],
    },
    valuesOf: {
      'POST /admin/realms': { 'body.realm': ['names', 0.7] },
      'PUT /admin/realms/{realm}': { 'path.realm': ['spare realms', 1], 'body.realm': ['spare realms', 0.9] },
    },
  }
}

function listOf(parameter: string): string {
  const list = meanings[parameter]
  if (!list) throw new Error(`what {${parameter}} names is not known: add it to meanings`)
  return list
}

const nameIn = (path: string): string => path.split('/').at(-1)!

/** A token of an administrator that no session can end, and that lasts for a day. */
async function lastingToken(): Promise<string> {
  const { call, make } = await testServer()
  const master = '/admin/realms/master'
  const clientId = newName('fuzz')
  const client = await make(`${master}/clients`, {
    clientId,
    secret: 'secret',
    serviceAccountsEnabled: true,
    attributes: { 'access.token.lifespan': '86400' },
  })
  const { id } = (await call('GET', `${client}/service-account-user`)).body
  const admin = (await call('GET', `${master}/roles/admin`)).body
  await call('POST', `${master}/users/${id}/role-mappings/realm`, { body: [admin] })
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: 'secret' }
  const { body } = await call('POST', '/realms/master/protocol/openid-connect/token', {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  return body.access_token
}
