// The digest by which the inventory knows how an object is declared. Pure.
import { hash } from 'node:crypto'
import type { FlatFields } from '../../kinds/compare.ts'
import type { DeclaredObject } from './plan-input.ts'

/** What the digest of a row of the inventory is whose object is stated no more. */
export const STATED_NO_MORE = ''

/** A digest of what the inventory says of an object that is stated so, in whatever order. */
export function statedDigest(stated: Pick<DeclaredObject, 'kind' | 'key' | 'fields' | 'origin'>): string {
  const { kind, key, origin } = stated
  const { file, line } = origin.position
  const fields = Object.entries(valuesOf(stated)).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([kind, key, fields, file, line]), 'base64url')
}

/** The declared values by path, as they are compared. */
export function valuesOf({ fields }: Pick<DeclaredObject, 'fields'>): FlatFields {
  return Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
}
