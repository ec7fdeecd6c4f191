// Problems of what tenants declare in a realm beyond their permissions.
import type { DocumentProblem } from '../../realm-file/yaml/problem.ts'
import type { Context } from '../../service/context/context.ts'
import { findForbiddenDeclarations } from '../../service/permissions/forbidden-declarations.ts'
import { describeSource } from '../../service/sources/describe-source.ts'
import { findFormerKey } from '../model/renames.ts'
import type { DesiredObject } from './desired-object.ts'
import type { SourcePart } from './merge-parts.ts'

/** A source that declares something of a realm, with its permissions. */
export type PermittedPart = Pick<SourcePart, 'source' | 'desired' | 'tenant'>

/** A problem of a declared object. */
export interface TenantProblem extends DocumentProblem {
  readonly object: DesiredObject
}

/** Returns the objects that a source declares, without those that it only refers to. */
export function listDeclared({ desired }: Pick<PermittedPart, 'desired'>): DesiredObject[] {
  return [...desired.objects.values()].filter(({ isReference, fields }) => !isReference || fields.size)
}

/** Returns the problems of declarations that are beyond the permissions of tenants. `context`: absent if the realm does not exist. */
export async function findTenantProblems(
  context: Context | undefined,
  parts: readonly PermittedPart[],
): Promise<TenantProblem[]> {
  const problems: TenantProblem[] = []
  for (const part of parts) {
    const { source, desired, tenant } = part
    if (!tenant) continue
    const declarations = listDeclared(part).map((object) => ({
      ...{ object, kind: object.kind, key: object.key, formerKey: findFormerKey(object) },
      fields: [...object.fields].map(([path, { value }]) => ({ path, value })),
    }))
    const request = { source, realm: desired.name, permissions: tenant, declarations }
    for (const { declaration, path, element, reason } of await findForbiddenDeclarations(context, request)) {
      const { object } = declaration
      const position =
        path === undefined ? object.origin.position : object.fields.get(path)!.origin.locate(path, element)
      problems.push({ object, position, message: `${describeSource(source)} ${reason}`, isForbidden: true })
    }
  }
  return problems
}
