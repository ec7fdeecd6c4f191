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
        '`correct`: the next apply writes the declared value (default). `report`: the live value stays, and is shown as drift. `accept`: it stays, and is not shown. `selfHeal`: the declared value is written at once.',
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
      '`managed`: objects that the source manages and no longer declares are deleted (default). `none`: no objects. `all`: also unmanaged objects that a declared list lacks, but no users and organizations.',
    ),
  drift: z.array(driftRule).optional().describe('Policies for drift; the last rule that matches counts.'),
  ownership: z
    .enum(['allow', 'warn', 'refuse'])
    .optional()
    .describe(
      'What happens to REST writes to managed fields. `allow`: they succeed and are drift (default). `warn`: the same, with a response header that names the source. `refuse`: they return 409.',
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
          'A plan that deletes more than three objects, and more than this share of the managed objects of the realm, needs an approval (default: 0.5).',
        ),
    })
    .optional()
    .describe('Limits above which a plan needs an approval.'),
})

/** The declared settings of a source. */
export type SourceSettings = z.output<typeof sourceSettings>

/** A rule for drift. */
export type DriftRule = NonNullable<SourceSettings['drift']>[number]
