// A parser for files that are read again and again.
import { createLruCache } from '../../lib/timing/lru-cache.ts'
import type { Document } from './document.ts'
import { megabyte } from './limits.ts'
import { parseDocuments } from './parse-documents.ts'

/** Total size of the files in the cache, in characters. */
const CACHE_SIZE = 4 * megabyte

/** Returns a parser that caches the documents of recent files. Files larger than the cache are parsed every time. */
export function createCachingParser(): typeof parseDocuments {
  const parsed = createLruCache<string, Document[]>(CACHE_SIZE)
  return (file, text) => {
    const parse = () => parseDocuments(file, text)
    return text.length > CACHE_SIZE ? parse() : parsed(`${file}\0${text}`, text.length, parse)
  }
}
