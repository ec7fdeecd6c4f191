// Variables in documents: `$(env:NAME)` and `$(file:PATH)`, in the syntax of keycloak-config-cli.
import { isList, type Json } from '../kinds/json.ts'
import type { DocumentPath } from '../lib/source-position.ts'
import { createPlaceholderReplacer } from './resources/keycloak-import.ts'
import { parseTemplate, VariableError } from './variable-template.ts'
import { renderTemplate, type VariableOptions } from './variables.ts'
import { type DecryptedDocument, type Document, markVariables } from './yaml/document.ts'
import { DocumentError, type DocumentProblem, toJsonPointer } from './yaml/problem.ts'

/** A document with the values of its variables. */
export interface SubstitutedDocument extends Document {
  /** The texts that contained variables or escapes, or were encrypted, as the document writes them, by JSON pointer. */
  readonly substituted: ReadonlyMap<string, string>
}

/** The results for documents that can have no variables. */
const constantDocuments = new WeakMap<Document, SubstitutedDocument>()

/**
 * Replaces every variable in the texts of a document with its value. Keys and other `${…}`, which are Keycloak's, are not variables.
 *
 * - `$(env:NAME)`: an environment variable. An empty one counts as set.
 * - `$(file:PATH)`, `$(file:UTF-8:PATH)`: the text of a file, without one line break at its end.
 * - `$(env:NAME:-default)`: the default if the variable is not set or the file cannot be read.
 *   Name and default may contain variables.
 * - `$(generated:NAME)`: a secret that Regent generates when it applies the document; it is not replaced here.
 * - `$$(`: the text `$(`.
 * - `${NAME}` in a `KeycloakRealmImport` with a placeholder of that name: the same as `$(env:NAME)`.
 * - with `replacesPlaceholders`: `${NAME}` of an environment variable that is set, and `${NAME:default}`.
 *
 * The result is always a text. Variables in values are not replaced. Parts of the document without variables are not copied. A document that
 * can have no variables has the same result each time, so that what is derived from it can be cached.
 * @throws DocumentError with every variable that is unknown, not set or not allowed.
 */
export function substituteVariables(document: DecryptedDocument, options: VariableOptions): SubstitutedDocument {
  const cached = options.replacesPlaceholders ? undefined : constantDocuments.get(document)
  if (cached) return cached
  const substituted = new Map(document.encrypted)
  const problems: DocumentProblem[] = []
  const replacePlaceholders = createPlaceholderReplacer(
    document.value,
    options.replacesPlaceholders ? options.env : undefined,
  )

  function visitText(text: string, path: DocumentPath): string {
    if (text.includes(SCRIPT)) problems.push(createProblem(document, path, SCRIPT_PROBLEM))
    const template = replacePlaceholders?.(text) ?? text
    if (!template.includes('$(')) return text
    try {
      const rendered = renderTemplate(parseTemplate(template), options)
      const pointer = toJsonPointer(path)
      if (rendered !== text && !substituted.has(pointer)) substituted.set(pointer, text)
      return rendered
    } catch (error) {
      if (!(error instanceof VariableError)) throw error
      problems.push(createProblem(document, path, error.message))
      return text
    }
  }

  const mayVary = replacePlaceholders || containsText(document.value, '$(', SCRIPT)
  const value = mayVary ? transformTextsByPath(document.value, visitText) : document.value
  if (problems.length > 0) throw new DocumentError(problems)
  const result = Object.assign(markVariables(document, value, substituted.keys()), { substituted })
  if (!mayVary) constantDocuments.set(document, result)
  return result
}

/** Escapes a text so that it contains no variables, for rendered documents. */
export function escapeVariables(text: string): string {
  return text.replaceAll('$(', '$$$$(')
}

const SCRIPT = '$${javascript:'
const SCRIPT_PROBLEM = `"${SCRIPT}…}" is not supported: write its result, or a variable as $(env:NAME)`

function createProblem(document: Document, path: DocumentPath, message: string): DocumentProblem {
  return { position: document.locate(path), message, path: toJsonPointer(path) }
}

/** Whether any text in the value contains one of the parts. Keys do not count. Much faster than `transformTextsByPath`. */
export function containsText(value: Json, ...parts: readonly string[]): boolean {
  if (typeof value === 'string') return parts.some((part) => value.includes(part))
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((member) => containsText(member, ...parts))
}

/** Returns the value with every text transformed, but not its keys. Parts without changes are not copied. */
export function transformTextsByPath(value: Json, transform: (text: string, path: DocumentPath) => Json): Json {
  const path: (string | number)[] = []

  function visit(current: Json): Json {
    if (typeof current === 'string') return transform(current, path)
    if (typeof current !== 'object' || current === null) return current
    let copy: Json[] | Record<string, Json> | undefined
    for (const [key, child] of Object.entries(current)) {
      const step = isList(current) ? Number(key) : key
      path.push(step)
      const changed = visit(child)
      path.pop()
      if (changed === child) continue
      copy ??= isList(current) ? [...current] : { ...current }
      // Not an assignment, since `__proto__` would change the prototype.
      Object.defineProperty(copy, step, { value: changed, enumerable: true, configurable: true, writable: true })
    }
    return copy ?? current
  }

  return visit(value)
}
