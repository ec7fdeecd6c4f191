// Explains whether a source may declare the objects in its documents.

import { kinds } from '../../kinds/index.ts'
import { listResourceNames } from '../../kinds/resource-kinds.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { SourcePosition } from '../../lib/source-position.ts'
import { describeSource } from '../../service/sources/describe-source.ts'
import type { RunInput } from '../merge/merge-sources.ts'
import { findTenantProblems, listDeclared, type PermittedPart } from '../merge/tenant-problems.ts'
import { startRun } from './run.ts'

/** Whether a source may declare an object, in one sentence. */
export interface PermissionExplanation {
  readonly realm: string
  /** The object, such as `client shop`. */
  readonly object: string
  readonly position: SourcePosition
  readonly isPermitted: boolean
  /** The permission, or the reason why there is none. */
  readonly message: string
}

/** Returns for each object of the sources' documents whether the source may declare it. Throws DocumentError, Forbidden. */
export async function explainPermissions(input: RunInput): Promise<PermissionExplanation[]> {
  // Unchanged realms would be left out.
  const { service, caller, queue } = await startRun({ ...input, strict: true })
  const explanations: PermissionExplanation[] = []
  for (const { parts, currentName } of queue.realms) {
    const problems = await service.readSnapshot(caller, currentName, (context) => findTenantProblems(context, parts))
    for (const part of parts) explanations.push(...explainPart(part, problems))
  }
  return explanations
}

function explainPart(
  part: PermittedPart,
  problems: Awaited<ReturnType<typeof findTenantProblems>>,
): PermissionExplanation[] {
  const realm = part.desired.name
  return listDeclared(part).map((object) => {
    const problem = problems.find((candidate) => candidate.object === object)
    const [resource] = listResourceNames(kinds[object.kind])
    const permission = `${describeSource(part.source)} may declare ${resource} in realm ${realm}`
    return {
      ...{ realm, object: describeObject(object.kind, object.key) },
      position: problem?.position ?? object.origin.position,
      isPermitted: problem === undefined,
      message: problem?.message ?? permission,
    }
  })
}
