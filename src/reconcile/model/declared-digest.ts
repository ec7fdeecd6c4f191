// The digest by which the inventory detects a changed declaration. Pure.
import { hash } from 'node:crypto'
import type { FlatFields } from '../../kinds/compare.ts'
import { memoizeReused } from '../../lib/timing/memoize.ts'
import type { ObjectDeclaration } from './plan-input.ts'

/** The digest in an inventory row whose object is no longer declared. */
export const NOT_DECLARED = ''

type DigestedDeclaration = Pick<ObjectDeclaration, 'kind' | 'key' | 'fields' | 'origin' | 'encrypted' | 'isReused'>

/** Returns a digest of a declaration: of kind, key, fields in any order, file and line. Of encrypted values, it covers keyed digests. */
export const digestDeclaration = memoizeReused((declaration: DigestedDeclaration): string => {
  const { kind, key, origin, encrypted } = declaration
  const { file, line } = origin.position
  const values = { ...toFlatFields(declaration), ...(encrypted && Object.fromEntries(encrypted)) }
  const fields = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([kind, key, fields, file, line]), 'base64url')
})

/** Returns the declared values by path, in the form in which they are compared. */
export function toFlatFields({ fields }: Pick<ObjectDeclaration, 'fields'>): FlatFields {
  return Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
}
