import type { Representation } from '../kinds/json.ts'
import type { Key, KindName } from '../kinds/kind.ts'

/** Which objects of a realm: those of any of these. Nothing stated: all. */
export interface ObjectFilter {
  readonly ids?: readonly string[]
  readonly keys?: readonly Key[]
  readonly parents?: { readonly kind: KindName; readonly ids: readonly string[] }
  /** Only those that belong to the realm itself. */
  readonly topLevel?: true
  /** Part of the natural key, in any case. */
  readonly search?: string
  /** Part of the representation as it is kept: these values, nested. */
  readonly containing?: Representation
  /** What the caller may see. */
  readonly visible?: Visibility
  readonly first?: number
  readonly max?: number
}

/** What a caller may see of a kind: everything, or the objects with these ids. */
export type Visibility = 'all' | { readonly ids: readonly string[] }
