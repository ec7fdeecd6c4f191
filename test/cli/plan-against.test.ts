// `regent plan --against`: realm files that a server has imported do not differ from it, but for what the server itself changes. With a Keycloak
// server in REGENT_REFERENCE, the files are imported there; otherwise, by the admin API of Regent.
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { afterAll, expect, test } from 'vitest'
import { type Representation, readObject, readObjects } from '../../src/kinds/json.ts'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { type Document, deriveDocument } from '../../src/realm-file/yaml/document.ts'
import { planAgainst } from '../../src/reconcile/import/plan-against.ts'
import { collectNewValues } from '../../src/reconcile/model/action.ts'
import { AdminServer } from '../../src/reconcile/read/server/admin-server.ts'
import { deleteRealm } from '../../src/service/admin-api/realms/realms.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { callAsAdmin, createCommandFolder } from '../support/cli.ts'
import { takeSample } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newName, openNewService } from '../support/service.ts'
import { createSource } from '../support/sources.ts'

const reference = process.env.REGENT_REFERENCE
const url = reference ?? (await (await testServer()).listen())
const server = reference === undefined ? 'a Regent server' : 'a Keycloak server'

const folder = new URL('../../../shared/data/realms/', import.meta.url)
const example = new URL('../../examples/acme.yaml', import.meta.url)
const names = ['acme-apps.yaml', 'acme-internal.yaml', 'benchmark.yaml', 'fgap-v2.json', 'master-export-26.5.5.json']
names.push('moped.json', 'rest-authz.json', 'servlet-authz-client.json', 'servlet-saml.json', 'userprofile.yaml')
const files = [example, ...names.map((file) => new URL(file, folder))]
  .filter((file) => existsSync(file))
  .map((file) => [file.pathname.split('/').at(-1)!, file] as const)

/** Values of the variables that have no default. */
const env = Object.fromEntries(
  ['ACME_AZURE_AAD_TENANT_URL', 'APPS_FRONTEND_URL_GREETME', 'APPS_FRONTEND_URL_MINISPA', 'KEYCLOAK_FRONTEND_URL'].map(
    (variable) => [variable, `https://${variable.toLowerCase().replaceAll('_', '-')}.example.org`],
  ),
)
// acme-apps.yaml has an address with http.
env.SSL_REQUIRED = 'NONE'

/** The status of an import, and the fields that differ afterwards, since the server changes them by itself. */
interface ImportResult {
  readonly status: number
  readonly differences?: readonly string[]
}

const refused: ImportResult = { status: 400 }
/** The results of Keycloak that are not an import without differences. */
const keycloakResults: Readonly<Record<string, ImportResult>> = {
  // It ignores userSetupAllowed.
  'acme-apps.yaml': {
    status: 201,
    differences: ['authenticationFlow Custom Post Broker Login: authenticationExecutions'],
  },
  // Servers with the feature admin-fine-grained-authz:v1 ignore it.
  'fgap-v2.json': { status: 201, differences: ['realm: adminPermissionsEnabled'] },
  // It sets this attribute of a client of this name.
  'master-export-26.5.5.json': { status: 201, differences: ['client master-realm: attributes.realm_client'] },
  // The formats of keycloak-config-cli: it answers "unable to read contents from stream".
  'moped.json': refused,
  'userprofile.yaml': refused,
}

const credentials = ['--from-user', 'admin', '--from-password', 'admin']
const created: string[] = []
const service = await openNewService()
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const cli = await createCommandFolder()
afterAll(async () => {
  await cli.remove()
  for (const realm of created) await callAsAdmin(url, { method: 'DELETE', path: `/${realm}` })
  await service.close()
})

/** Creates a realm on the server. Returns the status. */
async function importRealm(body: Representation): Promise<number> {
  const { status } = await callAsAdmin(url, { method: 'POST', path: '', body })
  if (status === 201) created.push(String(body.realm))
  return status
}

/** Returns the documents of a file with a new name of the realm. */
function readDocuments(file: URL, realm: string): Document[] {
  return createSource([readFileSync(file, 'utf8')], file.pathname.split('/').at(-1)!).documents.map((document) => {
    const replaced = substituteVariables(document, { env, readFile: undefined, isAllowed: () => true })
    return deriveDocument(replaced, { ...(replaced.value as Representation), realm })
  })
}

/** Returns the client scopes of a new realm that a realm does not declare. A server gives a realm with declared client scopes only these. */
async function listMissingScopes({ clientScopes, keycloakVersion }: Representation): Promise<Representation[]> {
  if (clientScopes === undefined || keycloakVersion !== undefined) return []
  const realm = newName()
  await importRealm({ realm })
  const { body: scopes } = await callAsAdmin<Representation[]>(url, { path: `/${realm}/client-scopes` })
  // Keycloak: the ids of their mappers exist once per server.
  await callAsAdmin(url, { method: 'DELETE', path: `/${realm}` })
  const declared = new Set(readObjects(clientScopes).map((scope) => scope.name))
  return scopes.filter((scope) => !declared.has(scope.name)).map(({ id: _, ...scope }) => scope)
}

