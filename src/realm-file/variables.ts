// What variables stand for: the environment and files.
import { messageOf } from '../lib/message-of.ts'
import { nearest } from '../lib/nearest.ts'
import { type Template, type Variable, VariableError } from './template.ts'

/** Where values come from, and which of them a document may have. */
export interface SubstituteOptions {
  readonly env: Record<string, string | undefined>
  /** The text of a file, by the path in the document; throws when it cannot be read. Undefined: no files here. */
  readonly readFile: ((path: string) => string) | undefined
  /** Whether the settings allow it: asked before a value is taken, with the name or path that results. */
  readonly allowed: (kind: 'env' | 'file', name: string) => boolean
}

/** The text with the values of its variables. Throws VariableError where one has none. */
export function render(template: Template, options: SubstituteOptions): string {
  return template.map((part) => (typeof part === 'string' ? part : resolve(part, options))).join('')
}

function resolve(variable: Variable, options: SubstituteOptions): string {
  const name = render(variable.name, options)
  const colon = name.indexOf(':')
  const resolver = colon < 0 ? name : name.slice(0, colon)
  if (colon > 0 && resolver === 'env') return resolveEnv(name.slice(colon + 1), variable, options)
  if (colon > 0 && resolver === 'file') return resolveFile(name.slice(colon + 1), variable, options)
  if (colon > 0 && resolver === 'generated') return resolveGenerated(name.slice(colon + 1), variable)
  const hint = nearest(resolver, ['env', 'file', 'generated'])
  const known =
    hint === undefined ? 'there are $(env:NAME), $(file:PATH) and $(generated:NAME).' : `did you mean $(${hint}:…)?`
  throw new VariableError(`${variable.written} is not known here: ${known} For the text "$(" write "$$("`)
}

/** What a secret that Regent is to make begins with, in a document. */
export const GENERATED = '$(generated:'

/** The name in a text that is a secret which Regent is to make, and nothing else. */
export function generatedIn(text: string): string | undefined {
  return /^\$\(generated:([\w.-]{1,100})\)$/.exec(text)?.[1]
}

/** What is made where the documents are applied stays as it is written. */
function resolveGenerated(name: string, { written, fallback }: Variable): string {
  const text = `$(generated:${name})`
  if (fallback || generatedIn(text) === undefined)
    throw new VariableError(`${written} is none: a name has letters, digits, "_", "." and "-", and there is no default`)
  return text
}

function resolveEnv(name: string, { written, fallback }: Variable, options: SubstituteOptions): string {
  const { env, allowed } = options
  if (name === '') throw new VariableError(`${written} lacks the name of the environment variable: write $(env:NAME)`)
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  // Its default needs no variable.
  if (!allowed('env', name) && !(fallback && value === undefined)) {
    throw new VariableError(
      `${written} is not allowed in documents here: allow env:${name} with --variables (of a server: --source-variables), or write the value`,
    )
  }
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
      `${written} is not allowed in documents here: allow file: and its folder with --variables (of a server: --source-variables), or move the file`,
    )
  }
  try {
    return options.readFile(path).replace(/\r?\n$/, '')
  } catch (error) {
    if (fallback) return render(fallback, options)
    // Up to the comma: what follows is the path, which may hold the value of a variable.
    const [reason] = messageOf(error).split(',')
    throw new VariableError(
      `${written}: the file cannot be read (${reason}): create it, or give a default, as in $(file:PATH:-default)`,
    )
  }
}
