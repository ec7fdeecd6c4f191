// An object of a realm as all documents of a source, or of all sources, declare it together.
import type { UnenforcedValue } from '../../kinds/effects/find-unenforced.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { DeclaredFieldMap } from '../model/declared-field-map.ts'
import type { DeclarationOrigin } from '../model/plan-input.ts'

/** An object as all documents declare it together. */
export interface DesiredObject {
  readonly kind: KindName
  readonly key: Key
  readonly id: string | undefined
  /** The former name of a renamed object. */
  readonly renamedFrom: string | undefined
  readonly fields: DeclaredFieldMap
  /** Its secrets in the clear, by path. They are never part of a plan. */
  readonly secrets: Readonly<Record<string, Json>> | undefined
  /** The values within its secrets that are not enforced, such as the types of credentials. */
  readonly unenforcedSecrets?: readonly UnenforcedValue[] | undefined
  /** The origins of masked secrets, by path. */
  readonly masked: ReadonlyMap<string, DeclarationOrigin>
  /** Paths of secrets that documents hold as literals. */
  readonly literal: readonly string[]
  /** Digests of encrypted values of fields that are no secrets, by path. */
  readonly encrypted?: ReadonlyMap<string, string> | undefined
  /** Whether documents only refer to the object, so that it has to exist. */
  readonly isReference: boolean
  /** The origin of its first declaration. */
  readonly origin: DeclarationOrigin
  /** Later runs get the same object if its file is unchanged, so that values derived from it are cached. */
  readonly isReused?: true
}
