// PostgreSQL servers that are too old are refused.
import { expect, test } from 'vitest'
import { checkVersion } from '../../src/store/database/database.ts'

test.each([90624, 140012])('version %i is refused', (version) => {
  expect(() => checkVersion(version)).toThrow('Regent needs version 15 or later: upgrade it.')
})

test.each([150000, 150018, 180001])('version %i is accepted', (version) => {
  expect(() => checkVersion(version)).not.toThrow()
})

test('the message has the version in the form of PostgreSQL', () => {
  expect(() => checkVersion(140012)).toThrow('The database is PostgreSQL 14.12.')
})
