// Words for messages about documents.

import { kinds } from '../kinds/index.ts'
import { isList, type Json } from '../kinds/json.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { describeObject } from '../kinds/tree.ts'

/** Returns a word for the type of a value, but never the value, which may be a secret from a variable. */
export function describeType(value: Json | undefined): string {
  if (value === undefined || value === null || typeof value === 'boolean') return String(value)
  if (value === '') return 'an empty one'
  if (typeof value === 'object') return isList(value) ? 'a list' : 'an object'
  return typeof value === 'number' ? 'a number' : 'a string'
}

/** Returns the noun with its article: `a client`, `an authentication flow`. */
export function addArticle(noun: string): string {
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** Joins words into a phrase: `all, external or none`. */
export function joinWords(words: readonly string[], conjunction = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}

/** Returns the name of an object in messages, also if its own name or that of its parent is missing. */
export function describeDeclaredObject(kind: KindName, key: Key): string {
  return key.includes('') ? `${kinds[kind].title} ${key.at(-1)}`.trim() : describeObject(kind, key)
}
