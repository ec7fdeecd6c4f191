// What a source settles about itself: how far it goes, and what becomes of what others change of what it states.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'

const kindNames = Object.keys(kinds) as [KindName, ...KindName[]]

/** What becomes of drift, of everything or of what matches: the last rule that matches counts. */
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
  .refine(({ kind, path }) => !kind || !path || path.split('.')[0]! in kinds[kind].fields, {
    error: ({ input }) => {
      const { kind, path } = input as { kind: KindName; path: string }
      return `a ${kinds[kind].title} has no field ${path}`
    },
  })
  .describe('The policy for drift of certain objects and fields.')

/** The settings of a source, as they are stated. What is absent is as the documentation says. */
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

/** The settings of a source, as they are stated. */
export type SourceSettings = z.output<typeof sourceSettings>

/** A rule of what becomes of drift. */
export type DriftRule = NonNullable<SourceSettings['drift']>[number]
