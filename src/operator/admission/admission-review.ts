// Parses and renders AdmissionReview, the request and response of admission webhooks.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { API_VERSION, resourceKinds } from '../../kinds/resource-kinds.ts'
import type { Resource } from '../cluster/resource.ts'
import type { AdmissionDecision, ResourceChange } from './admission-reviewer.ts'

/** The fields of a resource that the API server sets before it calls a webhook. */
const resourceFields = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
})

const resource = z.custom<Resource>((value) => resourceFields.safeParse(value).success)

const admissionReview = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string(),
    operation: z.string(),
    subResource: z.string().optional(),
    userInfo: z.object({ username: z.string() }),
    dryRun: z.boolean().optional(),
    object: resource.nullish(),
    oldObject: resource.nullish(),
  }),
})

/** A request of an API server. */
export interface AdmissionRequest {
  readonly uid: string
  /** Absent: it needs no review, such as a status, or a resource of another kind. */
  readonly change: ResourceChange | undefined
}

/** Parses the body of a request; returns undefined if it is no AdmissionReview of a supported version. */
export function parseAdmissionReview(body: unknown): AdmissionRequest | undefined {
  const { data } = admissionReview.safeParse(body)
  if (!data) return undefined
  const { uid, operation, subResource, object, oldObject, userInfo, dryRun: isDryRun = false } = data.request
  const isDeletion = operation === 'DELETE'
  const resource = isDeletion ? oldObject : object
  const isWrite = ['CREATE', 'UPDATE', 'DELETE'].includes(operation) && !subResource
  if (!isWrite || !resource || resource.apiVersion !== API_VERSION || !resourceKinds.has(resource.kind))
    return { uid, change: undefined }
  const change = { resource, user: userInfo.username, isDryRun, isDeletion }
  return { uid, change: { ...change, ...(oldObject && { before: oldObject }) } }
}

/** Renders the response. A refusal has the status of a resource that violates its CRD. */
export function renderAdmissionReview(uid: string, { refusal, warnings }: AdmissionDecision): Representation {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: refusal === undefined,
      ...(refusal !== undefined && { status: { code: 422, reason: 'Invalid', message: refusal } }),
      // The API server passes warnings on in headers, which must not contain control characters.
      warnings: warnings.map((warning) => warning.replaceAll(/\p{Cc}/gu, ' ')),
    },
  }
}
