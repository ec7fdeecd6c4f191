// Reads the documents of a source from a file or a folder of files.
import { readFileSync } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import type { FindAgeKeys } from '../../realm-file/age-keys.ts'
import { decryptDocuments, isEncryptedDocument } from '../../realm-file/decrypt-documents.ts'
import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import { unwrapResources } from '../../realm-file/resources/unwrap-resources.ts'
import { substituteVariables } from '../../realm-file/substitute-variables.ts'
import type { VariableOptions } from '../../realm-file/variables.ts'
import { type Document, toOverlayDocument } from '../../realm-file/yaml/document.ts'
import { collectProblems, DocumentError, type DocumentProblem, sortByPosition } from '../../realm-file/yaml/problem.ts'
import { type EnvironmentFiles, PROJECT_FILE, readProject } from './project-file.ts'
import { createFileReader, type FileText, type ReadFile, toFileText } from './read-files.ts'
import type { SerializedSource, SourceContent } from './source-content.ts'
import { createRevision, listVariableValues } from './source-text.ts'

/** Options of reading a file source. */
export interface FileSourceOptions {
  readonly name: string
  readonly unknownFields?: UnknownFieldPolicy | undefined
  readonly env: Record<string, string | undefined>
  /** Whether documents may take values from the environment variable or file of that name. */
  readonly isAllowed: (kind: 'env' | 'file', name: string) => boolean
  /** Whether `${NAME}` of an environment variable is a variable too, as in Keycloak's imports. */
  readonly replacesPlaceholders?: boolean | undefined
  /** Finds the keys for files that SOPS has encrypted. Default: there are none. */
  readonly findAgeKeys?: FindAgeKeys | undefined
  /** Default: a digest of the files, and of the variables of their environment. */
  readonly revision?: string
  /** Default: reads and parses every file. */
  readonly readFile?: ReadFile | undefined
  /** The folder that names of files are relative to. Default: the working directory. */
  readonly root?: string | undefined
  /** The files and folders that are read, relative to the root, if the source has more. */
  readonly scope?: readonly string[] | undefined
  /** The variables and overlays of the environment. */
  readonly environment?: EnvironmentFiles | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. */
  readonly origin?: string | undefined
  /** Name of the source in messages. Default: its path. */
  readonly displayName?: string
}

/** Whether the file or folder of that name is ignored. */
export const isHidden = (name: string): boolean => name.startsWith('.')

const EXTENSIONS = ['.yaml', '.yml', '.json']

/** Whether the file of that name contains documents. */
export const isDocumentFile = (name: string): boolean => EXTENSIONS.some((extension) => name.endsWith(extension))

/** A text that is in no regular file, such as the standard input. */
export interface InputText {
  /** Its name in messages. */
  readonly file: string
  readonly bytes: Buffer
}

