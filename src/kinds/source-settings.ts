// The settings of a source: pruning, drift policies, ownership and guards.
import * as z from 'zod'
import { kinds } from './index.ts'
import type { KindName } from './kind.ts'

const kindNames = Object.keys(kinds) as [KindName, ...KindName[]]

/** A rule for the drift of all objects, or of those that match; the last matching rule applies. */
const driftRule = z
  .strictObject({
    kind: z.enum(kindNames).optional().describe('Only objects of this kind.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe('Only this field, such as `redirectUris` or `attributes.colour`; of a map also all keys of it.'),
    policy: z
      .enum(['correct', 'report', 'accept', 'selfHeal'])
      .describe(
        'Drift is corrected by the next apply (the default), only reported, accepted as declared, or corrected at once.',
      ),
  })
  .superRefine(({ kind, path }, { addIssue }) => {
    if (!kind || !path || path.split('.')[0]! in kinds[kind].fields) return
    addIssue({ code: 'custom', message: `a ${kinds[kind].title} has no field ${path}` })
  })
  .describe('The policy for drift of certain objects and fields.')

/** The schema of the settings of a source. The documentation lists the defaults. */
export const sourceSettings = z.strictObject({
  prune: z
    .enum(['managed', 'none', 'all'])
    .optional()
    .describe(
      'Which undeclared objects are deleted: those that the source manages (the default), none, or all that are missing from a declared list.',
    ),
  drift: z.array(driftRule).optional().describe('Policies for drift; the last rule that matches counts.'),
  ownership: z
    .enum(['allow', 'warn', 'refuse'])
    .optional()
    .describe(
      'Writes by REST to managed fields: allowed, which makes them drift (the default), allowed with a warning, or refused.',
    ),
  guards: z
    .strictObject({
      deletions: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('A plan that deletes more objects than this needs an approval (default: 20).'),
      share: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe(
          'A plan that deletes more than this share of the managed objects of the realm needs an approval (default: 0.5).',
        ),
    })
    .optional()
    .describe('Limits above which a plan needs an approval.'),
})

/** The declared settings of a source. */
export type SourceSettings = z.output<typeof sourceSettings>

/** A rule for drift. */
export type DriftRule = NonNullable<SourceSettings['drift']>[number]
