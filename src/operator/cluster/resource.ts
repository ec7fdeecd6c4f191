// Resources of Kubernetes, as far as the operator looks at them.
import type { Representation } from '../kinds/json.ts'
import { API_VERSION } from '../realm-file/resources/resource-kinds.ts'

/** A resource as its API server gives it. */
export interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
  readonly spec?: Representation
  readonly status?: Status
  /** Of a Secret: texts in base64. */
  readonly data?: Readonly<Record<string, string>>
}

/** What names a resource, and what its API server says of it. */
export interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly { readonly uid: string }[]
  readonly managedFields?: readonly { readonly manager?: string; readonly fieldsV1?: Representation }[]
}

/** A condition, as kstatus reads it. */
export interface Condition {
  readonly type: 'Ready' | 'Reconciling' | 'Stalled' | 'Drifted'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly observedGeneration?: number
}

/** What is said of a resource: see status.ts for what each field means. */
export interface Status {
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly realm?: string
  readonly lastAppliedRevision?: string
  readonly lastAttemptedRevision?: string
  readonly lastHandledReconcileAt?: string
  readonly drift?: number
  readonly plan?: { readonly id?: string; readonly create: number; readonly update: number; readonly delete: number }
  readonly inventory?: { readonly objects: number }
  readonly history?: readonly Run[]
}

/** A run, as the status of a realm remembers it. */
export interface Run {
  readonly revision: string
  readonly time: string
  readonly outcome: 'Applied' | 'Planned' | 'Failed'
  readonly message?: string
}

/** An event of Kubernetes about a resource. */
export interface ResourceEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** What keeps a resource until its object is gone, or let go of. */
export const FINALIZER = 'regent.dev/finalizer'

/** Asks for a run, with any new value. */
export const REQUESTED_AT = 'reconcile.regent.dev/requestedAt'
/** On a realm, the id of the plan that somebody approves. */
export const APPROVED = 'regent.dev/approved-plan'
/** `disabled`: the object stays when the resource goes. */
export const PRUNE = 'regent.dev/prune'
/** `disabled`: the object stays as it is, whatever the resource says. */
export const RECONCILE = 'regent.dev/reconcile'
/** Only Secrets with this label, `true`, are read. */
export const SECRET_LABEL = 'regent.dev/secret'

/** What a resource is called in messages, in the inventory, and in plans. */
export function nameOf({ kind, metadata: { namespace, name } }: Pick<Resource, 'kind' | 'metadata'>): string {
  return `${kind} ${namespace}/${name}`
}

/** Whether its status and its finalizers are ours: those of imports belong to Keycloak's operator. */
export const isOurs = ({ apiVersion }: Resource): boolean => apiVersion === API_VERSION

/** Whether an annotation says `disabled`. */
export function isDisabled({ metadata: { annotations } }: Resource, annotation: string): boolean {
  return annotations?.[annotation] === 'disabled'
}
