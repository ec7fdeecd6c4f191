// What the operator says of a resource, by the conventions of kstatus.
import * as z from 'zod'

const moment = z.iso.datetime().meta({ wire: { type: 'string', format: 'date-time' } })
const count = z.int().min(0)

const condition = z.strictObject({
  type: z.string().describe('Ready, Reconciling, Stalled or Drifted.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: z.string().describe('Why, in one word.'),
  message: z.string().describe('Why, and what to do; of a field that is wrong, its path.'),
  lastTransitionTime: moment.describe('When it became so.'),
  observedGeneration: z.int().optional().describe('The generation of the resource that it speaks of.'),
})

const plan = z.strictObject({
  id: z.string().optional().describe('The plan that is pending approval.'),
  create: count.describe('How many objects are made.'),
  update: count.describe('How many objects are changed.'),
  delete: count.describe('How many objects are deleted.'),
})

const ofAll = {
  observedGeneration: z.int().optional().describe('The generation of the resource that was looked at last.'),
  conditions: z.array(condition).optional().describe('How the resource stands.'),
  realm: z.string().optional().describe('Name of the realm.'),
  lastAppliedRevision: z.string().optional().describe('What was applied last: a commit, or a digest.'),
  lastAttemptedRevision: z.string().optional().describe('What was tried last.'),
  lastHandledReconcileAt: z
    .string()
    .optional()
    .describe('The value of the annotation reconcile.regent.dev/requestedAt that was followed last.'),
  drift: count.optional().describe('How many objects somebody has changed since.'),
}

const ofRuns = {
  plan: plan.optional().describe('What the last plan would do, or did.'),
  inventory: z
    .strictObject({ objects: count.describe('How many objects the resources of the realm own.') })
    .optional()
    .describe('What is owned.'),
  history: z
    .array(
      z.strictObject({
        revision: z.string().describe('What was applied, or tried.'),
        time: moment.describe('When.'),
        outcome: z.enum(['Applied', 'Planned', 'Failed']).describe('How it ended.'),
        message: z.string().optional().describe('What failed.'),
      }),
    )
    .max(5)
    .optional()
    .describe('The last five runs, the latest first.'),
}

/** The status of a resource that holds one object of a realm. */
export const objectStatus = z.strictObject(ofAll)

/** The status of a resource that runs are made for: a realm, or a source. */
export const runStatus = z.strictObject({ ...ofAll, ...ofRuns })
