// What the operations about saved plans take and answer.
import * as z from 'zod'
import type { BodyForm } from './body.ts'
import { attribution, guard, key, outcome, sourceAtRevision } from './regent-schemas.ts'
import { components } from './responses.ts'

const at = z.iso.datetime()

const fields = {
  id: z.string().describe('Id of the plan.'),
  state: z
    .enum(['waits', 'approved', 'ready', 'applied', 'expired'])
    .describe('Whether it waits for an approval, is approved, needs none, is applied, or its time is over.'),
  digest: z.string().describe('Of what it does.'),
  sources: z.array(sourceAtRevision).describe('What it was made of.'),
  realms: z
    .array(
      z.object({
        realm: z.string().describe('Name of the realm.'),
        acts: z.boolean().describe('Whether there is anything to do.'),
        guards: z.array(guard).describe('Why it waits for an approval.'),
        appliedAt: at.optional().describe('When it was applied.'),
        revision: z.number().optional().describe('The revision of the realm that this made.'),
      }),
    )
    .describe('The realms that it is about.'),
  runs: z.boolean().describe('Whether a run of its sources would have applied it: that goes on when it is approved.'),
  made: attribution,
  expires: at.describe('Until when it can be approved and applied.'),
  approvedAt: at.optional().describe('When it was approved.'),
  approvedBy: z.string().optional().describe('Who approved it.'),
  withCredentials: z.boolean().describe('Whether people that it adopts get the credentials that are stated.'),
}

/** A saved plan, in a list. */
export const savedPlan = z.object(fields).register(components, { id: 'PlanRepresentation' })

/** A saved plan with what it does. */
export const wholePlan = z
  .object({ ...fields, outcome: outcome.describe('The plan as it was shown.') })
  .register(components, { id: 'WholePlanRepresentation' })

/** Which plan is applied. */
export const applyBody: BodyForm = {
  schema: z
    .strictObject({
      digest: z.string().optional().describe('Digest of the plan as the caller knows it: another one is refused.'),
    })
    .register(components, { id: 'ApplyPlanRepresentation' }),
  description: 'which plan is meant',
  optional: true,
}

/** What is approved. */
export const approvalBody: BodyForm = {
  schema: z
    .strictObject({
      withCredentials: z
        .boolean()
        .optional()
        .describe('People that the plan adopts get the credentials that are stated; they keep theirs otherwise.'),
    })
    .register(components, { id: 'ApprovePlanRepresentation' }),
  description: 'what is approved',
  optional: true,
}

/** What an approval led to. */
export const approvalAnswer = z
  .object({
    plan: savedPlan,
    outcome: outcome.optional().describe('What was done, where a run had waited for the approval.'),
  })
  .register(components, { id: 'ApprovedPlanRepresentation' })

/** A plan that is not what it was. */
export const movedAnswer = z
  .object({
    errorMessage: z.string().describe('What is wrong, in words for people.'),
    moved: z
      .array(
        z.object({
          realm: z.string().describe('Name of the realm.'),
          kind: z.string().describe('Kind of the object.'),
          key,
          id: z.string().optional().describe('Id of the object.'),
          object: z
            .enum(['created', 'deleted', 'changed'])
            .optional()
            .describe('The whole object was made, deleted, or changed although the plan deletes it.'),
          path: z.string().optional().describe('The field; of a map field.key.'),
          from: z.json().optional().describe('The value when the plan was made; of a secret its keyed digest.'),
          to: z.json().optional().describe('The value now; of a secret its keyed digest.'),
          add: z.array(key).optional().describe('Of a relation: elements that were added.'),
          remove: z.array(key).optional().describe('Of a relation: elements that were removed.'),
          by: attribution.optional(),
        }),
      )
      .optional()
      .describe('What has changed since the plan was made; absent where it cannot be applied for another reason.'),
  })
  .register(components, { id: 'MovedPlanRepresentation' })
