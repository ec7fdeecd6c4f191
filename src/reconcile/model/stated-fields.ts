// The stated fields of an object in little room, since a realm may state a hundred thousand: objects that state the same
// fields share their names.
import type { Json } from '../../kinds/json.ts'
import type { SourcePosition } from './plan-input.ts'

/** One stated value: as it is compared (a secret as its digest), and where it comes from. */
export interface StatedValue {
  readonly value: Json
  readonly origin: SourcePosition
}

/** What is stated of an object, by path. */
export class StatedFields implements Iterable<[path: string, stated: StatedValue]> {
  readonly #names: readonly string[]
  readonly #values: readonly Json[]
  readonly #origins: SourcePosition | readonly SourcePosition[]

  /** `origins`: one for all values, or one for each. */
  constructor(names: readonly string[], values: readonly Json[], origins: SourcePosition | readonly SourcePosition[]) {
    this.#names = names
    this.#values = values
    this.#origins = origins
  }

  get size(): number {
    return this.#names.length
  }

  has(path: string): boolean {
    return this.#names.includes(path)
  }

  get(path: string): StatedValue | undefined {
    const at = this.#names.indexOf(path)
    return at < 0 ? undefined : this.#at(at)
  }

  [Symbol.iterator](): ArrayIterator<[path: string, stated: StatedValue]> {
    return this.#names.map((path, at): [string, StatedValue] => [path, this.#at(at)]).values()
  }

  #at(at: number): StatedValue {
    const origins = this.#origins
    return { value: this.#values[at]!, origin: Array.isArray(origins) ? origins[at] : (origins as SourcePosition) }
  }
}
