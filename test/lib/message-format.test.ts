import { expect, test } from 'vitest'
import { formatMessage } from '../../src/lib/keycloak/message-format.ts'

test('every placeholder is replaced by its value', () => {
  expect(formatMessage('{1} before {0}, {1} again', ['a', 7])).toBe('7 before a, 7 again')
  expect(formatMessage('{0} {1} {x} {', ['a'])).toBe('a {1} {x} {')
  expect(formatMessage('{0}', ["{1} $& 'x'"])).toBe("{1} $& 'x'")
})

test('two apostrophes are one, and text between single ones is literal', () => {
  expect(formatMessage("didn''t '{0}' {0}", ['a'])).toBe("didn't {0} a")
  expect(formatMessage("'it''s {0}' {0}, it's {0}", ['a'])).toBe("it's {0} a, its {0}")
})

test('a number chooses among texts', () => {
  const hours = '{0} {0,choice,0#hours|1#hour|1<hours}'
  expect([0, 1, 2].map((count) => formatMessage(hours, [count]))).toEqual(['0 hours', '1 hour', '2 hours'])
  expect(formatMessage('{0,choice,5#many}', [1])).toBe('many')
})
