// Recorded responses of a realm's operations, stored as differences to those of a new realm, and compared field by field.
import type { RealmResponses } from './read-realm.ts'
import { isObject } from './recorded-exchanges.ts'

/** Returns the differences to a new realm; null for responses that only the new realm has. */
export function compactResponses(newRealm: RealmResponses, answers: RealmResponses): RealmResponses {
  return mapPairs(newRealm, answers, (was, is) => (isEqual(was, is) ? undefined : (is ?? null)))
}

/** Returns the responses from their differences to a new realm. */
export function expandResponses(newRealm: RealmResponses, recorded: RealmResponses): RealmResponses {
  return mapPairs(newRealm, recorded, (was, is) => (is === undefined ? was : (is ?? undefined)))
}

/** Returns the JSON text of responses, with one line per response. */
export function renderResponses(answers: RealmResponses): string {
  const lines = (entries: Readonly<Record<string, unknown>>) =>
    Object.entries(entries).map(([name, response]) => `    ${JSON.stringify(name)}: ${JSON.stringify(response)}`)
  const parts = Object.entries(answers).map(([path, entries]) => {
    return `  ${JSON.stringify(path)}: {\n${lines(entries).join(',\n')}\n  }`
  })
  return `{\n${parts.join(',\n')}\n}\n`
}

/** The position of a difference: operation, object, and field of the response. */
export interface DifferencePosition {
  readonly operation: string
  readonly object: string
  readonly field: string
}

/** A difference between expected and actual responses. */
export interface ResponseDifference extends DifferencePosition {
  readonly expected: unknown
  readonly actual: unknown
}

/** Returns the differences of all operations with actual responses. */
export function findDifferences(expected: RealmResponses, actual: RealmResponses): ResponseDifference[] {
  return Object.keys(actual).flatMap((operation) => {
    const [expectedObjects, actualObjects] = [expected[operation] ?? {}, actual[operation]!]
    return listKeys(expectedObjects, actualObjects).flatMap((object) =>
      compareFields(expectedObjects[object], actualObjects[object]).map((difference) => ({
        operation,
        object,
        ...difference,
      })),
    )
  })
}

function compareFields(
  expected: unknown,
  actual: unknown,
  at: readonly string[] = [],
): Omit<ResponseDifference, 'operation' | 'object'>[] {
  if (isEqual(expected, actual)) return []
  const [a, b] = [toEntries(expected), toEntries(actual)]
  if (a && b) return listKeys(a, b).flatMap((key) => compareFields(a[key], b[key], [...at, key]))
  return [{ field: at.join('.'), expected, actual }]
}

/** Returns the entries of a value: texts of a list by text, as they are a set, other lists by position. */
function toEntries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(value)) return isObject(value) ? value : undefined
  const texts = value.every((element) => typeof element === 'string')
  return Object.fromEntries(value.map((element, at) => (texts ? [element, true] : [at, element])))
}

function mapPairs(
  a: RealmResponses,
  b: RealmResponses,
  choose: (a: unknown, b: unknown) => unknown,
): Record<string, Record<string, unknown>> {
  const part = (path: string) =>
    listKeys(a[path] ?? {}, b[path] ?? {})
      .map((name) => [name, choose(a[path]?.[name], b[path]?.[name])] as const)
      .filter(([, response]) => response !== undefined)
  return Object.fromEntries(
    listKeys(a, b)
      .map((path) => [path, Object.fromEntries(part(path))] as const)
      .filter(([, answers]) => Object.keys(answers).length),
  )
}

const listKeys = (a: object, b: object) => [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