/** Reads files and folders. Throws DocumentError where documents are invalid, SourceError where there is nothing to read. */
export async function readFileSource(
  input: string | readonly (string | InputText)[],
  options: FileSourceOptions,
): Promise<SourceContent & SerializedSource> {
  const inputs = typeof input === 'string' ? [input] : input
  const { name, scope, origin, unknownFields, findAgeKeys = async () => [] } = options
  const { displayName = inputs.map((part) => (typeof part === 'string' ? part : part.file)).join(', ') } = options
  const problems: DocumentProblem[] = []
  const parsedDocuments: Document[] = []
  const texts: SerializedSource['files'][number][] = []
  const variables = createVariables(options)
  for (const { path, content, overlay } of await readInputs(inputs, options)) {
    const { file, text } = content
    if (!content.isUtf8) problems.push(createEncodingProblem(file, text))
    const parsed = collectProblems(problems, () => content.parse())
      .flat()
      .map((document) => toOverlayDocument(document, overlay))
    // Checked here too, since waiting once for each of thousands of files takes milliseconds.
    const decrypted = parsed.some(isEncryptedDocument)
      ? collectProblems(
          problems,
          await toResult(decryptDocuments({ file, text, documents: parsed }, findAgeKeys)),
        ).flat()
      : parsed
    const documents = decrypted.flatMap((document) =>
      collectProblems(problems, () => substituteVariables(document, variables(path))),
    )
    parsedDocuments.push(...documents)
    texts.push({ file, text, values: listVariableValues(documents), ...(overlay !== undefined && { overlay }) })
  }
  const [opened] = collectProblems(problems, () => unwrapResources(parsedDocuments, unknownFields))
  if (problems.length) throw new DocumentError(sortByPosition(problems, texts))
  const { documents, warnings } = opened!
  // An empty source would delete all its objects, but is more likely a wrong path or a volume that is not mounted yet.
  if (!documents.length) {
    throw new SourceError(
      displayName === '-'
        ? 'The standard input contains no document that declares a realm.'
        : `${displayName} contains no document that declares a realm (${EXTENSIONS.join(', ')}). Pass another path, or write one with "regent init".`,
    )
  }
  return {
    name,
    revision: options.revision ?? createRevision(texts, options.environment?.variables),
    documents,
    warnings,
    unknownFields,
    origin,
    files: texts,
    ...(scope !== undefined && { scope, removals: { scope } }),
  }
}

/** Waits for a promise. Returns a function that returns its value, or throws its error. */
async function toResult<T>(promise: Promise<T>): Promise<() => T> {
  const [result] = await Promise.allSettled([promise])
  return () => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  }
}

/** A file of a source. */
interface SourceFile {
  readonly path: string
  readonly content: FileText
  /** The number of its overlay, from 1; absent for other files. */
  readonly overlay?: number
}

/** Reads the files of inputs, then those of overlays, with their names in messages and their paths. */
async function readInputs(
  inputs: readonly (string | InputText)[],
  {
    root,
    scope,
    environment,
    readFile = createFileReader(),
  }: Pick<FileSourceOptions, 'root' | 'scope' | 'environment' | 'readFile'>,
): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  const openFile = async (path: string) => ({ path, content: await readFile(path, toDisplayPath(path, root)) })
  for (const input of inputs) {
    if (typeof input === 'object') files.push({ path: resolve('stdin'), content: toFileText(input.file, input.bytes) })
    else files.push(...(await Promise.all((await listFiles(input, environment)).map(openFile))))
  }
  const { overlays = [] } = environment ?? {}
  // They may change what the other files declare.
  if (overlays.length && scope !== undefined)
    throw new SourceError(
      `The environment has overlays, which apply to all files of the source. Pass its folder instead of ${scope.join(', ') || 'the standard input'}.`,
    )
  for (const [at, overlay] of overlays.entries()) {
    const paths = await listFiles(overlay)
    if (!paths.length)
      throw new SourceError(
        `The overlay ${toDisplayPath(overlay, root)} contains no document (${EXTENSIONS.join(', ')}). Add one, or remove it from ${PROJECT_FILE}.`,
      )
    for (const path of paths) files.push({ ...(await openFile(path)), overlay: at + 1 })
  }
  return files
}

/** Returns the problem of a file that is not UTF-8, at the first character that could not be decoded. */
function createEncodingProblem(file: string, text: string): DocumentProblem {
  const lines = text.slice(0, text.indexOf('\uFFFD')).split('\n')
  const position = { file, line: lines.length, column: lines.at(-1)!.length + 1 }
  return { position, message: 'the file is not UTF-8: save it in that encoding' }
}

/** A source that cannot be read. The message says what is wrong and what to do. */
export class SourceError extends Error {}

/** A subfolder with a file of this name is ignored. */
const IGNORE_FILE = '.regentignore'

/**
 * Lists the files of a source: the file itself, or those of the folder and its subfolders, sorted, except hidden ones. `environment`:
 * overlays to omit. Follows symbolic links, since a mounted ConfigMap consists of them.
 */
