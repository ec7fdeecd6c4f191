// What administrators with fine-grained admin permissions may do, compared with Keycloak: see scripts/record-fine-grained.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  administrators,
  expandOutcomes,
  type Matrix,
  type MatrixCall,
  runMatrix,
  type Version,
} from '../support/fine-grained-matrix.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const recorded: Readonly<Record<Version, Matrix>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fine-grained.json'), 'utf8'),
)

/** Operations of a version whose outcomes differ from Keycloak's, with the reason. */
const DIFFERENCES: Readonly<Record<Version, Readonly<Record<string, string>>>> = {
  1: { 'count groups': 'Keycloak counts groups that the caller may not see' },
  2: {},
}

/** The administrators whose grants are enforced. Regent does not enforce those of the others yet: the list only grows. */
const ENFORCED: readonly string[] = ['none']

const cases = ([1, 2] as const).flatMap((version) =>
  administrators[version].flatMap((title, at) => (ENFORCED.includes(title) ? [{ version, title, at }] : [])),
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
    const isCompared = ([operation]: [string, string]) => DIFFERENCES[version][operation] === undefined
    expect(Object.entries(matrix[title]!).filter(isCompared)).toEqual(
      Object.entries(expandOutcomes(recorded[version], title)).filter(isCompared),
    )
  },
)
