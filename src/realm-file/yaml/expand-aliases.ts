// Expands aliases, within limits.
import { isList, type Json } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import type { YamlSource } from './events.ts'
import { maxDepth, maxExpansion, megabyte } from './limits.ts'
import { createLocator } from './locator.ts'
import { DocumentError } from './problem.ts'

/**
 * Returns the value with a copy at every alias, so that a change of one does not change the others.
 * @throws DocumentError if the result is too deep or too long.
 */
export function expandAliases(source: YamlSource, root: number, value: Json): Json {
  const fail = (path: DocumentPath, message: string): never => {
    throw new DocumentError([{ position: createLocator(source)(root, path), message }])
  }
  const { size } = new ExpansionMeter((path) =>
    fail(
      path,
      `aliases nest this document more than ${maxDepth} levels deep, or an alias contains itself: write the value out`,
    ),
  ).measure(value)
  if (size > source.text.length + maxExpansion) {
    fail(
      [],
      `aliases add more than ${maxExpansion / megabyte} MB to this document: use fewer, or a script that writes it`,
    )
  }
  return JSON.parse(JSON.stringify(value))
}

interface Measure {
  /** The approximate length of the text with expanded aliases. */
  readonly size: number
  readonly height: number
}

class ExpansionMeter {
  readonly #failAtDepth: (path: DocumentPath) => never
  readonly #measured = new Map<object, Measure>()
  readonly #path: (string | number)[] = []

  constructor(failAtDepth: (path: DocumentPath) => never) {
    this.#failAtDepth = failAtDepth
  }

  measure(value: Json): Measure {
    if (this.#path.length > maxDepth) this.#failAtDepth(this.#path)
    if (typeof value !== 'object' || value === null) return { size: String(value).length + 1, height: 0 }
    const measured = this.#measured.get(value)
    if (measured && this.#path.length + measured.height > maxDepth) this.#failAtDepth(this.#path)
    if (measured) return measured
    let size = 2
    let height = 0
    for (const [key, child] of Object.entries(value)) {
      this.#path.push(key)
      const inner = this.measure(child)
      this.#path.pop()
      size += inner.size + (isList(value) ? 0 : key.length + 1)
      height = Math.max(height, inner.height + 1)
    }
    const measure = { size, height }
    this.#measured.set(value, measure)
    return measure
  }
}
