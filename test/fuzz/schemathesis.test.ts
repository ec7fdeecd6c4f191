// Schemathesis generates valid and invalid requests from /openapi.json. No response is a server error, and each conforms to the document.
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

/** The number of requests per operation. */
const EXAMPLES = Number(process.env.REGENT_EXAMPLES ?? 10)
const SEED = process.env.REGENT_SEED ?? '1'

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
]

/** The lists of values by path parameter. */
const valueLists: Readonly<Record<string, string>> = {
  realm: 'realm',
  'user-id': 'users',
  userId: 'users',
  'group-id': 'groups',
  groupId: 'groups',
  'role-name': 'roles',
  'role-id': 'role ids',
  'client-uuid': 'clients',
  'part-client-uuid': 'clients',
  clientUuid: 'clients',
  'client-id': 'clients',
  client: 'client ids',
  credentialId: 'credentials',
  newPreviousCredentialId: 'credentials',
  clientScopeId: 'client scopes',
  credentialScopeName: 'names',
  id: 'names',
  provider: 'identity providers',
  path: 'group paths',
  session: 'sessions',
  locale: 'locales',
  themeType: 'theme types',
  key: 'text keys',
}

/** Creates enough elements that some remain when others are deleted. */
const createMany = <T>(create: (number: number) => T): T[] => Array.from({ length: 20 }, (_, number) => create(number))

describe.skipIf(!hasSchemathesis)(withSchemathesis, () => {
  let mailbox: Mailbox
  beforeAll(async () => {
    mailbox = await openMailbox()
  })
  afterAll(() => mailbox.close())

  test('responses of realm and user operations conform to the OpenAPI document', { timeout: 0 }, async () => {
    const { listen } = await testServer()
    const address = await listen()
    const [status, output] = await runSchemathesis(
      [
        `${address}/openapi.json`,
        ...userTags.flatMap((tag) => ['--include-tag', tag]),
        // Deleting the realm would end all other requests.
        ...['--exclude-operation-id', 'deleteRealm'],
        ...['--checks', checks.join()],
        ...['--phases', 'fuzzing', '--max-examples', String(EXAMPLES), '--seed', SEED],
        ...['--workers', '2', '--warnings', 'off', '--generation-database', 'none', '--continue-on-failure'],
        // A busy machine must not fail a test.
        ...['--request-timeout', '600', '--suppress-health-check', 'all'],
      ],
      await createContent(mailbox.port),
    )
    if (EXAMPLES > 10) console.log(output)
    expect(status, output).toBe(0)
  })
})

/** Creates a realm with objects of every kind, and realms to change. Returns the token and the values for requests. */
async function createContent(smtpPort: string): Promise<SchemathesisSettings> {
  const { call, createRealm } = await testServer()
  const users = createMany((number) => ({
    username: `user-${number}`,
    email: `user-${number}@example.org`,
    enabled: true,
    credentials: [{ type: 'password', value: 'pw' }],
    groups: [`/group-${number}`],
    realmRoles: [`role-${number}`],
    federatedIdentities: [{ identityProvider: 'github', userId: String(number), userName: 'octocat' }],
  }))
  const roles = createMany((number) => ({ name: `role-${number}`, attributes: { colour: ['red'] } }))
  const path = await createRealm({
    eventsEnabled: true,
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    editUsernameAllowed: true,
    smtpServer: { host: '127.0.0.1', port: smtpPort, from: 'realm@example.org' },
    identityProviders: [{ alias: 'github', providerId: 'github', config: { clientId: 'a', clientSecret: 'b' } }],
    clients: ['shop', 'portal'].map((clientId) => ({ clientId, redirectUris: ['*'] })),
    roles: { realm: roles, client: { shop: roles, portal: roles } },
    groups: createMany((number) => ({
      name: `group-${number}`,
      subGroups: [{ name: 'below' }],
      realmRoles: ['role-0'],
    })),
    localizationTexts: { en: { greeting: 'Hello' } },
    users,
  })
  const list = async (collection: string, member = 'id'): Promise<string[]> =>
    (await call('GET', `${path}/${collection}`)).body.map((element: Record<string, string>) => element[member])
  const clients = [...(await list('clients?clientId=shop')), ...(await list('clients?clientId=portal'))]
  const userIds = await list('users')
  const spareRealms: string[] = []
  while (spareRealms.length < EXAMPLES / 2) spareRealms.push(await createRealm())
  const lists = {
    realm: [getLastSegment(path)],
    'spare realms': spareRealms.map(getLastSegment),
    users: userIds,
    groups: await list('groups'),
    'group paths': (await list('groups', 'path')).map((path) => path.slice(1)),
    roles: roles.map(({ name }) => name),
    'role ids': [...(await list('roles?max=10')), ...(await list(`clients/${clients[0]}/roles?max=10`))],
    clients,
    'client ids': ['shop', 'portal'],
    credentials: (await Promise.all(userIds.map((id) => list(`users/${id}/credentials`)))).flat(),
    'client scopes': await list('client-scopes'),
    'identity providers': ['github'],
    sessions: ['a-session'],
    locales: ['en', 'de'],
    'theme types': ['account', 'login'],
    'text keys': ['greeting', 'farewell'],
    names: [...createMany(() => newName('new')), ...roles.map(({ name }) => name), 'group-0', 'user-0', 'é', ''],
    passwords: ['pw', 'another password', ''],
  }
  const parameters = operations.filter(({ tag }) => userTags.includes(tag)).flatMap(({ path }) => listParameters(path))
  return {
    token: await createDayToken(),
    lists,
    values: {
      ...Object.fromEntries([...new Set(parameters)].map((name) => [`path.${name}`, [getListName(name), 0.9]])),
      'path.realm': ['realm', 1],
      'query.client_id': ['client ids', 0.7],
      'body.name': ['names', 0.7],
      'body.username': ['names', 0.7],
      'body.value': ['passwords', 0.7],
      'body.[*].id': ['role ids', 0.7],
    },
    valuesOf: {
      'POST /admin/realms': { 'body.realm': ['names', 0.7] },
      'PUT /admin/realms/{realm}': { 'path.realm': ['spare realms', 1], 'body.realm': ['spare realms', 0.9] },
    },
  }
}

function getListName(parameter: string): string {
  const list = valueLists[parameter]
  if (!list) throw new Error(`no values for path parameter {${parameter}}: add it to valueLists`)
  return list
}

const getLastSegment = (path: string): string => path.split('/').at(-1)!

/** Returns an administrator's token that is valid for a day and belongs to no session. */
async function createDayToken(): Promise<string> {
  const { call, create } = await testServer()
  const master = '/admin/realms/master'
  const clientId = newName('fuzz')
  const client = await create(`${master}/clients`, {
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
