// After the tests of each file, checks all statements that the store has executed.
import { afterAll, expect } from 'vitest'
import { recordResults } from './described-rows.ts'

recordResults()

declare global {
  /** Statements that do not name the realm of the data that they touch. */
  var unboundStatements: string[] | undefined
  /** Differences between results and the descriptions of their rows. */
  var misdescribedResults: string[] | undefined
}

afterAll(() => {
  const unbound = globalThis.unboundStatements ?? []
  globalThis.unboundStatements = []
  expect(unbound, 'statements on data of a realm that do not name the realm').toEqual([])
  const misdescribed = globalThis.misdescribedResults ?? []
  globalThis.misdescribedResults = []
  expect(misdescribed, 'results that differ from the descriptions of their rows').toEqual([])
})
