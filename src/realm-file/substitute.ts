// Variables in documents: `$(env:NAME)` and `$(file:PATH)`, as keycloak-config-cli writes them.
import { isList, type Json } from '../kinds/json.ts'
import type { Path } from '../lib/position.ts'
import { placeholdersIn } from './resources/placeholders.ts'
import { parseTemplate, VariableError } from './template.ts'
import { render, type SubstituteOptions } from './variables.ts'
import { type Document, varied } from './yaml/document.ts'
import { DocumentError, type Problem, pointerOf } from './yaml/problem.ts'

/** A document whose variables have their values. */
export interface SubstitutedDocument extends Document {
  /** The texts that variables or their escapes have changed: JSON pointer (`pointerOf`) → the text as the document writes it. */
  readonly substituted: ReadonlyMap<string, string>
}

/**
 * The document with every variable in its texts replaced; keys are left alone, and so is `${…}`, which is Keycloak's.
 *
 * - `$(env:NAME)`: an environment variable. An empty one counts as set.
 * - `$(file:PATH)`, `$(file:UTF-8:PATH)`: a file's text, less one line break at its end.
 * - `$(env:NAME:-default)`: the default where the variable is not set or the file cannot be read.
 *   Name and default may hold variables.
 * - `$(generated:NAME)`: a secret that Regent makes where the document is applied; stays as it is here.
 * - `$$(`: the text `$(`.
 * - `${NAME}` in a `KeycloakRealmImport` that has a placeholder of that name: the same as `$(env:NAME)`.
 *
 * The result is always a text, and a value that holds `$(` is taken as it is. Throws DocumentError with every variable
 * that is unknown, missing or forbidden. What holds no variable is returned as it is, uncopied.
 */
export function substitute(document: Document, options: SubstituteOptions): SubstitutedDocument {
  const substituted = new Map<string, string>()
  const problems: Problem[] = []

  const placeholders = placeholdersIn(document.value)

  function visitText(text: string, path: Path): string {
    if (text.includes(script)) problems.push(problemAt(document, path, scriptMessage))
    const varying = placeholders?.(text) ?? text
    if (!varying.includes('$(')) return text
    try {
      const rendered = render(parseTemplate(varying), options)
      if (rendered !== text) substituted.set(pointerOf(path), text)
      return rendered
    } catch (error) {
      if (!(error instanceof VariableError)) throw error
      problems.push(problemAt(document, path, error.message))
      return text
    }
  }

  const value =
    placeholders || holdsText(document.value, '$(', script) ? mapTexts(document.value, [], visitText) : document.value
  if (problems.length > 0) throw new DocumentError(problems)
  return Object.assign(varied(document, value, substituted.keys()), { substituted })
}

/** The text written so that substitution gives it back: for rendering documents. */
export function escapeVariables(text: string): string {
  return text.replaceAll('$(', '$$$$(')
}

const script = '$${javascript:'
const scriptMessage = `"${script}…}" is not run here: write its result, or a variable as $(env:NAME)`

function problemAt(document: Document, path: Path, message: string): Problem {
  return { position: document.locate(path), message, path: pointerOf(path) }
}

/** Whether any text of the value holds one of these: much cheaper than a walk that knows its path. */
export function holdsText(value: Json, ...parts: readonly string[]): boolean {
  if (typeof value === 'string') return parts.some((part) => value.includes(part))
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((one) => holdsText(one, ...parts))
}

/** The value with every text changed; keys are left alone, and what does not change is not copied. */
export function mapTexts(value: Json, path: (string | number)[], visit: (text: string, path: Path) => string): Json {
  if (typeof value === 'string') return visit(value, path)
  if (typeof value !== 'object' || value === null) return value
  let copy: Json[] | Record<string, Json> | undefined
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key
    path.push(step)
    const mapped = mapTexts(child, path, visit)
    path.pop()
    if (mapped === child) continue
    copy ??= isList(value) ? [...value] : { ...value }
    // Not an assignment: to `__proto__` that would change the prototype.
    Object.defineProperty(copy, step, { value: mapped, enumerable: true, configurable: true, writable: true })
  }
  return copy ?? value
}
