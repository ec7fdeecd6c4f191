// Reads files and parses their documents. Files that are read again and again are parsed only after a change.
import { isUtf8 } from 'node:buffer'
import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { megabyte } from '../../realm-file/yaml/limits.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'

/** The number of files that are open at the same time. */
const OPEN_FILES = 16
/** Total size of the files in a cache, in characters. */
const CACHE_SIZE = 16 * megabyte
/** Milliseconds in which two changes of a file may have the same timestamp: some file systems count in steps of two seconds. */
const TIMESTAMP_STEP = 2_000

/** The text of a file. */
export interface FileText {
  /** Its name in messages. */
  readonly file: string
  readonly text: string
  readonly isUtf8: boolean
  /** Returns the documents of the file, the same ones at each call. Throws DocumentError where they are invalid. */
  parse(): Document[]
}

/** Reads the file at a path. `file`: its name in messages. */
export type ReadFile = (path: string, file: string) => Promise<FileText>

/** Returns the text of a file with these bytes. */
export function toFileText(file: string, bytes: Buffer): FileText {
  const text = bytes.toString('utf8')
  return { file, text, isUtf8: isUtf8(bytes), parse: memoize(() => parseDocuments(file, text)) }
}

/** Returns a function that reads files. */
export function createFileReader(): ReadFile {
  const atMost = limitConcurrency(OPEN_FILES)
  return (path, file) => atMost(async () => toFileText(file, await readFile(path)))
}

/** Returns a function that reads files, and returns the same text as before for a file without changes. */
export function createCachingFileReader(): ReadFile {
  const files = new Map<string, { readonly stats: Stats | undefined; readonly content: FileText }>()
  const read = createFileReader()
  let total = 0
  const remove = (path: string) => {
    total -= files.get(path)?.content.text.length ?? 0
    files.delete(path)
  }
  return async (path, file) => {
    const stats = await stat(path)
    const cached = files.get(path)
    const isOfFile = cached?.content.file === file
    if (isOfFile && cached.stats && isSameVersion(cached.stats, stats)) return cached.content
    const mayChangeUnnoticed = Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) < TIMESTAMP_STEP
    const current = await read(path, file)
    const content = isOfFile && cached.content.text === current.text ? cached.content : current
    remove(path)
    files.set(path, { stats: mayChangeUnnoticed ? undefined : stats, content })
    total += content.text.length
    for (const oldest of files.keys()) {
      if (total <= CACHE_SIZE) break
      remove(oldest)
    }
    return content
  }
}

/** Whether a file was not changed between two calls of `stat`. */
function isSameVersion(before: Stats, after: Stats): boolean {
  return (['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs'] as const).every((name) => before[name] === after[name])
}
