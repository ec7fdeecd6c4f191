// Kubernetes resources as the operator reads them, and the annotations, labels and finalizers that it uses.
import type { Representation } from '../../kinds/json.ts'
import { API_VERSION } from '../../kinds/resource-kinds.ts'

/** An object of the API server. */
export interface ApiObject {
  readonly metadata: ResourceMetadata
}

/** A resource as the API server returns it. */
export interface Resource extends ApiObject {
  readonly apiVersion: string
  readonly kind: string
  readonly spec?: Representation
  readonly status?: ResourceStatus
  /** Texts of a Secret, as base64. */
  readonly data?: Readonly<Record<string, string>>
}

/** The metadata of a resource. */
export interface ResourceMetadata {
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
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[]
  readonly managedFields?: readonly {
    readonly manager?: string
    readonly subresource?: string
    readonly fieldsV1?: Representation
  }[]
}

/** The types of the conditions that the operator writes. */
export const CONDITION_TYPES = ['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Warning', 'Suspended'] as const

/** A condition, as kstatus reads it. */
export interface Condition {
  readonly type: (typeof CONDITION_TYPES)[number]
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly observedGeneration?: number
}

/** A condition of a KeycloakRealmImport. Its definition has no field for the reason. */
export type ImportCondition = Omit<Condition, 'type' | 'reason'> & { readonly type: string }

/** The status of a resource. `status/status.ts` describes its fields. */
export interface ResourceStatus {
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly realm?: string
  readonly lastAppliedRevision?: string
  readonly shortRevision?: string
  readonly lastAttemptedRevision?: string
  readonly lastHandledReconcileAt?: string
  readonly drift?: number
  readonly plan?: {
    readonly id?: string
    readonly create: number
    readonly update: number
    readonly delete: number
    readonly changes?: string
  }
  readonly inventory?: { readonly objects: number }
  readonly history?: readonly RunRecord[]
}

/** A run in the history of a status. */
export interface RunRecord {
  readonly revision: string
  readonly time: string
  readonly outcome: 'Applied' | 'Planned' | 'Failed'
  readonly message?: string
}

/** A Kubernetes event about a resource. */
export interface ResourceEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** The finalizer that keeps a deleted resource until its object is deleted or released. */
export const FINALIZER = 'regent.dev/finalizer'

/** Annotation that requests a reconciliation. Any new value counts as a new request. */
export const RECONCILE_REQUEST_ANNOTATION = 'reconcile.regent.dev/requestedAt'
/** Annotation of a Realm or RealmSource that approves the plan with this id. */
export const APPROVED_PLAN_ANNOTATION = 'regent.dev/approved-plan'
/** Annotation of a Realm that adopts a live realm: `plan` shows the plan, `apply` applies it. */
export const ADOPT_ANNOTATION = 'regent.dev/adopt'
/** Annotation that keeps the object when the resource is deleted, if its value is `disabled`. */
export const PRUNE_ANNOTATION = 'regent.dev/prune'
/** Annotation that stops applying the resource, if its value is `disabled`. The object stays when the resource is deleted. */
export const RECONCILE_ANNOTATION = 'regent.dev/reconcile'
/** Label of the Secrets that the operator may read. Its value must be `true`. */
export const SECRET_LABEL = 'regent.dev/secret'

/** Label of the resources that a Regent of a class applies. Its value is the class. */
export const CLASS_LABEL = 'regent.dev/class'

/** Returns `Kind namespace/name`, the name of a resource in messages, inventory and plans. */
export function getResourceName({ kind, metadata: { namespace, name } }: Pick<Resource, 'kind' | 'metadata'>): string {
  return `${kind} ${namespace}/${name}`
}

/** Returns the text of a key of a Secret; undefined if it lacks the key. */
export function readSecretText({ data }: Pick<Resource, 'data'>, key: string): string | undefined {
  const encoded = data?.[key]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()
}

/** Returns texts as the data of a Secret. */
export function toSecretData(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))
}

/** Whether Regent owns status and finalizers of the resource. Keycloak's operator owns those of its resources if it runs. */
export const isRegentResource = ({ apiVersion }: Resource): boolean => apiVersion === API_VERSION

/** Whether an annotation of the resource has the value `disabled`. */
export function isDisabled({ metadata: { annotations } }: Resource, annotation: string): boolean {
  return annotations?.[annotation] === 'disabled'
}
