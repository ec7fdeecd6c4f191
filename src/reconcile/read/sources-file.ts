// Reads the file of `--sources`: resources of the kind RealmSource, one per document.
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { API_VERSION, SOURCE_RESOURCE } from '../../kinds/resource-kinds.ts'
import type { DocumentPath, SourcePosition } from '../../lib/source-position.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'
import {
  collectProblems,
  DocumentError,
  type DocumentProblem,
  sortByPosition,
  toJsonPointer,
} from '../../realm-file/yaml/problem.ts'
import { SourceError } from './file-source.ts'
import { listSchemaProblems } from './schema-problems.ts'
import { listContradictions, type RealmSourceSpec, realmSourceSpec } from './source-resource.ts'

/** A source that the file defines. */
export interface SourceDefinition {
  readonly name: string
  readonly spec: RealmSourceSpec
  /** Position of its document. */
  readonly position: SourcePosition
}

const resource = z.strictObject({
  apiVersion: z.literal(API_VERSION, `must be ${API_VERSION}`),
  kind: z.literal(SOURCE_RESOURCE, `must be ${SOURCE_RESOURCE}`),
  metadata: z.looseObject(
    { name: z.string('a source needs a name').min(1, 'a source needs a name') },
    'must be an object with a name',
  ),
  spec: realmSourceSpec,
})

/** Reads the sources of a file. Throws DocumentError with all problems, SourceError where the file cannot be read. */
export async function readSourcesFile(file: string): Promise<SourceDefinition[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`The file of sources ${file} cannot be read (${error.code}). Check --sources.`)
  })
  const problems: DocumentProblem[] = []
  const documents = parseDocuments(file, text)
  problems.push(...documents.flatMap(({ warnings }) => warnings))
  const sources = documents.flatMap((document) => collectProblems(problems, () => parse(document)))
  problems.push(...listDuplicates(sources), ...listWrongDependencies(sources))
  if (problems.length) throw new DocumentError(sortByPosition(problems, []))
  return sources
}

function parse(document: Document): SourceDefinition {
  const toProblem = (path: DocumentPath, message: string): DocumentProblem => ({
    position: document.locate(path),
    message,
    path: toJsonPointer(path),
  })
  const { success, data, error } = resource.safeParse(document.value)
  if (!success)
    throw new DocumentError(
      listSchemaProblems(document, error, {
        name: SOURCE_RESOURCE,
        listFields: (path) => Object.keys(path.length ? realmSourceSpec.shape : resource.shape),
      }),
    )
  const { metadata, spec } = data
  const problems = listContradictions(spec).map(({ field, message }) =>
    toProblem(field === undefined ? ['spec'] : ['spec', field], message),
  )
  if (spec.credentials?.secretRef) {
    const message = 'secretRef is supported in Kubernetes only. Use passwordFile.'
    problems.push(toProblem(['spec', 'credentials', 'secretRef'], message))
  }
  if (problems.length) throw new DocumentError(problems)
  return { name: metadata.name, spec, position: document.start }
}

function listDuplicates(sources: readonly SourceDefinition[]): DocumentProblem[] {
  return sources.flatMap(({ name, position }, index) => {
    const first = sources.findIndex((source) => source.name === name)
    if (first === index) return []
    return [{ position, message: `the source ${name} is already defined at line ${sources[first]!.position.line}` }]
  })
}

/** Lists dependencies on sources that do not exist, and dependency cycles. */
function listWrongDependencies(sources: readonly SourceDefinition[]): DocumentProblem[] {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const dependsOn = (from: SourceDefinition, to: string, visited = new Set<string>()): boolean =>
    (from.spec.dependsOn ?? []).some((name) => {
      if (name === to) return true
      const next = byName.get(name)
      if (!next || visited.has(name)) return false
      visited.add(name)
      return dependsOn(next, to, visited)
    })
  return sources.flatMap((source) => {
    const { name, spec, position } = source
    const missing = (spec.dependsOn ?? []).filter((dependency) => !byName.has(dependency))
    const problems = missing.map((dependency) => ({
      position,
      message: `${name} depends on ${dependency}, which this file does not define`,
    }))
    return dependsOn(source, name)
      ? [...problems, { position, message: `${name} is part of a dependency cycle` }]
      : problems
  })
}
