// A file of sources: resources of the kind RealmSource, one per document.
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { nearest } from '../../lib/nearest.ts'
import type { Path, Position } from '../../lib/position.ts'
import { API_VERSION, SOURCE } from '../../realm-file/resources/resource-kinds.ts'
import { type Document, parseDocuments } from '../../realm-file/yaml/document.ts'
import { byPlace, collect, DocumentError, type Problem, pointerOf } from '../../realm-file/yaml/problem.ts'
import { SourceError } from './file.ts'
import { contradictions, type RealmSourceSpec, realmSourceSpec } from './source-resource.ts'

/** A source that a file of sources names. */
export interface NamedSource {
  readonly name: string
  readonly spec: RealmSourceSpec
  /** Where it stands. */
  readonly position: Position
}

const resource = z.strictObject({
  apiVersion: z.literal(API_VERSION, `must be ${API_VERSION}`),
  kind: z.literal(SOURCE, `must be ${SOURCE}`),
  metadata: z.looseObject(
    { name: z.string('a source needs a name').min(1, 'a source needs a name') },
    'must be an object with a name',
  ),
  spec: realmSourceSpec,
})

/** The sources that a file names. Throws DocumentError with everything that is wrong, or SourceError when it cannot be read. */
export async function readSourcesFile(file: string): Promise<NamedSource[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SourceError(`the file of sources ${file} cannot be read (${error.code}): look at --sources`)
  })
  const problems: Problem[] = []
  const documents = parseDocuments(file, text)
  problems.push(...documents.flatMap(({ notices }) => notices))
  const sources = documents.flatMap((document) => collect(problems, () => parse(document)))
  problems.push(...twins(sources), ...wrongDependencies(sources))
  if (problems.length) throw new DocumentError(byPlace(problems, []))
  return sources
}

function parse(document: Document): NamedSource {
  const problem = (path: Path, message: string): Problem => ({
    position: document.locate(path),
    message,
    path: pointerOf(path),
  })
  const { success, data, error } = resource.safeParse(document.value)
  if (!success) throw new DocumentError(error.issues.flatMap((issue) => explained(issue, problem)))
  const { metadata, spec } = data
  const wrong = contradictions(spec).map(([field, why]) => problem(field ? ['spec', field] : ['spec'], why))
  if (spec.credentials?.secretRef) {
    const why = 'secretRef is for resources in Kubernetes: name a passwordFile'
    wrong.push(problem(['spec', 'credentials', 'secretRef'], why))
  }
  if (wrong.length) throw new DocumentError(wrong)
  return { name: metadata.name, spec, position: document.start }
}

function explained(issue: z.core.$ZodIssue, problem: (path: Path, message: string) => Problem): Problem[] {
  const path = issue.path as Path
  if (issue.code !== 'unrecognized_keys') return [problem(path, `${path.join('.') || SOURCE}: ${issue.message}`)]
  const known = path.length ? Object.keys(realmSourceSpec.shape) : Object.keys(resource.shape)
  return issue.keys.map((key) => {
    const near = nearest(key, known)
    return problem([...path, key], `unknown field ${key}${near ? `; did you mean ${near}?` : ''}`)
  })
}

function twins(sources: readonly NamedSource[]): Problem[] {
  return sources.flatMap(({ name, position }, at) => {
    const first = sources.findIndex((one) => one.name === name)
    if (first === at) return []
    return [{ position, message: `there is a source ${name} already, at line ${sources[first]!.position.line}` }]
  })
}

/** Sources that depend on what is not there, or in the end on themselves. */
function wrongDependencies(sources: readonly NamedSource[]): Problem[] {
  const byName = new Map(sources.map((one) => [one.name, one]))
  const reaches = (from: NamedSource, to: string, seen = new Set<string>()): boolean =>
    (from.spec.dependsOn ?? []).some((name) => {
      if (name === to) return true
      const next = byName.get(name)
      if (!next || seen.has(name)) return false
      seen.add(name)
      return reaches(next, to, seen)
    })
  return sources.flatMap((source) => {
    const { name, spec, position } = source
    const unknown = (spec.dependsOn ?? []).filter((one) => !byName.has(one))
    const missing = unknown.map((one) => ({
      position,
      message: `${name} depends on ${one}, which this file does not name`,
    }))
    return reaches(source, name) ? [...missing, { position, message: `${name} depends on itself in the end` }] : missing
  })
}
