// Who approves a plan by an annotation: who wrote it, as far as Kubernetes knows.
import type { Actor } from '../service/context/store-types.ts'
import { APPROVED, type Resource } from './resource.ts'

/** Kubernetes keeps which program wrote the annotation, and lets only those do it who may change the realm. */
export function approverOf({ metadata: { namespace, managedFields = [] } }: Resource): Actor {
  const wrote = managedFields.find(({ fieldsV1 }) => JSON.stringify(fieldsV1 ?? {}).includes(`"f:${APPROVED}"`))
  return { kind: 'administrator', user: `kubernetes:${namespace}${wrote?.manager ? ` by ${wrote.manager}` : ''}` }
}
