// What resources say of how Kubernetes keeps them: checked wherever they are read, and without effect in files and folders.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { fieldProblem } from '../field-problems.ts'
import type { Document } from '../yaml/document.ts'
import { DocumentError, type Notice, pointerOf } from '../yaml/problem.ts'
import { controlFields } from './resource-fields.ts'

/** A control that a resource states, by the name of its field. */
export interface Control {
  readonly field: string
  readonly document: Document
}

/** The controls that the spec of a resource states. Throws DocumentError when one is not as it must be. */
export function controlsIn(kind: Kind, document: Document, spec: Representation): Control[] {
  const schema = z.object(controlFields(kind))
  const problems = schema.safeParse(spec).error?.issues.map((issue) => fieldProblem(spec, issue)) ?? []
  if (problems.length) {
    throw new DocumentError(
      problems.map(({ path, message }) => ({
        position: document.locate(['spec', ...path]),
        message: `${String(document.head.kind)}: ${message}`,
        path: pointerOf(['spec', ...path]),
      })),
    )
  }
  return Object.keys(spec).flatMap((field) => (field in schema.shape ? [{ field, document }] : []))
}

/** The spec without them. */
export function withoutControls(kind: Kind, spec: Representation): Representation {
  const controls = controlFields(kind)
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !Object.hasOwn(controls, field)))
}

/** What is told of them where no Kubernetes keeps the resources: one entry for each field. */
export function withoutEffect(controls: readonly Control[]): Notice[] {
  return [...Map.groupBy(controls, ({ field }) => field)].map(([field, all]) => {
    const resources = all.length === 1 ? String(all[0]!.document.head.kind) : `${all.length} resources`
    const message = `${field} of ${resources} is for Kubernetes, and without effect here`
    return { position: all[0]!.document.locate(['spec', field]), message }
  })
}
