import { expect, test } from 'vitest'
import { findNearestWord } from '../../src/lib/nearest-word.ts'

test.each([
  ['a letter too few', 'enabld', ['enabled', 'name'], 'enabled'],
  ['a letter too many', 'namee', ['enabled', 'name'], 'name'],
  ['letters in a wrong order', 'emial', ['email', 'profile'], 'email'],
  ['another case', 'REDIRECTURIS', ['redirectUris', 'rootUrl'], 'redirectUris'],
  ['a wrong case is nearer than a wrong letter', 'EMAIL', ['emaix', 'email'], 'email'],
  ['the word itself', 'email', ['emails', 'email'], 'email'],
  ['of equals the first', 'cat', ['bat', 'hat'], 'bat'],
  ['one of three letters may differ', 'abc', ['abx'], 'abx'],
])('%s', (_, word, candidates, expected) => {
  expect(findNearestWord(word, candidates)).toBe(expected)
})

test.each([
  ['no candidate is similar', 'banana', ['enabled', 'name']],
  ['two of three letters differ', 'abc', ['axx']],
  ['more than two letters in five differ', 'abcde', ['abxyz']],
  ['there are no candidates', 'email', []],
  ['the word is empty', '', ['a', 'ab']],
])('undefined if %s', (_, word, candidates) => {
  expect(findNearestWord(word, candidates)).toBeUndefined()
})

test('candidates may be any iterable', () => {
  expect(findNearestWord('emial', new Set(['email']).values())).toBe('email')
})
