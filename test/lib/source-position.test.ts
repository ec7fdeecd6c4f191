import { expect, test } from 'vitest'
import { formatMessages } from '../../src/lib/source-position.ts'

const at = (line: number, message: string, file = 'a.yaml') => ({ position: { file, line, column: 1 }, message })

test('a message of several places in a file is returned once, with its further places', () => {
  expect(
    formatMessages([at(1, 'missing'), at(2, 'wrong'), at(3, 'missing'), at(4, 'missing'), at(4, 'missing')]),
  ).toEqual(['a.yaml:1:1: missing (also at 3:1 and 4:1)', 'a.yaml:2:1: wrong'])
  expect(formatMessages([at(1, 'missing'), at(1, 'missing', 'b.yaml')])).toEqual([
    'a.yaml:1:1: missing',
    'b.yaml:1:1: missing',
  ])
})

test('of many places the first five are listed', () => {
  const messages = Array.from({ length: 9 }, (_, line) => at(line + 1, 'missing'))
  expect(formatMessages(messages)).toEqual(['a.yaml:1:1: missing (also at 2:1, 3:1, 4:1, 5:1, 6:1 and 3 more places)'])
})
