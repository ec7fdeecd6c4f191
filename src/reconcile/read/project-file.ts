// The project file `regent.yaml`: the name of a source, its environments, and the servers on which it is applied.
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import * as z from 'zod'
import { getErrorCode } from '../../lib/error-code.ts'
import type { DocumentPath, SourcePosition } from '../../lib/source-position.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'
import { DocumentError, type DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { listSchemaProblems } from './schema-problems.ts'

/** The name of a project file. It is no document. */
export const PROJECT_FILE = 'regent.yaml'

const name = z
  .string('must be a text')
  .regex(/^\S(.*\S)?$/, 'must be a text without spaces at its ends')
  .describe('Name of the source: everything that the folder of this file declares.')
const server = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .describe(
    'Server on which the source is applied. Credentials are sent to it only if a flag or a variable names it too.',
  )
const overlay = z
  .string('must be a path')
  .regex(
    /^(?!\.{0,2}(\/|$))(?!.*\/\.{0,2}(\/|$)).+$/,
    'must be the path of a file or folder below that of regent.yaml, such as overlays/production',
  )
const environment = z.strictObject(
  {
    server: server.optional(),
    variables: z
      .record(
        z.string().regex(/^[A-Za-z_]\w*$/, 'must be a name such as COMPANY_URL'),
        z.string('must be a text: put it in quotes'),
        'must be an object, such as { COMPANY_URL: https://company.example }',
      )
      .optional()
      .describe('Values of `$(env:NAME)`. A variable of the process that reads the files takes precedence.'),
    overlays: z
      .array(overlay, 'must be a list of paths')
      .optional()
      .describe('Files and folders whose documents change the other documents, in order. The last one wins.'),
  },
  'must be an object, such as { server: <URL> }',
)
const projectFile = z.strictObject(
  {
    name: name.optional(),
    server: server.optional(),
    environments: z
      .record(z.string().regex(/^[\w.-]+$/, 'must consist of letters, digits, ".", "_" and "-"'), environment)
      .optional()
      .describe('Environments by name. Each is a source of its own.'),
  },
  'must be an object with name, server or environments',
)

/** A project file, and its folder. */
export interface Project extends z.infer<typeof projectFile> {
  readonly folder: string
  /** Returns the position of a path in the file. */
  locate(path: DocumentPath): SourcePosition
}

/** The files of a project in one environment. Paths are absolute. */
export interface EnvironmentFiles {
  readonly variables: Readonly<Record<string, string>>
  /** The overlays of the environment, in order. */
  readonly overlays: readonly string[]
  /** The overlays of all environments, which do not belong to the base, with the name of the first environment of each. */
  readonly environmentByOverlay: ReadonlyMap<string, string>
}

/** Returns the files of a project in an environment, or of its base. Throws DocumentError if an overlay of any environment does not exist. */
export async function findEnvironmentFiles(
  { folder, environments = {}, locate }: Project,
  name: string | undefined,
): Promise<EnvironmentFiles> {
  const { variables = {}, overlays = [] } = name === undefined ? {} : (environments[name] ?? {})
  // The files of a folder that is misspelt in another environment would belong to the base of this one.
  for (const [other, { overlays: paths = [] }] of Object.entries(environments))
    for (const [at, path] of paths.entries())
      if (!(await stat(join(folder, path)).catch(() => undefined)))
        throw new DocumentError([
          { position: locate(['environments', other, 'overlays', at]), message: `${path}: no such file or folder` },
        ])
  const environmentByOverlay = new Map(
    Object.entries(environments)
      .toReversed()
      .flatMap(([environment, { overlays: paths = [] }]) =>
        paths.map((path): [string, string] => [join(folder, path), environment]),
      ),
  )
  return { variables, overlays: overlays.map((path) => join(folder, path)), environmentByOverlay }
}

/**
 * Returns the project of the nearest project file, in the folder or above it, up to the top folder; undefined if there is none.
 * Throws DocumentError if the file is not valid.
 */
export async function findProject(folder: string, top?: string): Promise<Project | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const project = await readProject(at, top && join(relative(top, at), PROJECT_FILE))
    if (project || at === top || at === dirname(at)) return project
  }
}

/**
 * Returns the project of a folder; undefined if it has no project file. `displayName`: name of the file in messages; by default its
 * path. Throws DocumentError if the file is not valid.
 */
export async function readProject(folder: string, displayName?: string): Promise<Project | undefined> {
  const path = join(folder, PROJECT_FILE)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(getErrorCode(error) ?? '')) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const [document, second] = parseDocuments(displayName ?? path, text)
  if (!document) return { folder, locate: () => ({ file: displayName ?? path, line: 1, column: 1 }) }
  if (second) throw new DocumentError([{ position: second.start, message: 'a project file is a single document' }])
  const { success, data, error } = projectFile.safeParse(document.value)
  if (success) {
    requireSeparateOverlays(data, document)
    return { folder, ...data, locate: document.locate }
  }
  throw new DocumentError(
    listSchemaProblems(document, error, {
      name: PROJECT_FILE,
      listFields: (path) => Object.keys(path.length ? environment.shape : projectFile.shape),
      advice: `${PROJECT_FILE} names a source. Declare realms in files with other names.`,
    }),
  )
}

/** Throws DocumentError if an overlay is listed twice, or contains another one: its files would be read twice. */
function requireSeparateOverlays(
  { environments = {} }: z.infer<typeof projectFile>,
  { locate }: Pick<Project, 'locate'>,
) {
  const overlays = Object.entries(environments).flatMap(([name, { overlays: paths = [] }]) =>
    paths.map((path, at) => ({ name, path, position: locate(['environments', name, 'overlays', at]) })),
  )
  const problems = overlays.flatMap(({ name, path, position }, at): DocumentProblem[] => {
    const first = overlays.findIndex((other) => other.name === name && other.path === path)
    if (first !== at) return [{ position, message: `${path} is listed twice: keep one of them` }]
    const outer = overlays.find((other) => path.startsWith(`${other.path}/`))
    return outer ? [{ position, message: `${path} is inside the overlay ${outer.path}: move it out of there` }] : []
  })
  if (problems.length) throw new DocumentError(problems)
}
