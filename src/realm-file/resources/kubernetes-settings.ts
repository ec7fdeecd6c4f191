// Settings of resources that only apply in Kubernetes, such as `deletionPolicy`. In files they are checked and otherwise ignored.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { toFieldProblem } from '../field-problems.ts'
import type { Document } from '../yaml/document.ts'
import { DocumentError, type DocumentWarning, toJsonPointer } from '../yaml/problem.ts'
import { kubernetesFields } from './resource-fields.ts'

/** A setting in the spec of a resource. */
export interface KubernetesSetting {
  readonly field: string
  readonly document: Document
}

/**
 * Returns the settings in the spec of a resource.
 * @throws DocumentError for invalid settings.
 */
export function parseKubernetesSettings(kind: Kind, document: Document, spec: Representation): KubernetesSetting[] {
  const schema = z.object(kubernetesFields(kind))
  const problems = schema.safeParse(spec).error?.issues.map((issue) => toFieldProblem(spec, issue)) ?? []
  if (problems.length) {
    throw new DocumentError(
      problems.map(({ path, message }) => ({
        position: document.locate(['spec', ...path]),
        message: `${String(document.header.kind)}: ${message}`,
        path: toJsonPointer(['spec', ...path]),
      })),
    )
  }
  return Object.keys(spec).flatMap((field) => (field in schema.shape ? [{ field, document }] : []))
}

/** Returns the spec of a resource without the settings that apply in Kubernetes only. */
export function removeKubernetesSettings(kind: Kind, spec: Representation): Representation {
  const settings = kubernetesFields(kind)
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !Object.hasOwn(settings, field)))
}

/** Returns a warning for each setting, for documents that are not in Kubernetes. */
export function toIgnoredSettingWarnings(settings: readonly KubernetesSetting[]): DocumentWarning[] {
  return [...Map.groupBy(settings, ({ field }) => field)].map(([field, group]) => {
    const { document } = group[0]!
    const resources = group.length === 1 ? String(document.header.kind) : `${group.length} resources`
    const message = `${field} of ${resources} is ignored, since it only applies in Kubernetes`
    return { position: document.locate(['spec', field]), message }
  })
}