async function listFiles(path: string, environment?: EnvironmentFiles): Promise<string[]> {
  const stats = await stat(path).catch(() => undefined)
  if (!stats) throw new SourceError(`${path}: no such file or folder`)
  const overlays = environment?.environmentByOverlay ?? new Map<string, string>()
  for (const [overlay, name] of overlays)
    if (join(path, sep).startsWith(join(overlay, sep)))
      throw new SourceError(
        `${path} is an overlay of the environment ${name}. Pass the folder of ${PROJECT_FILE} with --environment ${name}.`,
      )
  if (!stats.isFile()) return (await listFilesIn(path, [], overlays)).sort()
  if (basename(path) === PROJECT_FILE)
    throw new SourceError(`${path} is a project file and declares no realm. Pass its folder, or a file in it.`)
  return [path]
}

// One after the other, in order: if several links are broken, every run reports the same one.
async function listFilesIn(
  folder: string,
  parents: readonly string[],
  overlays: EnvironmentFiles['environmentByOverlay'],
): Promise<string[]> {
  const real = await realpath(folder)
  if (parents.some((path) => join(path, sep).startsWith(join(real, sep)))) {
    throw new SourceError(`${folder} is a symbolic link to one of its parent folders. Remove it.`)
  }
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.map(({ name }) => name)
  if (parents.length && names.includes(IGNORE_FILE)) return []
  const project = parents.length && names.includes(PROJECT_FILE) ? await readProject(folder) : undefined
  // Its documents would be managed by two sources.
  if (project?.name !== undefined)
    throw new SourceError(
      `${folder} is a source of its own: ${PROJECT_FILE} there names it ${project.name}. Apply it alone, or write an empty file ${IGNORE_FILE} there to ignore it here.`,
    )
  const files: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name } = entry
    if (isHidden(name) || name === PROJECT_FILE) continue
    const file = join(folder, name)
    if (overlays.has(file)) continue
    const stats = entry.isSymbolicLink() ? await stat(file).catch(() => undefined) : entry
    if (stats?.isDirectory()) {
      files.push(...(await listFilesIn(file, [...parents, real], overlays)))
    } else if (isDocumentFile(name)) {
      // Ignored, its declarations would count as removed from the source.
      if (!stats?.isFile()) throw new SourceError(`${file} cannot be read: it is a broken symbolic link or not a file`)
      files.push(file)
    }
  }
  return files
}

/**
 * Returns a function that returns the variables of a file's documents. Paths of `$(file:…)` are relative to the file's folder. As with
 * dotenv, a variable of the process takes precedence over that of the environment, which needs no permission, since the source itself
 * declares it.
 */
function createVariables({
  env,
  isAllowed,
  environment,
  replacesPlaceholders,
}: FileSourceOptions): (file: string) => VariableOptions {
  const isOfProcess = (name: string) => env[name] !== undefined && isAllowed('env', name)
  const variables = Object.fromEntries(
    Object.entries(environment?.variables ?? {}).filter(([name]) => !isOfProcess(name)),
  )
  const merged = { ...env, ...variables }
  return (file) => {
    const toPath = (name: string) => resolve(file, '..', name)
    return {
      env: merged,
      replacesPlaceholders,
      readFile: (name: string) => readFileSync(toPath(name), 'utf8'),
      isAllowed: (kind: 'env' | 'file', name: string) =>
        kind === 'file' ? isAllowed(kind, toPath(name)) : Object.hasOwn(variables, name) || isAllowed(kind, name),
    }
  }
}

/** Returns the path relative to the folder if it is inside of it, otherwise the absolute path; with forward slashes. */
function toDisplayPath(path: string, folder = process.cwd()): string {
  const relativePath = relative(folder, resolve(path))
  return (relativePath === '' ? '.' : relativePath.startsWith('..') ? resolve(path) : relativePath).split(sep).join('/')
}