test.each(takeSample(files))(
  `the plan of %s against ${server} that imported it has no changes but those of the server`,
  async (file, path) => {
    const realm = newName()
    const documents = readDocuments(path, realm)
    const declared = readObject(documents[0]!.value)
    const missing = await listMissingScopes(declared)
    const clientScopes = missing.length ? { clientScopes: [...readObjects(declared.clientScopes), ...missing] } : {}
    const result: ImportResult = { status: await importRealm({ ...declared, ...clientScopes }) }
    const expected: ImportResult =
      reference === undefined ? { status: 201 } : (keycloakResults[file] ?? { status: 201 })
    if (result.status !== 201) return expect(result).toEqual(expected)
    const user = { username: 'admin', password: 'admin' }
    const outcome = await planAgainst(
      service,
      { name: file, revision: 'file', documents, files: [] },
      { server: new AdminServer(url, { realm: 'master', client: 'admin-cli', user }), url, strict: undefined },
    )
    const differences = outcome.realms
      .flatMap(({ plan }) => plan.actions)
      .map(
        ({ kind, key, changes }) =>
          `${kind === 'realm' ? kind : `${kind} ${key}`}: ${Object.keys(collectNewValues(changes))}`,
      )
    expect({ ...result, ...(differences.length && { differences }) }).toEqual(expected)
    // The next case needs another copy of this realm.
    await service.write(SYSTEM, { realm, withMaster: true }, deleteRealm)
  },
  60_000,
)

test('plan --against shows changes without a store, and neither masked secrets nor undeclared objects differ', async () => {
  const realm = newName()
  const smtpServer = { host: 'mail.example.org', from: 'a@example.org', auth: 'true', user: 'u', password: 'first' }
  const clients = [{ clientId: 'web', secret: 'a-secret' }, { clientId: 'other' }]
  await importRealm({ realm, displayName: 'Old', smtpServer, clients, users: [{ username: 'ann' }] })
  const before = (await callAsAdmin(url, { method: 'POST', path: `/${realm}/partial-export?exportClients=true` })).body
  const document = {
    realm,
    displayName: 'New',
    smtpServer: { ...smtpServer, password: 'second' },
    clients: [{ clientId: 'web', secret: 'a-secret' }],
    users: [{ username: 'ann', credentials: [{ type: 'password', value: 'other' }] }, { username: 'bob' }],
  }
  await writeFile(join(cli.folder, 'realm.yaml'), dump(document))
  const plan = await cli.run('plan', 'realm.yaml', '--against', `${url}/`, ...credentials, '--detailed-exitcode')
  expect(plan.code, plan.err).toBe(2)
  expect(plan.out).toMatch(/displayName: Old → New/)
  expect(plan.out).toMatch(/\+ user bob/)
  expect(plan.out).toContain('Plan: 1 to create, 1 to update, 0 to delete')
  expect(plan.out).toContain(`realm ${realm}: not compared, since the server does not return it: smtpServer.password`)
  expect(plan.out).toContain('user ann: not compared, since the server does not return it: credentials')
  expect(plan.out).toContain('that the files do not declare are not compared')
  expect(existsSync(join(cli.folder, 'data'))).toBe(false)
  const after = await callAsAdmin(url, { method: 'POST', path: `/${realm}/partial-export?exportClients=true` })
  expect(after.body).toEqual(before)

  const changed = { ...document, clients: [{ clientId: 'web', secret: 'another-secret' }] }
  await writeFile(join(cli.folder, 'realm.yaml'), dump(changed))
  const json = await cli.run('plan', 'realm.yaml', '--against', url, ...credentials, '--output', 'json')
  expect(json.out).not.toContain('another-secret')
  expect(JSON.parse(json.out).realms[0].plan.actions).toContainEqual(
    expect.objectContaining({ kind: 'client', key: ['web'], operation: 'update' }),
  )
}, 60_000)

test('plan --against shows a realm that the server does not have as new', async () => {
  await writeFile(join(cli.folder, 'new.yaml'), `realm: ${newName()}\n`)
  const plan = await cli.run('plan', 'new.yaml', '--against', url, ...credentials)
  expect(plan.code, plan.err).toBe(0)
  expect(plan.out).toMatch(/has no realm realm-\w+\. This is the plan for a new one\./)
  expect(plan.out).toMatch(/^realm realm-\w+ \(new\)/)
}, 60_000)

test('plan --against requires no approval of changes that would need one here', async () => {
  const realm = newName()
  await importRealm({ realm, users: [{ username: 'ann' }] })
  const users = [{ username: 'ann', clientRoles: { 'realm-management': ['realm-admin'] } }]
  await writeFile(join(cli.folder, 'realm.yaml'), dump({ realm, users }))
  const plan = await cli.run('plan', 'realm.yaml', '--against', url, ...credentials)
  expect(plan.code, plan.err).toBe(0)
  expect(plan.out).toMatch(/clientRoles: \+realm-management\/realm-admin/)
  expect(plan.out).not.toContain('approval')
  expect(plan.out).not.toContain('grants admin permissions')
}, 60_000)

test('plan --against refuses a store and settings of a source, and needs credentials that the server accepts', async () => {
  await writeFile(join(cli.folder, 'new.yaml'), `realm: ${newName()}\n`)
  const run = (...args: string[]) => cli.run('plan', 'new.yaml', '--against', url, ...args)
  const fails = (message: string) => ({ code: 1, out: '', err: expect.stringContaining(message) })
  expect(await run(...credentials, '--data', 'data')).toEqual(fails('Pass --against or --data, not both.'))
  expect(await run(...credentials, '--save')).toEqual(fails('Pass --against or --save, not both.'))
  const settings = [
    ['--prune', 'all'],
    ['--drift', 'report'],
    ['--ownership', 'warn'],
    ['--max-deletions', '1'],
  ]
  for (const [name, value] of [...settings, ['--max-deletions-share', '0.1']])
    expect(await run(...credentials, name!, value!)).toEqual(fails(`Pass --against or ${name}, not both.`))
  expect(await run()).toEqual(fails('Pass --from-user and --from-password'))
  expect(await run('--from-user', 'admin', '--from-password', 'wrong')).toEqual(fails('admin cannot log in at'))
}, 60_000)
