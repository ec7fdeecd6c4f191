// Recorded answers of a realm's operations: kept as what differs from those of a new realm, compared field by field.
import type { Answers } from './read-realm.ts'
import { isObject } from './tape.ts'

/** What differs from a new realm; null stands for what only a new realm has. */
export function compact(fresh: Answers, answers: Answers): Answers {
  return each(fresh, answers, (was, is) => (same(was, is) ? undefined : (is ?? null)))
}

/** The answers again, from what differs. */
export function expand(fresh: Answers, recorded: Answers): Answers {
  return each(fresh, recorded, (was, is) => (is === undefined ? was : (is ?? undefined)))
}

/** As text: one line for each answer. */
export function render(answers: Answers): string {
  const lines = (entries: Readonly<Record<string, unknown>>) =>
    Object.entries(entries).map(([name, answer]) => `    ${JSON.stringify(name)}: ${JSON.stringify(answer)}`)
  const parts = Object.entries(answers).map(([path, entries]) => {
    return `  ${JSON.stringify(path)}: {\n${lines(entries).join(',\n')}\n  }`
  })
  return `{\n${parts.join(',\n')}\n}\n`
}

/** A place where two servers differ: the operation, what it was asked of, the field of its answer. */
export interface Place {
  readonly operation: string
  readonly object: string
  readonly field: string
}

/** A difference, with what each of them says. */
export interface Difference extends Place {
  readonly expected: unknown
  readonly actual: unknown
}

/** Where the answers differ, of the operations that were asked. */
export function differences(expected: Answers, actual: Answers): Difference[] {
  return Object.keys(actual).flatMap((operation) => {
    const [wanted, given] = [expected[operation] ?? {}, actual[operation]!]
    return keys(wanted, given).flatMap((object) =>
      fields(wanted[object], given[object]).map((found) => ({ operation, object, ...found })),
    )
  })
}

function fields(
  expected: unknown,
  actual: unknown,
  at: readonly string[] = [],
): Omit<Difference, 'operation' | 'object'>[] {
  if (same(expected, actual)) return []
  const [a, b] = [entries(expected), entries(actual)]
  if (a && b) return keys(a, b).flatMap((key) => fields(a[key], b[key], [...at, key]))
  return [{ field: at.join('.'), expected, actual }]
}

/** What a value consists of: sets of texts by element, lists by position. */
function entries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined
  const texts = value.every((one) => typeof one === 'string')
  return Object.fromEntries(value.map((one, at) => (texts ? [one, true] : [at, one])))
}

function each(
  a: Answers,
  b: Answers,
  choose: (a: unknown, b: unknown) => unknown,
): Record<string, Record<string, unknown>> {
  const part = (path: string) =>
    keys(a[path] ?? {}, b[path] ?? {})
      .map((name) => [name, choose(a[path]?.[name], b[path]?.[name])] as const)
      .filter(([, answer]) => answer !== undefined)
  return Object.fromEntries(
    keys(a, b)
      .map((path) => [path, Object.fromEntries(part(path))] as const)
      .filter(([, answers]) => Object.keys(answers).length),
  )
}

const keys = (a: object, b: object) => [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
