// The syntax of variables in documents.
import type { Json } from '../kinds/json.ts'

/** A variable that has no value. Becomes a DocumentProblem at the position of its text. */
export class VariableError extends Error {}

/** A parsed text: literals and variables in order. */
export type Template = (string | Variable)[]

/** A variable in a text. */
export interface Variable {
  /** The source text without the default. Safe in messages, since it contains no value of another variable. */
  readonly source: string
  readonly name: Template
  readonly defaultValue: Template | undefined
}

const maxNesting = 10

/**
 * Splits a text into its literal parts and its variables `$(…)`, which are not substituted.
 * @throws VariableError if a variable is not closed.
 */
export function parseTemplate(text: string): Template {
  let at = 0

  /** Reads up to the end of the text or, inside a variable, up to its `)` or the `:-` before its default. */
  function read(depth: number, stopAtDefault: boolean): Template {
    const parts: Template = []
    let literal = ''
    // Keycloak: the `)` of an escaped `$$(…)` inside a variable does not end that variable.
    let escaped = 0
    while (at < text.length) {
      if (text.startsWith('$$(', at)) {
        literal += '$('
        escaped += 1
        at += 3
      } else if (text.startsWith('$(', at)) {
        parts.push(literal, readVariable(depth + 1))
        literal = ''
      } else if (depth > 0 && stopAtDefault && text.startsWith(':-', at)) break
      else if (depth > 0 && text[at] === ')' && escaped === 0) break
      else {
        if (text[at] === ')') escaped = Math.max(0, escaped - 1)
        literal += text[at]
        at += 1
      }
    }
    return [...parts, literal].filter((part) => part !== '')
  }

  function readVariable(depth: number): Variable {
    if (depth > maxNesting) throw new VariableError(`variables are nested more than ${maxNesting} levels deep`)
    const start = at
    at += 2
    const name = read(depth, true)
    const source = `${text.slice(start, at)})`
    const hasDefaultValue = text.startsWith(':-', at)
    if (hasDefaultValue) at += 2
    const defaultValue = hasDefaultValue ? read(depth, false) : undefined
    if (text[at] !== ')') throw new VariableError('a "$(" has no closing ")": add it, or write "$$(" for the text "$("')
    at += 1
    return { source, name, defaultValue }
  }

  return read(0, false)
}

/** Whether a text contains a variable with a literal default, so that the document itself contains the value. */
export function hasLiteralDefault(text: Json): boolean {
  if (typeof text !== 'string' || !text.includes(':-')) return false
  try {
    return hasLiteral(parseTemplate(text))
  } catch (error) {
    // The value of a variable may look like a broken variable.
    if (error instanceof VariableError) return false
    throw error
  }
}

function hasLiteral(template: Template): boolean {
  return template
    .filter((part) => typeof part !== 'string')
    .some(
      ({ name, defaultValue = [] }) =>
        defaultValue.some((part) => typeof part === 'string') || hasLiteral([...name, ...defaultValue]),
    )
}
