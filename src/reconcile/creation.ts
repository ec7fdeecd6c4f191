// The creation of an object: it says what is stated, and keeps no copy of that. Pure.
import { creation, resolve, valueAt } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { Position } from '../lib/position.ts'
import { type Action, type Attribution, asPlain, type Change } from './action.ts'
import type { Stated } from './plan-input.ts'

/** An action that makes what is stated. */
export class Creation implements Action {
  readonly operation = 'create'
  readonly kind: KindName
  readonly key: Key
  readonly id?: string
  readonly lost?: Attribution
  readonly #stated: Stated

  constructor(stated: Stated, lost: Attribution | undefined) {
    this.kind = stated.kind
    this.key = stated.key
    if (stated.id !== undefined) this.id = stated.id
    if (lost) this.lost = lost
    this.#stated = stated
  }

  /** Made anew each time, from what is stated. */
  get changes(): Change[] {
    const { fields } = this.#stated
    const kind = kinds[this.kind]
    const isGiven = (path: string) => valueAt(kind, creation(kind, {}), path) !== null
    return (
      [...fields]
        // To state that there is none says something only where creation would give one.
        .filter(([path, { value }]) => value !== null || isGiven(path))
        .map(([path, { value, origin }]): Change => {
          const what = resolve(kind, path).field.relation
            ? { add: value as unknown as Key[] }
            : { from: null, to: value }
          return {
            path,
            ...what,
            why: 'stated',
            get position() {
              return origin.locate(path)
            },
          }
        })
    )
  }

  get position(): Position {
    return this.#stated.origin.position
  }

  toJSON(): Action {
    return asPlain(this)
  }
}
