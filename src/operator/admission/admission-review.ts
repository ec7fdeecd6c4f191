// AdmissionReview, in which API servers ask webhooks and are answered.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { API_VERSION, resourceKinds } from '../../realm-file/resources/resource-kinds.ts'
import type { Resource } from '../resource.ts'
import type { Change, Verdict } from './review.ts'

const resource = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
  }),
})

const admissionReview = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string(),
    operation: z.string(),
    subResource: z.string().optional(),
    object: resource.nullish(),
    oldObject: resource.nullish(),
  }),
})

/** What an API server asks. */
export interface Asked {
  readonly uid: string
  /** Absent: nothing that is reviewed, such as a deletion, a status, or a resource of another kind. */
  readonly change: Change | undefined
}

/** Reads what was posted; undefined where it is no AdmissionReview of the version that there is. */
export function askedIn(body: unknown): Asked | undefined {
  const { data } = admissionReview.safeParse(body)
  if (!data) return undefined
  const { uid, operation, subResource, object, oldObject } = data.request
  const isWritten = (operation === 'CREATE' || operation === 'UPDATE') && !subResource
  if (!isWritten || !object || object.apiVersion !== API_VERSION || !resourceKinds.has(object.kind))
    return { uid, change: undefined }
  const before = oldObject ? { before: oldObject as unknown as Resource } : {}
  return { uid, change: { resource: object as unknown as Resource, ...before } }
}

/** The answer. What is refused is as wrong as what a definition refuses. */
export function answered(uid: string, { refused, warnings }: Verdict): Representation {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: refused === undefined,
      ...(refused !== undefined && { status: { code: 422, reason: 'Invalid', message: refused } }),
      // In headers, no others may stand.
      warnings: warnings.map((one) => one.replaceAll(/\p{Cc}/gu, ' ')),
    },
  }
}
