// The declared fields of an object in a compact form, since a realm may declare 100,000 objects: objects that declare the
// same fields share the list of their names.
import type { Json } from '../../kinds/json.ts'
import type { DeclarationOrigin } from './plan-input.ts'

/** A declared value in the form in which it is compared (a secret is its digest), and its origin. */
export interface DeclaredValue {
  readonly value: Json
  readonly origin: DeclarationOrigin
}

/** The declared fields of an object by path. */
export class DeclaredFieldMap implements Iterable<[path: string, declared: DeclaredValue]> {
  readonly #paths: readonly string[]
  readonly #values: readonly Json[]
  readonly #origins: DeclarationOrigin | readonly DeclarationOrigin[]

  /** `origins`: one for all values, or one for each. */
  constructor(
    paths: readonly string[],
    values: readonly Json[],
    origins: DeclarationOrigin | readonly DeclarationOrigin[],
  ) {
    this.#paths = paths
    this.#values = values
    this.#origins = origins
  }

  get size(): number {
    return this.#paths.length
  }

  has(path: string): boolean {
    return this.#paths.includes(path)
  }

  get(path: string): DeclaredValue | undefined {
    const index = this.#paths.indexOf(path)
    return index < 0 ? undefined : this.#at(index)
  }

  /** Returns the fields with some of them replaced, or removed where the new value is undefined. */
  replace(replacements: ReadonlyMap<string, DeclaredValue | undefined>): DeclaredFieldMap {
    const all = [...this].flatMap(([path, declared]): [string, DeclaredValue][] => {
      const value = replacements.has(path) ? replacements.get(path) : declared
      return value ? [[path, value]] : []
    })
    return new DeclaredFieldMap(
      all.map(([path]) => path),
      all.map(([, { value }]) => value),
      all.map(([, { origin }]) => origin),
    )
  }

  [Symbol.iterator](): ArrayIterator<[path: string, declared: DeclaredValue]> {
    return this.#paths.map((path, index): [string, DeclaredValue] => [path, this.#at(index)]).values()
  }

  #at(index: number): DeclaredValue {
    const origins = this.#origins
    return { value: this.#values[index]!, origin: 'position' in origins ? origins : origins[index]! }
  }
}
