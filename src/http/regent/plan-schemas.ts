// Schemas of the operations on saved plans.
import * as z from 'zod'
import type { BodyForm } from '../body.ts'
import { components } from '../responses.ts'
import { attribution, guard, key, outcome, sourceAtRevision } from './schemas.ts'

const at = z.iso.datetime()

const fields = {
  id: z.string().describe('Id of the plan.'),
  state: z
    .enum(['pending', 'approved', 'ready', 'applied', 'expired'])
    .describe('Pending approval, approved, ready to be applied without an approval, applied, or expired.'),
  digest: z.string().describe('Digest of its actions.'),
  sources: z.array(sourceAtRevision).describe('The sources that it was made from.'),
  realms: z
    .array(
      z.object({
        realm: z.string().describe('Name of the realm.'),
        hasChanges: z.boolean().describe('Whether the plan changes the realm.'),
        guards: z.array(guard).describe('The guards that block it until it is approved.'),
        appliedAt: at.optional().describe('When it was applied.'),
        revision: z.number().optional().describe('The revision of the realm that it created.'),
      }),
    )
    .describe('The realms of the plan.'),
  appliesOnApproval: z
    .boolean()
    .describe('Whether the plan is applied as soon as it is approved, since an apply of its sources created it.'),
  created: attribution,
  expires: at.describe('Until when it can be approved and applied.'),
  approvedAt: at.optional().describe('When it was approved.'),
  approvedBy: z.string().optional().describe('User name of the administrator who approved it.'),
  withCredentials: z.boolean().describe('Whether users that it adopts get their declared credentials.'),
}

/** A saved plan, in a list. */
export const savedPlan = z.object(fields).register(components, { id: 'PlanRepresentation' })

/** A saved plan with what it does. */
export const wholePlan = z
  .object({ ...fields, outcome: outcome.describe('The plan as it was returned when it was saved.') })
  .register(components, { id: 'WholePlanRepresentation' })

/** The plan to apply. */
export const applyBody: BodyForm = {
  schema: z
    .strictObject({
      digest: z.string().optional().describe('Digest of the plan as the caller knows it: another one is refused.'),
    })
    .register(components, { id: 'ApplyPlanRepresentation' }),
  description: 'the plan to apply',
  optional: true,
}

/** The approval to give. */
export const approvalBody: BodyForm = {
  schema: z
    .strictObject({
      withCredentials: z
        .boolean()
        .optional()
        .describe('Users that the plan adopts get their declared credentials instead of keeping their own.'),
    })
    .register(components, { id: 'ApprovePlanRepresentation' }),
  description: 'the approval',
  optional: true,
}

/** An approved plan and the outcome of its apply. */
export const approvalAnswer = z
  .object({
    plan: savedPlan,
    outcome: outcome.optional().describe('The outcome, if the plan was applied on its approval.'),
  })
  .register(components, { id: 'ApprovedPlanRepresentation' })

/** A saved plan that is stale. */
export const staleAnswer = z
  .object({
    errorMessage: z.string().describe('The error as a sentence.'),
    stale: z
      .array(
        z.object({
          realm: z.string().describe('Name of the realm.'),
          kind: z.string().describe('Kind of the object.'),
          key,
          id: z.string().optional().describe('Id of the object.'),
          object: z
            .enum(['created', 'deleted', 'changed'])
            .optional()
            .describe('The object was created, deleted, or changed although the plan deletes it.'),
          path: z.string().optional().describe('The field; of a map field.key.'),
          from: z.json().optional().describe('The value when the plan was made; of a secret its keyed digest.'),
          to: z.json().optional().describe('The value now; of a secret its keyed digest.'),
          add: z.array(key).optional().describe('Of a relation: elements that were added.'),
          remove: z.array(key).optional().describe('Of a relation: elements that were removed.'),
          by: attribution.optional(),
        }),
      )
      .optional()
      .describe('The changes since the plan was made; absent if it cannot be applied for another reason.'),
  })
  .register(components, { id: 'StalePlanRepresentation' })
