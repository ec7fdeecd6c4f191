// A file, or a folder of files, as a source of documents.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { recent } from '../../lib/timing/recent.ts'
import type { UnknownFields } from '../../realm-file/parse.ts'
import { openEnvelopes } from '../../realm-file/resources/envelopes.ts'
import { substitute } from '../../realm-file/substitute.ts'
import { type Document, parseDocuments } from '../../realm-file/yaml/document.ts'
import { megabyte } from '../../realm-file/yaml/limits.ts'
import { byPlace, collect, DocumentError, type Problem } from '../../realm-file/yaml/problem.ts'
import type { SourceState, SourceText } from './source-state.ts'
import { packValues } from './text.ts'

/** How a file source is read. */
export interface FileSourceOptions {
  /** Absent: the path as it was named. */
  readonly name?: string | undefined
  readonly unknownFields?: UnknownFields | undefined
  readonly env: Record<string, string | undefined>
  /** Which variables and files documents may take values from. */
  readonly allowed: (kind: 'env' | 'file', name: string) => boolean
  /** Absent: each file is parsed whenever the source is read. */
  readonly parse?: Parse
  /** The folder that files are named from; absent: where people are. */
  readonly root?: string
  /** What messages call the source; absent: its path. */
  readonly called?: string
}

type Parse = typeof parseDocuments

/** Characters of files that are kept with what was parsed of them. */
const KEPT = 4 * megabyte

/** Parses files, and not again those that are as they were. What is too long to be kept is parsed whenever it is read. */
export function parsing(): Parse {
  const parsed = recent<string, Document[]>(KEPT)
  return (file, text) => {
    const parse = () => parseDocuments(file, text)
    return text.length > KEPT ? parse() : parsed(`${file}\0${text}`, text.length, parse)
  }
}

/** Whether a name in a source is left out. */
export const isHidden = (name: string): boolean => name.startsWith('.')

const EXTENSIONS = ['.yaml', '.yml', '.json']

/** What the file or folder states now. Throws DocumentError, or SourceError when there is nothing to read. */
export async function readFileSource(path: string, options: FileSourceOptions): Promise<SourceState & SourceText> {
  const { parse = parseDocuments, called = path } = options
  const shown = (file: string) => shownFrom(options.root, file)
  const files = await listFiles(path)
  const problems: Problem[] = []
  const read: Document[] = []
  const texts: SourceText['files'][number][] = []
  const hash = createHash('sha256')
  for (const file of files) {
    const text = await readFile(file, 'utf8')
    hash.update(`${relative(path, file)}\0${text}\0`)
    const documents = collect(problems, () => parse(shown(file), text))
      .flat()
      .flatMap((document) => collect(problems, () => substitute(document, variables(options, file))))
    read.push(...documents)
    texts.push({ file: shown(file), text, values: packValues(documents) })
  }
  const [opened] = collect(problems, () => openEnvelopes(read, options.unknownFields))
  if (problems.length) throw new DocumentError(byPlace(problems, texts))
  const { documents, notices } = opened!
  // Taken as a state, it would say that everything is to go: sooner a wrong path, or a mount that is not there yet.
  if (!documents.length) {
    throw new SourceError(
      `${called} holds no document that states a realm (${EXTENSIONS.join(', ')}): nothing is stated, and nothing was changed`,
    )
  }
  return {
    name: options.name ?? shown(path),
    revision: `sha256:${hash.digest('hex').slice(0, 12)}`,
    documents,
    notices,
    unknownFields: options.unknownFields,
    files: texts,
  }
}

/** There is nothing to read: what, and what to do. */
export class SourceError extends Error {}

/** A sub-folder that holds a file of this name is left out, with what is below it. */
const IGNORED = '.regentignore'

/**
 * The files of a source: the file itself, or those of the folder and its sub-folders by name; hidden ones are left out.
 * Links are followed: a mounted ConfigMap has nothing else.
 */
async function listFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new SourceError(`there is no file or folder ${path}`)
  return found.isFile() ? [path] : (await filesIn(path, [])).sort()
}

// One after the other, by name: of several wrong links, every run names the same one.
async function filesIn(folder: string, above: readonly string[]): Promise<string[]> {
  const real = await realpath(folder)
  if (above.some((path) => join(path, sep).startsWith(join(real, sep)))) {
    throw new SourceError(`${folder} is a link to a folder that it stands in: remove it`)
  }
  const names = (await readdir(folder)).sort()
  if (above.length && names.includes(IGNORED)) return []
  const files: string[] = []
  for (const name of names) {
    if (isHidden(name)) continue
    const file = join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (found?.isDirectory()) {
      files.push(...(await filesIn(file, [...above, real])))
    } else if (EXTENSIONS.some((extension) => name.endsWith(extension))) {
      // Left out in silence, what it states would count as stated no more.
      if (!found?.isFile()) throw new SourceError(`${file} cannot be read: it is a link that leads nowhere, or no file`)
      files.push(file)
    }
  }
  return files
}

/** `$(file:…)` is taken relative to the document's folder; what leads out of what is allowed by a link is not read. */
function variables(options: FileSourceOptions, file: string) {
  const from = (name: string) => resolve(file, '..', name)
  return {
    env: options.env,
    readFile: (name: string) => readFileSync(from(name), 'utf8'),
    allowed: (kind: 'env' | 'file', name: string) => options.allowed(kind, kind === 'file' ? from(name) : name),
  }
}

/** A path as people name it: relative to the folder, with forward slashes. */
export function shownFrom(folder = process.cwd(), path: string): string {
  const near = relative(folder, resolve(path))
  return (near === '' ? '.' : near.startsWith('..') ? resolve(path) : near).split(sep).join('/')
}
