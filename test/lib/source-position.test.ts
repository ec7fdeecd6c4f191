import { expect, test } from 'vitest'
import { formatMessages } from '../../src/lib/source-position.ts'

const at = (line: number, message: string, file = 'a.yaml') => ({ position: { file, line, column: 1 }, message })
const atLines = (count: number) => Array.from({ length: count }, (_, index) => at(index + 1, 'missing'))

test('each place of a message has its own line', () => {
  expect(
    formatMessages([at(1, 'missing'), at(2, 'wrong'), at(3, 'missing'), at(3, 'missing'), at(1, 'missing', 'b.yaml')]),
  ).toEqual(['a.yaml:1:1: missing', 'a.yaml:2:1: wrong', 'a.yaml:3:1: missing', 'b.yaml:1:1: missing'])
})

test('a message of six or more places in a file is returned once, with its further places', () => {
  expect(formatMessages(atLines(5))).toHaveLength(5)
  expect(formatMessages([...atLines(6), at(1, 'missing', 'b.yaml')])).toEqual([
    'a.yaml:1:1: missing (also at 2:1, 3:1, 4:1, 5:1 and 6:1)',
    'b.yaml:1:1: missing',
  ])
})

test('of many further places the first twenty are listed', () => {
  expect(formatMessages(atLines(25))).toEqual([
    expect.stringMatching(/^a.yaml:1:1: missing \(also at 2:1, .*, 21:1 and 4 more places\)$/),
  ])
})
