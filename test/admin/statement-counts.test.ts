// Each operation takes the same number of statements in a realm with one object of each kind and in a realm with a hundred.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { toAddress } from '../support/filled-realm.ts'
import { type Mailbox, openMailbox } from '../support/mailbox.ts'
import { oidcRequests } from '../support/oidc-requests.ts'
import { createRequest } from '../support/operation-requests.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { testService, withoutCounting } from '../support/service.ts'
import { ADMINISTRATOR, CONSOLE, createSizedRealm, type SizedRealm, USER } from '../support/sized-realm.ts'
import { DIRECTORY_ADMIN, startSlapd, type TestDirectory } from '../support/slapd.ts'

/** All operations together: how much one changes depends on the ones before it. Both engines execute the same statements, and only PostgreSQL has waits. */
const testAll = test.runIf(isFullRun && inject('databaseUrl'))

const { app, call } = await testServer()
const { service, statements } = await testService()

let mailbox: Mailbox
let slapd: TestDirectory
let realms: SizedRealm[]
const outboxWorker = service.outboxWorker
beforeAll(async () => {
  mailbox = await openMailbox()
  // Deliveries after an operation would be counted as its statements.
  service.outboxWorker = undefined
  const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'regent@example.org' }
  slapd = await startSlapd({ entries: '' })
  const { dn: bindDn, password: bindCredential } = DIRECTORY_ADMIN
  const directory = { action: 'testAuthentication', connectionUrl: slapd.url, bindDn, bindCredential }
  realms = [
    await createSizedRealm(1, { smtpServer, directory }),
    await createSizedRealm(100, { smtpServer, directory }),
  ]
})
afterAll(async () => {
  service.outboxWorker = outboxWorker
  outboxWorker?.wake()
  await mailbox.close()
  await slapd.remove()
})

/** Operations that remove credentials and sessions, which operations on parts of users need. Only deletions of objects are later. */
const LATE = ['revokeUserConsent', 'disableUserCredentialTypes', 'removeUserTotp', 'logUserOut', 'logOutAllUsers']

/** The operations, sorted so that the objects of each still exist. */
const sortedOperations = operations.toSorted(
  (a, b) => getStage(a) - getStage(b) || (a.method === 'DELETE' ? b.path.length - a.path.length : 0),
)

function getStage({ method, path, operationId }: Operation): number {
  if (LATE.includes(operationId)) return 3 + LATE.indexOf(operationId) / LATE.length
  if (method !== 'DELETE') return method === 'GET' ? 0 : 1
  const parts = `${hideParameters(path)}/`
  return operations.some((operation) => hideParameters(operation.path).startsWith(parts)) ? 4 : 2
}

function hideParameters(path: string): string {
  return path.replace(/\{[^}]+\}/g, '{}')
}

testAll('the large realm has about a hundred rows more than the small one', async () => {
  const ROLE = '/admin/realms/{realm}/roles/{role-name}'
  const CLIENT = '/admin/realms/{realm}/clients/{client-uuid}'
  const lists = [
    ...['users', 'roles', 'clients', 'client-scopes', 'identity-provider/instances', 'events', 'admin-events'],
    ...['organizations', 'organizations/{org-id}/members', 'components', 'workflows', 'authentication/flows'],
    ...['authentication/required-actions', 'authentication/flows/{flowAlias}/executions'],
    ...['groups/{group-id}/children', 'groups/{group-id}/members', 'identity-provider/instances/{alias}/mappers'],
  ].map((list) => `/admin/realms/{realm}/${list}`)
  const listsOfObjects = [
    ...['groups', 'credentials', 'sessions', 'consents', 'federated-identity'].map((list) => `${USER}/${list}`),
    `${USER}/role-mappings/realm`,
    `${USER}/role-mappings/clients/{client-id}`,
    ...['composites', 'users', 'groups'].map((list) => `${ROLE}/${list}`),
    ...['protocol-mappers/models', 'scope-mappings/realm', 'default-client-scopes'].map((list) => `${CLIENT}/${list}`),
    ...['resource', 'scope', 'policy'].map((list) => `${CLIENT}/authz/resource-server/${list}`),
  ]
  for (const list of [...lists, ...listsOfObjects]) {
    const [few, many] = await Promise.all(
      realms.map(async (realm) => (await call('GET', `${toAddress(list, realm)}?max=1000`)).body.length),
    )
    expect(many - few, list).toBeGreaterThanOrEqual(90)
  }
})

