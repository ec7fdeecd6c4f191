// The words of messages about documents.
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { describe } from '../kinds/tree.ts'

/** What a value is, never the value: it may come from a variable. */
export function found(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty one'
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'number' ? 'a number' : 'a text'
}

/** `a client`, `an authentication flow`. */
export function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** `all, external or none`. */
export function anyOf(words: readonly string[], last = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

/** How messages call an object, also one whose name or whose parent's name is missing. */
export function nameOf(kind: KindName, key: Key): string {
  return key.includes('') ? `${kinds[kind].title} ${key.at(-1)}`.trim() : describe(kind, key)
}
