// The creation of an object: it says what is stated, and keeps no copy of that. Pure.
import { creation, keysOf, resolve, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Position } from '../../lib/position.ts'
import { type Action, type Attribution, type FieldChange, toPlainAction } from '../model/action.ts'
import type { DeclaredObject } from '../model/plan-input.ts'

/** An action that makes what is stated. */
export class Creation implements Action {
  readonly operation = 'create'
  readonly kind: KindName
  readonly key: Key
  readonly id?: string
  readonly deletedBy?: Attribution
  readonly #stated: DeclaredObject

  constructor(stated: DeclaredObject, lost: Attribution | undefined) {
    this.kind = stated.kind
    this.key = stated.key
    if (stated.id !== undefined) this.id = stated.id
    if (lost) this.deletedBy = lost
    this.#stated = stated
  }

  /** Made anew each time, from what is stated. */
  get changes(): FieldChange[] {
    const { fields } = this.#stated
    const kind = kinds[this.kind]
    const isGiven = (path: string) =>
      resolve(kind, path).field.relation || valueAt(kind, creation(kind, {}), path) !== null
    return (
      [...fields]
        // To state that there is none says something only where creation would give one.
        .filter(([path, { value }]) => value !== null || isGiven(path))
        .map(([path, { value, origin }]): FieldChange => {
          const cause = {
            path,
            reason: 'declared' as const,
            get position() {
              return origin.locate(path)
            },
          }
          return resolve(kind, path).field.relation
            ? Object.assign(cause, { add: keysOf(value), remove: [] })
            : Object.assign(cause, { from: null, to: value })
        })
    )
  }

  get position(): Position {
    return this.#stated.origin.position
  }

  toJSON(): Action {
    return toPlainAction(this)
  }
}
