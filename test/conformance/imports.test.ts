// A realm that is imported is read back as the reference server reads it back: so is a new realm. What the reference
// server answers was recorded with scripts/record-imports.ts; what differs stands in imports/differences.json.
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

/** What differs in some imports: at an operation; of one object or of any; at a field and below it, or anywhere. */
interface Listed extends Partial<DifferencePosition> {
  readonly imports: readonly string[]
  readonly operation: string
  readonly reason: string
}

const recorded = <T>(name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'imports', `${name}.json`), 'utf8')) as T
const listed = recorded<Listed[]>('differences')
const fresh = recorded<RealmResponses>('new-realm')
const present = new Set(operations.map(({ method, path }) => `${method} ${path}`))
const isThere = (path: string) => present.has(`GET /admin/realms/{realm}${path.replace(/^\/$/, '')}`)

const covers = (one: Listed, { operation, object, field }: ResponseDifference) =>
  one.operation === operation &&
  (one.object ?? object) === object &&
  (one.field === undefined || field === one.field || field.startsWith(`${one.field}.`))

const text = ({ operation, object, field, expected, actual }: ResponseDifference) =>
  `${operation} ${object} ${field}: ${short(expected)} expected, got ${short(actual)}`

const short = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 200)

test.for(takeSample(Object.keys(realmImports)))(
  '%s is read back as from the reference server',
  { timeout: 300_000 },
  async (name, { skip }) => {
    const realm = newName()
    const content = readImport(name, realm)
    if (!content) return skip()
    // What Regent does not have yet it refuses.
    for (const field of Object.keys(kinds.realm.fields)) if (kinds.realm.fields[field]!.legacy) delete content[field]
    const server = await testServer()
    await server.make('/admin/realms', content)
    const answers = await readRealm(realm, (address) => server.call('GET', address), isThere)
    const found = findDifferences(name === 'new-realm' ? fresh : expandResponses(fresh, recorded(name)), answers)
    const known = listed.filter(({ imports, operation }) => imports.includes(name) && answers[operation])
    const unlisted = found.filter((one) => !known.some((listed) => covers(listed, one)))
    expect(unlisted.map(text), 'differences that are not listed').toEqual([])
    const gone = known.filter((listed) => !found.some((one) => covers(listed, one)))
    expect(gone, 'listed, and there is no difference: take it off the list').toEqual([])
  },
)

test('every listed difference has a reason, and names what is imported', () => {
  const broken = listed.filter(
    (one) => !one.reason || !one.imports.length || one.imports.some((name) => !realmImports[name]),
  )
  expect(broken).toEqual([])
})
