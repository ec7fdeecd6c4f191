// The project file `regent.yaml`: the name of a source, and the servers on which it is applied.
import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import * as z from 'zod'
import { getErrorCode } from '../../lib/error-code.ts'
import { findNearestWord } from '../../lib/nearest-word.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'
import { DocumentError, type DocumentProblem, toJsonPointer } from '../../realm-file/yaml/problem.ts'

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
const environment = z.strictObject({ server: server.optional() }, 'must be an object, such as { server: <URL> }')
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
  if (!document) return { folder }
  if (second) throw new DocumentError([{ position: second.start, message: 'a project file is a single document' }])
  const { success, data, error } = projectFile.safeParse(document.value)
  if (success) return { folder, ...data }
  const problems = error.issues.flatMap((issue): DocumentProblem[] => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    const toProblem = (at: typeof path, message: string) => ({
      position: document.locate(at),
      message,
      path: toJsonPointer(at),
    })
    if (issue.code !== 'unrecognized_keys')
      return [toProblem(path, `${path.join('.') || PROJECT_FILE}: ${issue.message}`)]
    return issue.keys.map((key) => toProblem([...path, key], describeUnknownField(key, path.length === 0)))
  })
  throw new DocumentError(problems)
}

function describeUnknownField(key: string, isTop: boolean): string {
  const near = findNearestWord(key, isTop ? Object.keys(projectFile.shape) : Object.keys(environment.shape))
  const advice = near
    ? `Did you mean ${near}?`
    : `${PROJECT_FILE} names a source. Declare realms in files with other names.`
  return `unknown field ${key}. ${advice}`
}
