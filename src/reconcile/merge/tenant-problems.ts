// Problems of what tenants declare in a realm beyond their permissions.
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import type { Context } from '../../service/context/context.ts'
import { findForbiddenDeclarations } from '../../service/permissions/forbidden-declarations.ts'
import { describeSource } from '../../service/sources/describe-source.ts'
import { findFormerKey } from '../model/renames.ts'
import type { SourcePart } from './merge-parts.ts'

/** Returns the problems of declarations that are beyond the permissions of tenants. `context`: absent if the realm does not exist. */
export async function findTenantProblems(
  context: Context | undefined,
  parts: readonly Pick<SourcePart, 'source' | 'desired' | 'tenant'>[],
): Promise<DocumentProblem[]> {
  const problems: DocumentProblem[] = []
  for (const { source, desired, tenant } of parts) {
    if (!tenant) continue
    const declarations = [...desired.objects.values()]
      .filter(({ isReference, fields }) => !isReference || fields.size)
      .map((object) => ({
        ...{ kind: object.kind, key: object.key, origin: object.origin, formerKey: findFormerKey(object) },
        fields: [...object.fields].map(([path, { value, origin }]) => ({ path, value, origin })),
      }))
    const request = { source, realm: desired.name, permissions: tenant, declarations }
    for (const { declaration, path, element, reason } of await findForbiddenDeclarations(context, request)) {
      const field = declaration.fields.find((candidate) => candidate.path === path)
      const position = field ? field.origin.locate(field.path, element) : declaration.origin.position
      problems.push({ position, message: `${describeSource(source)} ${reason}` })
    }
  }
  return problems
}
