// The schema of the status of resources, in the CRDs. It follows the conventions of kstatus.
import * as z from 'zod'

const timestamp = z.iso.datetime().meta({ wire: { type: 'string', format: 'date-time' } })
const count = z.int().min(0)

const condition = z.strictObject({
  type: z.string().describe('Ready, Reconciling, Stalled, Drifted, Warning or Suspended.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition is met.'),
  reason: z.string().describe('The reason for the last change of the condition, in one word.'),
  message: z.string().describe('Details, with the path of an invalid field and what to do.'),
  lastTransitionTime: timestamp.describe('Time of the last change of `status`.'),
  observedGeneration: z.int().optional().describe('Generation of the resource for which the condition was set.'),
})

const plan = z.strictObject({
  id: z.string().optional().describe('Id of the plan, if it is pending approval.'),
  create: count.describe('Number of objects that are created.'),
  update: count.describe('Number of objects that are updated.'),
  delete: count.describe('Number of objects that are deleted.'),
  changes: z.string().optional().describe('The changes as text, of a plan that is not applied.'),
})

const commonFields = {
  observedGeneration: z.int().optional().describe('Last generation of the resource that was reconciled.'),
  conditions: z
    .array(condition)
    .optional()
    .describe('Conditions of the resource; other controllers may add conditions of other types.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }),
  realm: z
    .string()
    .optional()
    .describe('Name of the realm. Of a RealmSource: names of its realms, separated by commas.'),
  lastAppliedRevision: z
    .string()
    .optional()
    .describe('Last revision that was applied: a digest of the resources or, of a RealmSource, a commit.'),
  shortRevision: z.string().optional().describe('The first characters of the last revision that was applied.'),
  lastAttemptedRevision: z.string().optional().describe('Last revision for which an apply was attempted.'),
  lastHandledReconcileAt: z
    .string()
    .optional()
    .describe('Last value of the annotation reconcile.regent.dev/requestedAt that was handled.'),
  drift: count.optional().describe('Number of objects with drift.'),
}

const runFields = {
  plan: plan.optional().describe('Changes of the last plan, whether it was applied or not.'),
  inventory: z
    .strictObject({ objects: count.describe('Number of managed objects.') })
    .optional()
    .describe('Objects that the source, or the resources of the realm, manage.'),
  history: z
    .array(
      z.strictObject({
        revision: z.string().describe('Revision that was applied or attempted.'),
        time: timestamp.describe('Time of the run.'),
        outcome: z.enum(['Applied', 'Planned', 'Failed']).describe('Outcome of the run.'),
        message: z.string().optional().describe('Reason of the failure.'),
      }),
    )
    .max(5)
    .optional()
    .describe('The last five runs, latest first.'),
}

/** The schema of the status of a resource that declares one object of a realm. */
export const objectStatusSchema = z.strictObject(commonFields)

/** The schema of the status of a Realm or RealmSource, which is reconciled as a whole. */
export const runStatusSchema = z.strictObject({ ...commonFields, ...runFields })
