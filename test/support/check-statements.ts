// Looks at every statement that the tests of a file made the store execute.
import { afterAll, expect } from 'vitest'
import { recordResults } from './described-rows.ts'

recordResults()

declare global {
  /** Statements that do not name the realm of the data that they touch. */
  var unboundStatements: string[] | undefined
  /** Columns of results that are not as the description of their rows says. */
  var misdescribedResults: string[] | undefined
}

afterAll(() => {
  const found = globalThis.unboundStatements ?? []
  globalThis.unboundStatements = []
  expect(found, 'statements on a realm’s data that do not name the realm').toEqual([])
  const misdescribed = globalThis.misdescribedResults ?? []
  globalThis.misdescribedResults = []
  expect(misdescribed, 'results that are not as the descriptions of their rows say').toEqual([])
})
