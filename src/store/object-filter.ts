import type { Representation } from '../kinds/json.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import type { Visibility } from './visibility.ts'

/**
 * Selects objects of a realm: those with one of the ids, keys or parents, if any are given; of these, the ones that meet all other
 * conditions.
 */
export interface ObjectFilter {
  readonly ids?: readonly string[]
  readonly keys?: readonly Key[]
  readonly parents?: { readonly kind: KindName; readonly ids: readonly string[] }
  /** Only objects without a parent. */
  readonly topLevel?: true
  /** Part of the natural key, ignoring case. */
  readonly search?: string
  /** Whether `search` may be part of the description instead. */
  readonly searchDescriptions?: true
  /** Values that the stored representation must contain, at the same paths. */
  readonly containing?: Representation
  readonly visible?: Visibility
  readonly first?: number
  readonly max?: number
}
