// The content of a realm after an import, and of a new realm, compared with Keycloak. Its responses were recorded with
// scripts/record-imports.ts. Differences are listed in imports/differences.json.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import { kinds } from '../../src/kinds/index.ts'
import { takeSample } from '../support/property-options.ts'
import { type RealmResponses, readRealm } from '../support/read-realm.ts'
import { readImport, realmImports } from '../support/realm-imports.ts'
import {
  type DifferencePosition,
  expandResponses,
  findDifferences,
  type ResponseDifference,
} from '../support/response-differences.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

/** A listed difference of some imports. Without `object` or `field` it covers all objects or fields. */
interface ListedDifference extends Partial<DifferencePosition> {
  readonly imports: readonly string[]
  readonly operation: string
  readonly reason: string
}

const recorded = <T>(name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'imports', `${name}.json`), 'utf8')) as T
const listedDifferences = recorded<ListedDifference[]>('differences')
const newRealmResponses = recorded<RealmResponses>('new-realm')
const operationNames = new Set(operations.map(({ method, path }) => `${method} ${path}`))
const hasOperation = (path: string) => operationNames.has(`GET /admin/realms/{realm}${path.replace(/^\/$/, '')}`)

const isCovered = (entry: ListedDifference, { operation, object, field }: ResponseDifference) =>
  entry.operation === operation &&
  (entry.object ?? object) === object &&
  (entry.field === undefined || field === entry.field || field.startsWith(`${entry.field}.`))

const text = ({ operation, object, field, expected, actual }: ResponseDifference) =>
  `${operation} ${object} ${field}: ${short(expected)} expected, got ${short(actual)}`

const short = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 200)

test.for(takeSample(Object.keys(realmImports)))(
  '%s: the realm has the same content as in Keycloak',
  { timeout: 300_000 },
  async (name, { skip }) => {
    const realm = newName()
    const content = readImport(name, realm)
    if (!content) return skip()
    // Regent refuses legacy fields that it does not support.
    for (const field of Object.keys(kinds.realm.fields)) if (kinds.realm.fields[field]!.legacy) delete content[field]
    const server = await testServer()
    await server.create('/admin/realms', content)
    const responses = await readRealm(realm, (address) => server.call('GET', address), hasOperation)
    const differences = findDifferences(
      name === 'new-realm' ? newRealmResponses : expandResponses(newRealmResponses, recorded(name)),
      responses,
    )
    const expected = listedDifferences.filter(
      ({ imports, operation }) => imports.includes(name) && responses[operation],
    )
    const unlisted = differences.filter((difference) => !expected.some((entry) => isCovered(entry, difference)))
    expect(unlisted.map(text), 'differences that are not listed').toEqual([])
    const resolved = expected.filter((entry) => !differences.some((difference) => isCovered(entry, difference)))
    expect(resolved, 'listed differences that no longer exist: remove them from the list').toEqual([])
  },
)

test('every listed difference has a reason and existing imports', () => {
  const broken = listedDifferences.filter(
    (entry) => !entry.reason || !entry.imports.length || entry.imports.some((name) => !realmImports[name]),
  )
  expect(broken).toEqual([])
})
