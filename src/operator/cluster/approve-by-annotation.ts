// Approves plans by an annotation of a resource.
import type { Service } from '../../service/context/service.ts'
import type { Actor } from '../../service/context/store-types.ts'
import { recordApproval } from '../../service/sources/saved-plans.ts'
import { APPROVED_PLAN_ANNOTATION, type Resource } from './resource.ts'

/** Approves a plan that the annotation of a resource names. Throws forbidden if the author of the annotation may not approve it. */
export async function approveByAnnotation(service: Service, resource: Resource, plan: string): Promise<void> {
  await recordApproval(service, { actor: getApprover(resource) }, { plan, withCredentials: false, isAnnotation: true })
}

/** Returns the actor who approved a plan by an annotation: the namespace, and the program that wrote the annotation. */
function getApprover({ metadata: { namespace, managedFields = [] } }: Resource): Actor {
  const field = `"f:${APPROVED_PLAN_ANNOTATION}"`
  const entry = managedFields.find(({ fieldsV1 = {} }) => JSON.stringify(fieldsV1).includes(field))
  return { kind: 'administrator', user: `kubernetes:${namespace}${entry?.manager ? ` by ${entry.manager}` : ''}` }
}
