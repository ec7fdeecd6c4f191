// Faults: why resources are not applied, as reported in their conditions. Pure.
import { DocumentError, type DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { ActionError } from '../../reconcile/execute/action-error.ts'
import type { Note } from '../../reconcile/model/action.ts'

/** The reason for not applying a resource, as the reason and message of a condition. */
export interface ResourceFault {
  readonly reason: string
  readonly message: string
  /** Whether a user requested it, so that nothing is wrong. */
  readonly isIntended?: true
  /** Whether another resource may remove it, such as by declaring what this one refers to. */
  readonly isTemporary?: true
  /** Whether the finalizer could not be added, which is retried. A resource that was never applied has then changed nothing. */
  readonly lacksFinalizer?: true
}

/** Returns the fault of a resource whose document has problems. Each problem is reported with the path of its field. */
export function toResourceFault(file: string, problems: readonly DocumentProblem[]): ResourceFault {
  const message = problems.map((problem) => renderProblem(file, problem)).join('; ')
  if (problems.every(({ isMissing }) => isMissing)) return { reason: 'ReferenceNotFound', message, isTemporary: true }
  if (problems.every(({ isForbidden }) => isForbidden)) return { reason: 'NotAdmitted', message }
  return { reason: 'Invalid', message }
}

/** Returns the message of a problem in a resource, with the path of its field: `spec.groups[0].name: …`. */
export function renderProblem(
  file: string,
  { position, message, otherPosition }: Pick<DocumentProblem, 'position' | 'message' | 'otherPosition'>,
): string {
  const text = otherPosition ? message.replaceAll(otherPosition.file, renderLocation(otherPosition.file)) : message
  const ownPlaces = new RegExp(`${file.replaceAll('.', '\\.')}/([^\\s:]+)(?=:1:1)`, 'g')
  const withPaths = text.replaceAll(ownPlaces, (_place, path: string) => toFieldPath(path.split('/')))
  // Resources have no lines and columns.
  const plain = withPaths.replaceAll(':1:1', '')
  const path = position.file.startsWith(file) ? toFieldPath(position.file.slice(file.length + 1).split('/')) : ''
  return ['', 'spec', 'metadata'].includes(path) ? plain : `${path}: ${plain}`
}

/** Returns the faults that an error is due to, by the file of the resource; none for errors that no resource causes. */
export function listResourceFaults(error: unknown): [file: string, fault: ResourceFault][] {
  if (!(error instanceof DocumentError) && !(error instanceof ActionError)) return []
  // Two resources that contradict each other are both at fault.
  const problems = error.problems.flatMap((problem) => [problem, ...mirror(problem)])
  return [...Map.groupBy(problems, ({ position }) => getResourceFile(position.file))].map(([file, ofResource]) => {
    const distinct = new Map(ofResource.map((problem) => [problem.message, problem]))
    return [file, toResourceFault(file, [...distinct.values()])]
  })
}

/** Returns the notes about declared values without effect, by the file of the resource. */
export function listResourceWarnings(notes: readonly Note[]): Map<string, string[]> {
  const warnings = new Map<string, string[]>()
  for (const { message, position, furtherPositions = [], effect } of notes) {
    for (const place of position && effect ? [position, ...furtherPositions] : []) {
      const file = getResourceFile(place.file)
      const text = renderProblem(file, { position: place, message })
      warnings.set(file, [...(warnings.get(file) ?? []), text])
    }
  }
  return warnings
}

/** Returns the same problem as seen from its other position, if it has one. */
function mirror({ position, message, otherPosition }: DocumentProblem): DocumentProblem[] {
  if (!otherPosition) return []
  const mirrored = message.replace(otherPosition.file, position.file)
  return [{ position: otherPosition, message: mirrored, otherPosition: position }]
}

/** Returns the resource of a location in it, such as `RealmClient namespace/name/spec/name`. */
function getResourceFile(location: string): string {
  return location.split('/').slice(0, 2).join('/')
}

/** Renders a location in another resource: `spec.name of RealmClient namespace/name`. */
function renderLocation(location: string): string {
  const [kind, name, ...path] = location.split('/')
  return path.length ? `${toFieldPath(path)} of ${kind}/${name}` : location
}

const toFieldPath = (steps: readonly string[]) => steps.join('.').replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]')
