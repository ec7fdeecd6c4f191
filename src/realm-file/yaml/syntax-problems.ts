// Explains the syntax errors of js-yaml, with advice.
import { EVENT_ID, nullCoreTag, YAMLException } from 'js-yaml'
import { isMergeKey, listPairs, resolveLinks, type YamlSource } from './events.ts'
import { maxAliases, maxDepth, maxMergedKeys } from './limits.ts'
import { createPositionLookup } from './locator.ts'
import { DocumentError, type DocumentProblem } from './problem.ts'

/** Runs a step of the parser. Converts its syntax errors to a DocumentError with advice. */
export function explainSyntaxErrors<T>(getSource: () => YamlSource, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof YAMLException && error.mark)
      throw new DocumentError(explain(getSource(), error.reason, error.mark.position))
    throw error
  }
}

function explain(source: YamlSource, reason: string, offset: number): DocumentProblem[] {
  const keyProblems = keyErrors.test(reason) ? listKeyProblems(source) : []
  if (keyProblems.length > 0) return keyProblems
  const [, advice] = advices.find(([pattern]) => pattern.test(reason)) ?? []
  const message =
    advice === undefined ? `broken YAML: ${reason}` : advice.replace('{}', /!<.*>|".*"/.exec(reason)?.[0] ?? '')
  return [{ position: createPositionLookup(source)(offset), message }]
}

/**
 * Throws a DocumentError for a comment of JavaScript in JSON. JSON has none, and YAML would read it as the beginning of the next key or as
 * the end of a value.
 */
export function refuseJsonComments(source: YamlSource): void {
  const { text } = source
  if (!/^\s*[[{]\s*(?:["[{]|\/[/*])/.test(text) || isJson(text)) return
  for (const { 0: token, index } of text.matchAll(
    /"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\n]*'|(?<=\s)#.*|(?<=[\s,"[\]{}])\/[/*]/g,
  )) {
    if (/^["'#]/.test(token)) continue
    const message = `JSON has no comments that begin with ${token}: remove it, or begin it with # in a line of its own`
    throw new DocumentError([{ position: createPositionLookup(source)(index), message }])
  }
}

/** Whether a text is valid JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const keyErrors = /^(duplicated mapping|missing|complex) key$/

/** Whether an error of the parser is about a repeated key. */
export function isDuplicateKeyError(error: unknown): boolean {
  return error instanceof YAMLException && error.reason === 'duplicated mapping key'
}

/** Returns a problem for every repeated key of JSON, in the order of the file. */
export function listDuplicateKeys(source: YamlSource): DocumentProblem[] {
  return listKeyProblems(source).map((problem) => ({
    ...problem,
    message: `${problem.message} (the last one is used)`,
  }))
}

/** Returns a problem for every invalid key, in the order of the file. js-yaml stops at the first one, often without its position. */
function listKeyProblems(source: YamlSource): DocumentProblem[] {
  const { text, events } = source
  const { ends, targets } = resolveLinks(source)
  const toPosition = createPositionLookup(source)

  function findProblem(node: number, offsetsByName: Map<string, number>): string | undefined {
    const key = targets.get(node) ?? node
    const name = events.textOf(text, key)
    if (name === undefined)
      return 'a key must be a string, not a list or an object: put it in quotes if the brackets are part of it'
    if (isMergeKey(source, key)) return undefined
    if (events.isPlain(key) && nullCoreTag.resolve(name, false, nullCoreTag.tagName) === null)
      return 'a key is missing before this ":": write one (a key with the name null needs quotes)'
    const firstOffset = offsetsByName.get(name)
    if (firstOffset === undefined) {
      offsetsByName.set(name, events.offsetOf(node))
      return undefined
    }
    const { line, column } = toPosition(firstOffset)
    return `the key ${JSON.stringify(name)} appears twice, first at ${line}:${column}: keep one of them`
  }

  const nodes = Array.from({ length: events.length }, (_, index) => index)
  const problems = nodes.flatMap((mapping) => {
    if (events.typeOf(mapping) !== EVENT_ID.MAPPING) return []
    const offsetsByName = new Map<string, number>()
    return listPairs(events, ends, mapping).flatMap(([key, value]) => {
      const message = findProblem(key, offsetsByName)
      const offset = [key, value, mapping].map((node) => events.offsetOf(node)).find((written) => written >= 0)!
      return message === undefined ? [] : [{ offset, message }]
    })
  })
  return problems
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, message }) => ({ position: toPosition(offset), message }))
}

// The reasons of js-yaml with advice; `{}` is replaced with its quotation.
const advices: [reason: RegExp, advice: string][] = [
  [/^duplicated mapping key/, 'this key appears twice in one object: keep one of them'],
  [/^inexact key/, 'this key is a number that would change when it is read: put it in quotes'],
  [/^tab characters/, 'a tab indents this line: YAML is indented with spaces'],
  [
    /^bad indentation of a mapping entry/,
    'this does not match the lines above: indent the keys of an object equally, and put a string in quotes if it contains ": " or begins with @, % or `',
  ],
  [
    /^bad indentation of a sequence entry/,
    'this does not match the lines above: indent every "- " of a list equally, and the fields of an object as its first one',
  ],
  [/^deficient indentation/, 'this line must be indented further, or a quote or bracket above is not closed'],
  [/^expected ':' after a mapping key|multiline key/, 'a ":" is missing after this key'],
  [/^a whitespace character is expected after/, 'a space is missing after the ":"'],
  [/^missed comma/, 'a comma or a closing bracket is missing just before this'],
  [/^expected the node content/, 'a value is missing before this comma: write it or remove the comma'],
  [
    /end of the (stream|document) within a (double|single) quoted/,
    'a quoted string is not closed: its last quote is missing',
  ],
  [/end of the stream within a flow/, 'a "{" or "[" is not closed: its "}" or "]" is missing'],
  [
    /^end of the stream or a document separator/,
    'this is not part of the value above: a key needs a space after its ":", and a new document needs a line "---" before it',
  ],
  [
    /^unknown escape|^expected hexadecimal/,
    'a backslash begins an escape here: double it, or put the string in single quotes',
  ],
  [
    /^expected valid JSON|non-printable|^null byte/,
    'this is a control character: remove it, or write it as an escape (\\u0007) in double quotes',
  ],
  [
    /^unknown \w+ tag|^undeclared tag/,
    'the tag {} is unknown: remove it, or put the string in quotes if the "!" is part of it',
  ],
  [/^cannot resolve a node with/, 'the value does not match its tag {}: remove the tag or correct the value'],
  [
    /^unidentified alias/,
    'the alias {} has no anchor above it in this document: add one, or put the string in quotes if the "*" is part of it',
  ],
  [/^name of an/, 'a name is missing here: put the string in quotes if the "&" or "*" is part of it'],
  [/^aliases exceeded/, `this document uses more than ${maxAliases} aliases: write the values out`],
  [/^merge keys exceeded/, `merge keys ("<<") add more than ${maxMergedKeys} keys: write the values out`],
  [
    /^cannot merge|^abnormal merge/,
    'a merge key ("<<") takes an object, an alias of one, or a list of up to 100 of these',
  ],
  [/^nesting exceeded/, `this document is nested more than ${maxDepth} levels deep`],
]