// Before the operations of the admin API, some of which remove the sessions and the secret that are used here.
testAll.each(oidcRequests.map((request) => [request.name, request] as const))(
  '%s takes the same number of statements in both realms',
  async (name, { prepare }) => {
    await compareCosts(name, async ({ name: realm }) => {
      const send = await prepare(realm)
      return async () => {
        const { status, body } = await send()
        expect(status, JSON.stringify(body)).toBeLessThan(400)
      }
    })
  },
)

testAll.each(sortedOperations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  '%s takes the same number of statements in both realms',
  async (name, operation) => {
    await compareCosts(name, async (realm) => {
      const token = await logIn(operation, realm)
      // Caches the keys and settings of master, which some operations change.
      await call('GET', '/admin/realms/master')
      const { url, ...request } = createRequest(operation, realm)
      return async () => {
        const { status, body } = await call(operation.method, url, {
          ...request,
          ...(token !== undefined && { token }),
        })
        const hasSuccess = Object.keys(operation.responses).some((described) => Number(described) < 300)
        if (hasSuccess) expect(status, JSON.stringify(body)).toBeLessThan(300)
      }
    })
  },
)

/** Compares the costs of an operation in both realms, and with the documented ones. `prepare` returns the operation in a realm. */
async function compareCosts(
  operation: string,
  prepare: (realm: SizedRealm) => Promise<() => Promise<void>>,
): Promise<void> {
  const costs: OperationCosts[] = []
  for (const realm of realms) {
    const execute = await withoutCounting.run(true, () => prepare(realm))
    const executed = await statements(execute)
    costs.push({ operation, statements: executed.length, waits: executed.waits })
  }
  const [few, many] = costs
  expect(few!.statements).toBeGreaterThan(0)
  expect(many!.statements).toBe(few!.statements)
  checkCosts(many!)
}

/** The statements of an operation, and how often it waits for PostgreSQL. */
interface OperationCosts {
  readonly operation: string
  readonly statements: number
  readonly waits: number
}

const TABLE = join(import.meta.dirname, '..', '..', 'docs', 'statements.md')
const isUpdated = process.env.REGENT_UPDATE_STATEMENTS === 'true'
const newCosts: OperationCosts[] = []
const documentedCosts = readCosts(readFileSync(TABLE, 'utf8'))

/** Compares the costs of an operation with the documented ones. PGlite does not send statements together. */
function checkCosts(costs: OperationCosts): void {
  newCosts.push(costs)
  if (isUpdated) return
  const documented = documentedCosts.find(({ operation }) => operation === costs.operation)
  const message = `update docs/statements.md with "npm run generate:statements", if this is on purpose`
  const { waits = 0 } = documented ?? {}
  expect({ ...costs, waits: service.engine === 'PGlite' ? waits : costs.waits }, message).toEqual(documented)
}

test.runIf(isUpdated)('the table of statements is updated', () => {
  expect(service.engine).toBe('PostgreSQL')
  const rows = newCosts
    .toSorted((a, b) =>
      a.operation.slice(a.operation.indexOf('/')) < b.operation.slice(b.operation.indexOf('/')) ? -1 : 1,
    )
    .map(({ operation, statements, waits }) => `| \`${operation}\` | ${statements} | ${waits} |`)
  const text = readFileSync(TABLE, 'utf8')
  writeFileSync(TABLE, `${text.slice(0, text.indexOf(HEADER) + HEADER.length)}${rows.join('\n')}\n`)
})

const HEADER = '| Operation | Statements | Waits |\n|---|--:|--:|\n'

function readCosts(table: string): OperationCosts[] {
  return [...table.matchAll(/^\| `(.*)` \| (\d+) \| (\d+) \|$/gm)].map(([, operation, statements, waits]) => ({
    operation: operation!,
    statements: Number(statements),
    waits: Number(waits),
  }))
}

/** Returns a token of an administrator of only this realm, so that permissions to grant roles are checked; undefined for operations on all realms. */
async function logIn({ path, operationId }: Operation, { name }: SizedRealm): Promise<string | undefined> {
  if (!path.includes('{realm}')) return undefined
  const form = {
    grant_type: 'password',
    client_id: operationId === 'whoAmI' ? CONSOLE : 'admin-cli',
    username: ADMINISTRATOR,
    password: 'pw',
  }
  const response = await app.inject({
    method: 'POST',
    url: `/realms/${name}/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
  return response.json().access_token
}
