// What js-yaml refuses, in words that say what would be right.
import { EVENT_ID, getScalarValue, nullCoreTag, SCALAR_STYLE, YAMLException } from 'js-yaml'
import { isMergeKey, linksOf, offsetOf, pairsOf, type Source } from './events.ts'
import { maxAliases, maxDepth, maxMergedKeys } from './limits.ts'
import { positionsIn } from './places.ts'
import { DocumentError, type Problem } from './problem.ts'

/** Runs a step of the reader; what it refuses becomes a DocumentError in our words. */
export function explained<T>(source: () => Source, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof YAMLException && error.mark)
      throw new DocumentError(explain(source(), error.reason, error.mark.position))
    throw error
  }
}

function explain(source: Source, reason: string, offset: number): Problem[] {
  const faults = keyFaults.test(reason) ? faultyKeys(source) : []
  if (faults.length > 0) return faults
  const [, advice] = advices.find(([pattern]) => pattern.test(reason)) ?? []
  const message =
    advice === undefined ? `broken YAML: ${reason}` : advice.replace('{}', /!<.*>|".*"/.exec(reason)?.[0] ?? '')
  return [{ position: positionsIn(source)(offset), message }]
}

const keyFaults = /^(duplicated mapping|missing|complex) key$/

/** Whether an error of the reader is about a key that stands twice. */
export function isRepeatedKey(error: unknown): boolean {
  return error instanceof YAMLException && error.reason === 'duplicated mapping key'
}

/** Every key that stands again in its object, in the order of the file. */
export function repeatedKeys(source: Source): Problem[] {
  return faultyKeys(source).map((one) => ({ ...one, message: `${one.message} (the last one counts)` }))
}

/** Every key that cannot be one, in the order of the file: js-yaml stops at the first, and often without its place. */
function faultyKeys(source: Source): Problem[] {
  const { text, events } = source
  const { ends, targets } = linksOf(text, events)
  const positionOf = positionsIn(source)

  function faultOf(node: number, seen: Map<string, number>): string | undefined {
    const key = events.at(targets.get(node) ?? node)
    if (key.type !== EVENT_ID.SCALAR)
      return 'a key must be a text, not a list or an object: put it in quotes if the brackets belong to it'
    if (isMergeKey(text, key)) return undefined
    const name = getScalarValue(text, key)
    if (
      key.style === SCALAR_STYLE.PLAIN &&
      key.tagStart < 0 &&
      nullCoreTag.resolve(name, false, nullCoreTag.tagName) === null
    ) {
      return 'a key is missing before this ":": write one (a key that is called null needs quotes)'
    }
    const before = seen.get(name)
    seen.set(name, before ?? offsetOf(events.at(node)))
    if (before === undefined) return undefined
    const { line, column } = positionOf(before)
    return `the key ${JSON.stringify(name)} stands twice, first at ${line}:${column}: keep one of them`
  }

  const all = Array.from({ length: events.length }, (_, index) => index)
  const faults = all.flatMap((mapping) => {
    if (events.typeOf(mapping) !== EVENT_ID.MAPPING) return []
    const seen = new Map<string, number>()
    return pairsOf(events, ends, mapping).flatMap(([key, value]) => {
      const message = faultOf(key, seen)
      const written = [key, value, mapping].map((node) => offsetOf(events.at(node))).find((offset) => offset >= 0)!
      return message === undefined ? [] : [{ offset: written, message }]
    })
  })
  return faults
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, message }) => ({ position: positionOf(offset), message }))
}

// What js-yaml says, and what helps; `{}` is what it quotes.
const advices: [reason: RegExp, advice: string][] = [
  [/^duplicated mapping key/, 'this key stands twice in one object: keep one of them'],
  [/^inexact key/, 'this key is a number that would change when it is read: put it in quotes'],
  [/^tab characters/, 'a tab indents this line: YAML is indented with spaces'],
  [
    /^bad indentation of a mapping entry/,
    'this does not fit what is above: indent the keys of one object alike, and put a text in quotes that holds ": " or begins with @, % or `',
  ],
  [/^bad indentation of a sequence entry/, 'this does not fit the list above: indent every "- " of one list alike'],
  [/^deficient indentation/, 'this line must be indented further, or a quote or bracket above is not closed'],
  [/^expected ':' after a mapping key|multiline key/, 'a ":" is missing after this key'],
  [/^a whitespace character is expected after/, 'a space is missing after the ":"'],
  [/^missed comma/, 'a comma or a closing bracket is missing just before this'],
  [/^expected the node content/, 'a value is missing before this comma: write it or remove the comma'],
  [
    /end of the (stream|document) within a (double|single) quoted/,
    'a quoted text is not closed: its last quote is missing',
  ],
  [/end of the stream within a flow/, 'a "{" or "[" is not closed: its "}" or "]" is missing'],
  [
    /^end of the stream or a document separator/,
    'this does not belong to what is above: a key needs a space after its ":", a new document a line "---" before it',
  ],
  [
    /^unknown escape|^expected hexadecimal/,
    'a backslash begins an escape here: double it, or put the text in single quotes',
  ],
  [
    /^expected valid JSON|non-printable|^null byte/,
    'a control character stands here: remove it, or write it as an escape (\\u0007) in double quotes',
  ],
  [
    /^unknown \w+ tag|^undeclared tag/,
    'the tag {} is not known here: remove it, or put the text in quotes if the "!" belongs to it',
  ],
  [/^cannot resolve a node with/, 'the value does not fit its tag {}: remove the tag or correct the value'],
  [
    /^unidentified alias/,
    'the alias {} has no anchor above it in this document: add one, or put the text in quotes if the "*" belongs to it',
  ],
  [/^name of an/, 'a name is missing here: put the text in quotes if the "&" or "*" belongs to it'],
  [/^aliases exceeded/, `this document uses more than ${maxAliases} aliases: write the values out`],
  [/^merge keys exceeded/, `merge keys ("<<") bring in more than ${maxMergedKeys} keys: write the values out`],
  [
    /^cannot merge|^abnormal merge/,
    'a merge key ("<<") takes an object, an alias of one, or a list of up to 100 of these',
  ],
  [/^nesting exceeded/, `this document is nested deeper than ${maxDepth} levels`],
]
