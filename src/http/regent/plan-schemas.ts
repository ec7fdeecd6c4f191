// Schemas of the operations on saved plans.
import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import type { BodyForm } from '../body.ts'
import { attribution, guard, key, outcome, sourceAtRevision } from './schemas.ts'

const at = z.iso.datetime()

const fields = {
  id: z.string().describe('Id of the plan.'),
  state: z
    .enum(['pending', 'approved', 'ready', 'applied', 'expired'])
    .describe('State of the plan: pending approval, approved, ready (needs no approval), applied or expired.'),
  digest: z.string().describe('Digest of the actions.'),
  sources: z.array(sourceAtRevision).describe('Sources of the plan.'),
  realms: z
    .array(
      z.object({
        realm: z.string().describe('Name of the realm.'),
        hasChanges: z.boolean().describe('Whether the plan changes the realm.'),
        guards: z.array(guard).describe('Guards that block the plan until it is approved.'),
        appliedAt: at.optional().describe('Time of the apply, in ISO 8601.'),
        revision: z.number().optional().describe('Revision of the realm that the apply created.'),
      }),
    )
    .describe('The realms of the plan.'),
  appliesOnApproval: z
    .boolean()
    .describe('Whether the plan is applied as soon as it is approved, since an apply of its sources created it.'),
  created: attribution,
  expires: at.describe('Time until which the plan can be approved and applied, in ISO 8601.'),
  outdated: z
    .boolean()
    .describe('Whether a realm of the plan was changed since: the plan may be stale, which its apply checks.'),
  authors: z
    .array(z.string())
    .optional()
    .describe(
      'Users who made the changes and may not approve them. Absent: unknown, or no second approver is required.',
    ),
  approvedAt: at.optional().describe('Time of the approval, in ISO 8601.'),
  approvedBy: z.string().optional().describe('Username of the administrator who approved the plan.'),
  withCredentials: z.boolean().describe('Whether adopted users get their declared credentials.'),
}

/** The schema of a saved plan without its changes, as lists contain it. */
export const savedPlan = z.object(fields).register(namedSchemas, { id: 'SavedPlanRepresentation' })

/** The schema of a saved plan with its changes. */
export const wholePlan = z
  .object({ ...fields, outcome: outcome.describe('Outcome of the plan, as it was when the plan was saved.') })
  .register(namedSchemas, { id: 'SavedPlanWithOutcomeRepresentation' })

/** The body of an apply of a saved plan. */
export const applyBody: BodyForm = {
  schema: z
    .strictObject({
      digest: z
        .string()
        .optional()
        .describe('Expected digest of the plan. The request fails if it differs. Default: any.'),
    })
    .register(namedSchemas, { id: 'ApplyPlanRepresentation' }),
  description: 'The expected digest.',
  namesFields: true,
  optional: true,
}

/** The body of an approval. */
export const approvalBody: BodyForm = {
  schema: z
    .strictObject({
      withCredentials: z
        .boolean()
        .optional()
        .describe(
          'Whether adopted users get their declared credentials. Default: false, which keeps their credentials.',
        ),
    })
    .register(namedSchemas, { id: 'ApprovePlanRepresentation' }),
  description: 'The approval.',
  namesFields: true,
  optional: true,
}

/** An approved plan and the outcome of its apply. */
export const approvalAnswer = z
  .object({
    plan: savedPlan,
    outcome: outcome.optional().describe('Outcome of the apply. Absent if the plan is not applied on approval.'),
  })
  .register(namedSchemas, { id: 'ApprovedPlanRepresentation' })

/** The response of an apply whose saved plan is stale. */
export const staleAnswer = z
  .object({
    errorMessage: z.string().describe('Error message.'),
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
            .describe('Change of the object: created, deleted, or changed although the plan deletes it.'),
          path: z.string().optional().describe('Field; for a map, `field.key`.'),
          from: z.json().optional().describe('Value when the plan was created; for a secret, its keyed digest.'),
          to: z.json().optional().describe('Current value; for a secret, its keyed digest.'),
          add: z.array(key).optional().describe('Added elements of a relation.'),
          remove: z.array(key).optional().describe('Removed elements of a relation.'),
          by: attribution.optional(),
        }),
      )
      .optional()
      .describe('Changes since the plan was created. Absent if the plan cannot be applied for another reason.'),
  })
  .register(namedSchemas, { id: 'StalePlanRepresentation' })
