// The order of keys in responses.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { sortKeys } from '../../src/http/key-order.ts'

// biome-ignore lint/suspicious/noExplicitAny: values of every form
type Members = Record<string, any>

const inner = z.object({ first: z.string().optional(), second: z.string().optional() })
const schema = z.object({
  id: z.string(),
  part: inner.nullable(),
  list: z.array(inner).optional(),
  map: z.record(z.string(), inner).optional(),
})

/** An object with any keys of the schema and others, in any order. */
const anyObject = (values: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .shuffledSubarray(Object.keys(values))
    .chain((names) =>
      fc
        .tuple(...names.map((name) => values[name]!))
        .map((list) => Object.fromEntries(names.map((name, at) => [name, list[at]]))),
    )
const anyInner = anyObject({ first: fc.string(), second: fc.string(), other: fc.integer() })
const anyValue = anyObject({
  ...{ id: fc.string(), part: fc.option(anyInner), other: fc.integer(), another: fc.constant(null) },
  ...{ list: fc.array(anyInner), map: fc.dictionary(fc.constantFrom('b', 'a'), anyInner) },
})

const sort = (names: readonly string[], value: Record<string, unknown>) => [
  ...names.filter((name) => name in value),
  ...Object.keys(value).filter((name) => !names.includes(name)),
]

/** Expects the order at each level. */
function expectSorted(sorted: Members, value: Members): void {
  expect(Object.keys(sorted)).toEqual(sort(['id', 'part', 'list', 'map'], value))
  const parts = (object: Members) =>
    [object.part, ...(object.list ?? []), ...Object.values(object.map ?? {})].filter(Boolean)
  expect(parts(sorted).map((part) => Object.keys(part))).toEqual(
    parts(value).map((part) => sort(['first', 'second'], part)),
  )
}

test('keys are in the order of the schema at each level, and unknown ones last', () => {
  fc.assert(
    fc.property(anyValue, fc.boolean(), (generated, isFrozen) => {
      const value = isFrozen ? deepFreeze(generated) : generated
      const text = JSON.stringify(value)
      // A frozen value is sorted once.
      for (let times = 0; times < 2; times++) {
        const sorted = sortKeys(schema, value) as Members
        expect(sorted).toEqual(value)
        expectSorted(sorted, value as Members)
      }
      expect(JSON.stringify(value)).toBe(text)
    }),
  )
})

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

test('a value that is in order is returned itself, and a key __proto__ remains a key', () => {
  const value = { id: 'x', part: { first: 'a', second: 'b' }, list: [{ first: 'a' }], other: 1 }
  expect(sortKeys(schema, value)).toBe(value)
  const text = '{"other":1,"__proto__":{"a":1},"id":"x"}'
  expect(JSON.stringify(sortKeys(schema, JSON.parse(text)))).toBe('{"id":"x","other":1,"__proto__":{"a":1}}')
})
