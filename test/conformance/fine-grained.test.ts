// What administrators with fine-grained admin permissions may do, compared with Keycloak: see scripts/record-fine-grained.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import {
  administrators,
  expandOutcomes,
  type Matrix,
  type MatrixCall,
  runMatrix,
  type Version,
} from '../support/fine-grained-matrix.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const recorded: Readonly<Record<Version, Matrix>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fine-grained.json'), 'utf8'),
)

const HIDDEN_GROUP = 'Keycloak lists members of a group below a hidden one, and does not return them one by one'

/** Outcomes that differ from those of Keycloak, with the reason. */
const DIFFERENCES: readonly {
  readonly version: Version
  /** Absent: all. */
  readonly administrator?: string
  readonly operations: readonly string[]
  readonly reason: string
}[] = [
  ...([1, 2] as const).map((version) => ({
    version,
    operations: ['switch on the full scope of a client'],
    reason: 'Regent refuses it to a caller who is weaker than a user of the realm, by roles or by policies',
  })),
  { version: 1, operations: ['count groups'], reason: 'Keycloak counts groups that the caller may not see' },
  {
    version: 2,
    administrator: 'Users all: manage',
    operations: ['create a user in a group'],
    reason: 'Keycloak returns 500 where a permission on the group is missing',
  },
  {
    version: 2,
    administrator: 'Users all: view; not Groups own: view-members',
    operations: ['list users', 'count users'],
    reason: HIDDEN_GROUP,
  },
  {
    version: 2,
    administrator: 'Groups all: view-members; not Groups own: view-members',
    operations: ['list users', 'page of users', 'count users'],
    reason: HIDDEN_GROUP,
  },
  {
    version: 2,
    administrator: 'Groups all: view; not Groups own: view',
    operations: ['search groups'],
    reason: 'Keycloak returns a hidden group as the parent of a visible one',
  },
]

/** Every ninth administrator, unless all cases run. Both engines execute the same statements, so that all cases run on PostgreSQL only. */
const runsAll = isFullRun && inject('databaseUrl') !== undefined
const cases = ([1, 2] as const).flatMap((version) =>
  administrators[version].flatMap((title, at) => (runsAll || at % 9 === 8 ? [{ version, title, at }] : [])),
)

test.each(cases)(
  'version $version, $title: the outcomes are those of Keycloak',
  { timeout: 120_000 },
  async (admin) => {
    const { call: callServer } = await testServer()
    const call: MatrixCall = (method, path, { body, token } = {}) =>
      body instanceof URLSearchParams
        ? callServer(method, path, {
            body: body.toString(),
            token: null,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        : callServer(method, path, { ...(body !== undefined && { body }), ...(token !== undefined && { token }) })
    const { version, title, at } = admin
    const matrix = await runMatrix(call, { realm: newName(), version, only: [at] })
    const differences = DIFFERENCES.filter(
      (difference) => difference.version === version && (difference.administrator ?? title) === title,
    ).flatMap(({ operations }) => operations)
    const isCompared = ([operation]: [string, string]) => !differences.includes(operation)
    expect(Object.entries(matrix[title]!).filter(isCompared)).toEqual(
      Object.entries(expandOutcomes(recorded[version], title)).filter(isCompared),
    )
  },
)
