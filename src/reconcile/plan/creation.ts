// The creation of a declared object. It refers to the declaration instead of copying it. Pure.
import { addDefaults, readKeys, resolveField, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import { type Action, type Attribution, type FieldChange, toPlainAction } from '../model/action.ts'
import type { ObjectDeclaration } from '../model/plan-input.ts'
import { listFields } from './binding.ts'

/** The action that creates a declared object. */
export class Creation implements Action {
  readonly operation = 'create'
  readonly kind: KindName
  readonly key: Key
  readonly id?: string
  readonly deletedBy?: Attribution
  readonly hasEncryptedValues?: true
  readonly #declaration: ObjectDeclaration

  /** `deletedBy`: the author of the deletion that the creation reverts. */
  constructor(declaration: ObjectDeclaration, deletedBy: Attribution | undefined) {
    this.kind = declaration.kind
    this.key = declaration.key
    if (declaration.id !== undefined) this.id = declaration.id
    if (deletedBy) this.deletedBy = deletedBy
    if (declaration.encrypted) this.hasEncryptedValues = true
    this.#declaration = declaration
  }

  /** The declared fields as changes, created on each access. A null is left out where creation sets no value anyway. */
  get changes(): FieldChange[] {
    const kind = kinds[this.kind]
    const hasDefault = (path: string) =>
      resolveField(kind, path).field.relation || valueAt(kind, addDefaults(kind, {}), path) !== null
    return listFields(this.#declaration)
      .filter(({ path, value }) => value !== null || hasDefault(path))
      .map(({ path, value, origin, encrypted }): FieldChange => {
        const cause = {
          path,
          reason: 'declared' as const,
          get position() {
            return origin.locate(path)
          },
        }
        return resolveField(kind, path).field.relation
          ? Object.assign(cause, { add: readKeys(value), remove: [] })
          : Object.assign(cause, { from: null, to: value, ...(encrypted !== undefined && { encrypted }) })
      })
  }

  get position(): SourcePosition {
    return this.#declaration.origin.position
  }

  toJSON(): Action {
    return toPlainAction(this)
  }
}
