// Texts that hold variables, in pieces: how variables are written.

import type { Json } from '../kinds/json.ts'

/** Why one variable has no value; becomes a Problem of the text that holds it. */
export class VariableError extends Error {}

/** A text in pieces: what stands there, and variables. */
export type Template = (string | Variable)[]

/** A variable of a text. */
export interface Variable {
  /** As written, less its default: fit for a message, as it holds no values of other variables. */
  readonly written: string
  readonly name: Template
  readonly fallback: Template | undefined
}

const maxNesting = 10

/** The pieces of a text. Throws VariableError where a variable is not closed. */
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
    if (depth > maxNesting) throw new VariableError(`variables are nested deeper than ${maxNesting} levels here`)
    const start = at
    at += 2
    const name = read(depth, true)
    const written = `${text.slice(start, at)})`
    const hasFallback = text.startsWith(':-', at)
    if (hasFallback) at += 2
    const fallback = hasFallback ? read(depth, false) : undefined
    if (text[at] !== ')')
      throw new VariableError('a "$(" is not closed: its ")" is missing; for the text "$(" write "$$("')
    at += 1
    return { written, name, fallback }
  }

  return read(0, false)
}

/** Whether a text says by itself what its variables may come to: by a default that is more than other variables. */
export function tellsDefault(text: Json): boolean {
  if (typeof text !== 'string' || !text.includes(':-')) return false
  try {
    return hasDefault(parseTemplate(text))
  } catch (error) {
    // What came in the place of a variable may look like anything.
    if (error instanceof VariableError) return false
    throw error
  }
}

function hasDefault(template: Template): boolean {
  return template.some(
    (part) =>
      typeof part !== 'string' &&
      (part.fallback?.some((one) => typeof one === 'string') || hasDefault([...part.name, ...(part.fallback ?? [])])),
  )
}
