// Recorded answers of a realm's operations: kept as what differs from those of a new realm, compared field by field.
import type { RealmResponses } from './read-realm.ts'
import { isObject } from './tape.ts'

/** What differs from a new realm; null stands for what only a new realm has. */
export function compactResponses(fresh: RealmResponses, answers: RealmResponses): RealmResponses {
  return mapPairs(fresh, answers, (was, is) => (isEqual(was, is) ? undefined : (is ?? null)))
}

/** The answers again, from what differs. */
export function expandResponses(fresh: RealmResponses, recorded: RealmResponses): RealmResponses {
  return mapPairs(fresh, recorded, (was, is) => (is === undefined ? was : (is ?? undefined)))
}

/** As text: one line for each answer. */
export function renderResponses(answers: RealmResponses): string {
  const lines = (toEntries: Readonly<Record<string, unknown>>) =>
    Object.entries(toEntries).map(([name, answer]) => `    ${JSON.stringify(name)}: ${JSON.stringify(answer)}`)
  const parts = Object.entries(answers).map(([path, entries]) => {
    return `  ${JSON.stringify(path)}: {\n${lines(entries).join(',\n')}\n  }`
  })
  return `{\n${parts.join(',\n')}\n}\n`
}

/** A place where two servers differ: the operation, what it was asked of, the field of its answer. */
export interface DifferencePosition {
  readonly operation: string
  readonly object: string
  readonly field: string
}

/** A difference, with what each of them says. */
export interface ResponseDifference extends DifferencePosition {
  readonly expected: unknown
  readonly actual: unknown
}

/** Where the answers differ, of the operations that were asked. */
export function findDifferences(expected: RealmResponses, actual: RealmResponses): ResponseDifference[] {
  return Object.keys(actual).flatMap((operation) => {
    const [wanted, given] = [expected[operation] ?? {}, actual[operation]!]
    return listKeys(wanted, given).flatMap((object) =>
      compareFields(wanted[object], given[object]).map((found) => ({ operation, object, ...found })),
    )
  })
}

function compareFields(
  expected: unknown,
  actual: unknown,
  at: readonly string[] = [],
): Omit<ResponseDifference, 'operation' | 'object'>[] {
  if (isEqual(expected, actual)) return []
  const [a, b] = [entries(expected), entries(actual)]
  if (a && b) return listKeys(a, b).flatMap((key) => compareFields(a[key], b[key], [...at, key]))
  return [{ field: at.join('.'), expected, actual }]
}

/** What a value consists of: sets of texts by element, lists by position. */
function entries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined
  const texts = value.every((one) => typeof one === 'string')
  return Object.fromEntries(value.map((one, at) => (texts ? [one, true] : [at, one])))
}

function mapPairs(
  a: RealmResponses,
  b: RealmResponses,
  choose: (a: unknown, b: unknown) => unknown,
): Record<string, Record<string, unknown>> {
  const part = (path: string) =>
    listKeys(a[path] ?? {}, b[path] ?? {})
      .map((name) => [name, choose(a[path]?.[name], b[path]?.[name])] as const)
      .filter(([, answer]) => answer !== undefined)
  return Object.fromEntries(
    listKeys(a, b)
      .map((path) => [path, Object.fromEntries(part(path))] as const)
      .filter(([, answers]) => Object.keys(answers).length),
  )
}

const listKeys = (a: object, b: object) => [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
