// Looks at every statement that the tests of a file made the store execute.
import { afterAll, expect } from 'vitest'

declare global {
  /** Statements that do not name the realm of the data that they touch. */
  var unboundStatements: string[] | undefined
}

afterAll(() => {
  const found = globalThis.unboundStatements ?? []
  globalThis.unboundStatements = []
  expect(found, 'statements on a realm’s data that do not name the realm').toEqual([])
})
