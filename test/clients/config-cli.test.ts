// keycloak-config-cli applies a realm file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { hasConfigCli, runConfigCli, withConfigCli } from '../support/config-cli.ts'
import { readRealm } from '../support/read-realm.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const realmFile = (realm: string) => ({
  realm,
  enabled: true,
  internationalizationEnabled: true,
  supportedLocales: ['de', 'en'],
  roles: {
    realm: [{ name: 'staff', composites: { client: { shop: ['buyer'] } } }],
    client: { shop: [{ name: 'buyer' }] },
  },
  clientScopes: [{ name: 'calendar', protocol: 'openid-connect' }],
  clients: [
    {
      clientId: 'shop',
      secret: 'a secret of the shop',
      serviceAccountsEnabled: true,
      authorizationServicesEnabled: true,
      redirectUris: ['https://shop.example.org/*'],
      protocolMappers: [
        {
          name: 'full name',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-full-name-mapper',
          config: { 'id.token.claim': 'true', 'access.token.claim': 'false', 'userinfo.token.claim': 'true' },
        },
      ],
      authorizationSettings: {
        resources: [{ name: 'Safe', uris: ['/safe'] }],
        policies: [{ name: 'Staff', type: 'role', config: { roles: '[{"id":"staff","required":false}]' } }],
      },
    },
  ],
  groups: [{ name: 'customers', realmRoles: ['staff'], subGroups: [{ name: 'young' }] }],
  users: [
    { username: 'anna', email: 'anna@example.org', attributes: { locale: ['de'] }, groups: ['/customers/young'] },
  ],
  identityProviders: [
    {
      alias: 'partner',
      providerId: 'oidc',
      config: {
        clientId: 'c',
        clientSecret: 's',
        authorizationUrl: 'https://p.example.org/a',
        tokenUrl: 'https://p.example.org/t',
      },
    },
  ],
  authenticationFlows: [
    {
      alias: 'shop browser',
      providerId: 'basic-flow',
      topLevel: true,
      builtIn: false,
      authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE', priority: 0 }],
    },
  ],
  browserFlow: 'shop browser',
})

const operationNames = new Set(operations.map(({ method, path }) => `${method} ${path}`))
const hasOperation = (path: string) => operationNames.has(`GET /admin/realms/{realm}${path.replace(/^\/$/, '')}`)

test.runIf(hasConfigCli)(
  `${withConfigCli} applies a realm file, and a second run changes nothing`,
  { timeout: 300_000 },
  async () => {
    const server = await testServer()
    const url = await server.listen()
    const realm = newName()
    const folder = await mkdtemp(join(tmpdir(), 'regent-config-cli-'))
    const file = join(folder, 'realm.json')
    await writeFile(file, JSON.stringify(realmFile(realm)))
    const read = () => readRealm(realm, (address) => server.call('GET', address), hasOperation)
    const [status, output] = await runConfigCli(url, file)
    expect(status, output).toBe(0)
    const before = await read()
    expect(before['/users']!.anna).toMatchObject({ attributes: { locale: ['de'] } })
    const [secondStatus, secondOutput] = await runConfigCli(url, file, '--import.cache.enabled=false')
    expect(secondStatus, secondOutput).toBe(0)
    expect(await read()).toEqual(before)
    await rm(folder, { recursive: true })
  },
)
