// Variables in documents: `$(env:NAME)` and `$(file:PATH)`, as keycloak-config-cli writes them.
import type { Json } from '../kinds/fields.ts'
import { nearest } from '../lib/nearest.ts'
import type { Path } from '../lib/position.ts'
import { type Document, DocumentError, type Problem, pointerOf } from './document.ts'

/** Where values come from, and which of them a document may have. */
export interface SubstituteOptions {
  readonly env: Record<string, string | undefined>
  /** The text of a file, by the path in the document; throws when it cannot be read. Undefined: no files here. */
  readonly readFile: ((path: string) => string) | undefined
  /** Whether the settings allow it: asked before anything is looked up, with the name or path that results. */
  readonly allowed: (kind: 'env' | 'file', name: string) => boolean
}

/** A document whose variables have their values. */
export interface SubstitutedDocument extends Document {
  /** The texts that hold values of variables: JSON pointer (`pointerOf`) → the text as the document writes it. */
  readonly substituted: ReadonlyMap<string, string>
}

/**
 * The document with every variable in its texts replaced; keys are left alone, and so is `${…}`, which is Keycloak's.
 *
 * - `$(env:NAME)`: an environment variable. An empty one counts as set.
 * - `$(file:PATH)`, `$(file:UTF-8:PATH)`: a file's text, less one line break at its end.
 * - `$(env:NAME:-default)`: the default where the variable is not set or the file cannot be read.
 *   Name and default may hold variables.
 * - `$$(`: the text `$(`.
 *
 * The result is always a text, and a value that holds `$(` is taken as it is. Throws DocumentError with every variable
 * that is unknown, missing or forbidden. What holds no variable is returned as it is, uncopied.
 */
export function substitute(document: Document, options: SubstituteOptions): SubstitutedDocument {
  const substituted = new Map<string, string>()
  const problems: Problem[] = []

  function visitText(text: string, path: Path): string {
    if (text.includes(script)) problems.push(problemAt(document, path, scriptMessage))
    if (!text.includes('$(')) return text
    try {
      const parts = parseTemplate(text)
      if (parts.some((part) => typeof part !== 'string')) substituted.set(pointerOf(path), text)
      return render(parts, options)
    } catch (error) {
      if (!(error instanceof VariableError)) throw error
      problems.push(problemAt(document, path, error.message))
      return text
    }
  }

  const value = mayVary(document.value) ? mapTexts(document.value, [], visitText) : document.value
  if (problems.length > 0) throw new DocumentError(problems)
  return {
    file: document.file,
    value,
    get start() {
      return document.start
    },
    locate: document.locate,
    substituted,
  }
}

/** The text written so that substitution gives it back: for rendering documents. */
export function escapeVariables(text: string): string {
  return text.replaceAll('$(', '$$$$(')
}

// Why one variable has no value; becomes a Problem of the text that holds it.
class VariableError extends Error {}

const script = '$${javascript:'
const scriptMessage = `"${script}…}" is not run here: write its result, or a variable as $(env:NAME)`

function problemAt(document: Document, path: Path, message: string): Problem {
  return { position: document.locate(path), message, path: pointerOf(path) }
}

/** Whether any text may need a change: much cheaper than a walk that knows its path. */
function mayVary(value: Json): boolean {
  if (typeof value === 'string') return value.includes('$(') || value.includes(script)
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) ? value.some(mayVary) : Object.values(value).some(mayVary)
}

function mapTexts(value: Json, path: (string | number)[], visit: (text: string, path: Path) => string): Json {
  if (typeof value === 'string') return visit(value, path)
  if (typeof value !== 'object' || value === null) return value
  let copy: Json[] | Record<string, Json> | undefined
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key
    path.push(step)
    const mapped = mapTexts(child, path, visit)
    path.pop()
    if (mapped === child) continue
    copy ??= Array.isArray(value) ? [...value] : { ...value }
    // Not an assignment: to `__proto__` that would change the prototype.
    Object.defineProperty(copy, step, { value: mapped, enumerable: true, configurable: true, writable: true })
  }
  return copy ?? value
}

/** A text in pieces: what stands there, and variables. */
type Template = (string | Variable)[]

interface Variable {
  /** As written, less its default: fit for a message, as it holds no values of other variables. */
  readonly written: string
  readonly name: Template
  readonly fallback: Template | undefined
}

const maxNesting = 10

function parseTemplate(text: string): Template {
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

function render(template: Template, options: SubstituteOptions): string {
  return template.map((part) => (typeof part === 'string' ? part : resolve(part, options))).join('')
}

function resolve(variable: Variable, options: SubstituteOptions): string {
  const name = render(variable.name, options)
  const colon = name.indexOf(':')
  const resolver = colon < 0 ? name : name.slice(0, colon)
  if (colon > 0 && resolver === 'env') return resolveEnv(name.slice(colon + 1), variable, options)
  if (colon > 0 && resolver === 'file') return resolveFile(name.slice(colon + 1), variable, options)
  const hint = nearest(resolver, ['env', 'file'])
  const known = hint === undefined ? 'there are $(env:NAME) and $(file:PATH).' : `did you mean $(${hint}:…)?`
  throw new VariableError(`${variable.written} is not known here: ${known} For the text "$(" write "$$("`)
}

function resolveEnv(name: string, { written, fallback }: Variable, options: SubstituteOptions): string {
  const { env, allowed } = options
  if (name === '') throw new VariableError(`${written} lacks the name of the environment variable: write $(env:NAME)`)
  if (!allowed('env', name)) {
    throw new VariableError(
      `${written} is not allowed in documents here: allow the environment variable in the settings, or write the value`,
    )
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (value !== undefined) return value
  if (fallback) return render(fallback, options)
  const set = Object.keys(env).filter((other) => env[other] !== undefined && allowed('env', other))
  const hint = nearest(name, set)
  const meant = hint === undefined ? '' : ` (did you mean ${hint}?)`
  const advice = name.includes(':') ? 'a default follows ":-"' : 'set it, or give a default'
  throw new VariableError(
    `${written}: the environment variable is not set${meant}: ${advice}, as in $(env:NAME:-default)`,
  )
}

const charset = /^(utf-?8|us-ascii|ascii|utf-?16\w*|iso-8859-\d+|latin1|windows-\d+):/i

function resolveFile(name: string, { written, fallback }: Variable, options: SubstituteOptions): string {
  const encoding = charset.exec(name)?.[1]
  if (encoding !== undefined && !/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) {
    throw new VariableError(
      `${written}: files are read as UTF-8, not as ${encoding}: convert the file and write $(file:PATH)`,
    )
  }
  const path = encoding === undefined ? name : name.slice(encoding.length + 1)
  if (path === '') throw new VariableError(`${written} lacks the path of the file: write $(file:PATH)`)
  if (!options.readFile) {
    throw new VariableError(`${written}: no files are read from here: write the value, or use $(env:NAME)`)
  }
  if (!options.allowed('file', path)) {
    throw new VariableError(
      `${written} is not allowed in documents here: allow the file's folder in the settings, or move the file`,
    )
  }
  try {
    return options.readFile(path).replace(/\r?\n$/, '')
  } catch (error) {
    if (fallback) return render(fallback, options)
    // Up to the comma: what follows is the path, which may hold the value of a variable.
    const [reason] = (error instanceof Error ? error.message : String(error)).split(',')
    throw new VariableError(
      `${written}: the file cannot be read (${reason}): create it, or give a default, as in $(file:PATH:-default)`,
    )
  }
}
