// The values of variables: from the environment and from files.
import { getErrorMessage } from '../lib/error-message.ts'
import { findNearestWord } from '../lib/nearest-word.ts'
import { type Template, type Variable, VariableError } from './variable-template.ts'

/** The sources of values, and the permission of a document to use them. */
export interface VariableOptions {
  readonly env: Record<string, string | undefined>
  /** Returns the text of a file, by the path in the document. Throws if it cannot be read. Undefined if files are not available. */
  readonly readFile: ((path: string) => string) | undefined
  /** Whether the settings allow a name or path. Called before a value is read. */
  readonly isAllowed: (kind: 'env' | 'file', name: string) => boolean
  /** Whether `${NAME}` of an environment variable is a variable too, as in Keycloak's imports. */
  readonly replacesPlaceholders?: boolean | undefined
}

/**
 * Renders a text with the values of its variables.
 * @throws VariableError if a variable has no value.
 */
export function renderTemplate(template: Template, options: VariableOptions): string {
  return template.map((part) => (typeof part === 'string' ? part : resolve(part, options))).join('')
}

function resolve(variable: Variable, options: VariableOptions): string {
  const name = renderTemplate(variable.name, options)
  const colon = name.indexOf(':')
  const resolver = colon < 0 ? name : name.slice(0, colon)
  if (colon > 0 && resolver === 'env') return resolveEnv(name.slice(colon + 1), variable, options)
  if (colon > 0 && resolver === 'file') return resolveFile(name.slice(colon + 1), variable, options)
  if (colon > 0 && resolver === 'generated') return resolveGenerated(name.slice(colon + 1), variable)
  const replacement = colon > 0 ? replacements.get(resolver.toLowerCase()) : undefined
  if (replacement !== undefined)
    throw new VariableError(`${variable.source} is not read: ${replacement}. For the text "$(" write "$$("`)
  const hint = findNearestWord(resolver, ['env', 'file', 'generated'])
  const advice =
    hint === undefined ? 'use $(env:NAME), $(file:PATH) or $(generated:NAME).' : `did you mean $(${hint}:…)?`
  throw new VariableError(`${variable.source} is unknown: ${advice} For the text "$(" write "$$("`)
}

const inVariable = (step: string) => `${step}, set it as an environment variable, and write $(env:NAME)`
const inFile = (step: string) => `${step}, and write $(file:PATH)`

/** The replacements of the other lookups of keycloak-config-cli, which are those of Apache Commons Text. */
const replacements: ReadonlyMap<string, string> = new Map([
  ['base64', inVariable('decode or encode the value before the run')],
  ['base64decoder', inVariable('decode the value before the run (base64 --decode)')],
  ['base64encoder', inVariable('encode the value before the run (base64)')],
  ['const', 'write the value of the Java constant'],
  ['date', inVariable('format the date before the run (date)')],
  ['dns', inVariable('look up the address before the run (getent hosts)')],
  ['java', inVariable('determine the value before the run')],
  ['localhost', inVariable('determine the name before the run (hostname)')],
  ['properties', inVariable('take the value out of the properties file')],
  ['resourcebundle', inVariable('take the value out of the resource bundle')],
  ['script', inVariable('compute the value before the run')],
  ['sys', 'set an environment variable to the value, and write $(env:NAME)'],
  ['url', inFile('download the file before the run (curl --output)')],
  ['urldecoder', inVariable('decode the value before the run')],
  ['urlencoder', inVariable('encode the value before the run')],
  ['xml', inVariable('take the value out of the XML file before the run')],
  ['xmldecoder', inVariable('decode the value before the run')],
  ['xmlencoder', inVariable('encode the value before the run')],
])

/** The beginning of a variable for a secret that Regent generates. */
export const GENERATED_SECRET_PREFIX = '$(generated:'

/** Returns the name in a text that is only a variable for a generated secret; undefined for any other text. */
export function parseGeneratedSecret(text: string): string | undefined {
  return /^\$\(generated:([\w.-]{1,100})\)$/.exec(text)?.[1]
}

/** Checks a generated secret, which stays a variable, since Regent generates it when it applies the document. */
function resolveGenerated(name: string, { source, defaultValue }: Variable): string {
  const text = `$(generated:${name})`
  if (defaultValue || parseGeneratedSecret(text) === undefined)
    throw new VariableError(`${source} is invalid: write a name of letters, digits, "_", "." and "-", and no default`)
  return text
}

function resolveEnv(name: string, { source, defaultValue }: Variable, options: VariableOptions): string {
  const { env, isAllowed } = options
  if (name === '') throw new VariableError(`${source} has no name: write $(env:NAME)`)
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  const usesDefault = defaultValue !== undefined && value === undefined
  if (!usesDefault && !isAllowed('env', name)) {
    throw new VariableError(
      `${source} is not allowed in documents: allow env:${name} with --variables (of a server: --source-variables), or write the value`,
    )
  }
  if (value !== undefined) return value
  if (defaultValue) return renderTemplate(defaultValue, options)
  const allowedNames = Object.keys(env).filter((other) => env[other] !== undefined && isAllowed('env', other))
  const intended = findNearestWord(name, allowedNames)
  const hint = intended === undefined ? '' : ` (did you mean ${intended}?)`
  const advice = name.includes(':') ? 'a default follows ":-"' : 'set it, or give a default'
  throw new VariableError(
    `${source}: the environment variable is not set${hint}: ${advice}, as in $(env:NAME:-default)`,
  )
}

const charset = /^(utf-?8|us-ascii|ascii|utf-?16\w*|iso-8859-\d+|latin1|windows-\d+):/i

function resolveFile(name: string, { source, defaultValue }: Variable, options: VariableOptions): string {
  const encoding = charset.exec(name)?.[1]
  if (encoding !== undefined && !/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) {
    throw new VariableError(
      `${source}: files are read as UTF-8, not as ${encoding}: convert the file and write $(file:PATH)`,
    )
  }
  const path = encoding === undefined ? name : name.slice(encoding.length + 1)
  if (path === '') throw new VariableError(`${source} has no path: write $(file:PATH)`)
  if (!options.readFile) {
    throw new VariableError(`${source}: files are not available here: write the value, or use $(env:NAME)`)
  }
  if (!options.isAllowed('file', path)) {
    throw new VariableError(
      `${source} is not allowed in documents: allow file: and its folder with --variables (of a server: --source-variables), or move the file`,
    )
  }
  try {
    return options.readFile(path).replace(/\r?\n$/, '')
  } catch (error) {
    if (defaultValue) return renderTemplate(defaultValue, options)
    // After the comma is the path, which may contain the value of a variable.
    const [reason] = getErrorMessage(error).split(',')
    throw new VariableError(
      `${source}: the file cannot be read (${reason}): create it, or give a default, as in $(file:PATH:-default)`,
    )
  }
}
