// A realm file that keycloak-config-cli applies: it is accepted, and applied again it changes nothing.
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
  groups: [{ name: 'people', realmRoles: ['staff'], subGroups: [{ name: 'young' }] }],
  users: [{ username: 'anna', email: 'anna@example.org', attributes: { locale: ['de'] }, groups: ['/people/young'] }],
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
      alias: 'our browser',
      providerId: 'basic-flow',
      topLevel: true,
      builtIn: false,
      authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE', priority: 0 }],
    },
  ],
  browserFlow: 'our browser',
})

const present = new Set(operations.map(({ method, path }) => `${method} ${path}`))
const isThere = (path: string) => present.has(`GET /admin/realms/{realm}${path.replace(/^\/$/, '')}`)

test.runIf(hasConfigCli)(
  `${withConfigCli} a realm file is applied, and applied again it changes nothing`,
  { timeout: 300_000 },
  async () => {
    const server = await testServer()
    const url = await server.listen()
    const realm = newName()
    const folder = await mkdtemp(join(tmpdir(), 'regent-config-cli-'))
    const file = join(folder, 'realm.json')
    await writeFile(file, JSON.stringify(realmFile(realm)))
    const read = () => readRealm(realm, (address) => server.call('GET', address), isThere)
    const [status, said] = await runConfigCli(url, file)
    expect(status, said).toBe(0)
    const before = await read()
    expect(before['/users']!.anna).toMatchObject({ attributes: { locale: ['de'] } })
    const [again, saidAgain] = await runConfigCli(url, file, '--import.cache.enabled=false')
    expect(again, saidAgain).toBe(0)
    expect(await read()).toEqual(before)
    await rm(folder, { recursive: true })
  },
)
