// What a source settles about itself: how far it goes, and what becomes of what others change of what it states.
import * as z from 'zod'
import { kinds } from '../kinds/index.ts'
import type { KindName } from '../kinds/kind.ts'

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
      .enum(['putBack', 'report', 'adopt', 'selfHeal'])
      .describe(
        'The next apply puts it back, it stays and is shown, it stays and counts as if it were stated, or it is put back at once.',
      ),
  })
  .refine(({ kind, path }) => !kind || !path || path.split('.')[0]! in kinds[kind].fields, {
    error: ({ input }) => {
      const { kind, path } = input as { kind: KindName; path: string }
      return `a ${kinds[kind].title} has no field ${path}`
    },
  })
  .describe('What becomes of drift of certain fields.')

/** The settings of a source, as they are stated. What is absent is as the documentation says. */
export const sourceSettings = z.strictObject({
  prune: z
    .enum(['owned', 'none', 'all'])
    .optional()
    .describe(
      'What is deleted once no document states it: what the source made its own (the default), nothing, or all that is not in a list that is stated.',
    ),
  drift: z
    .array(driftRule)
    .optional()
    .describe('What becomes of what somebody else changed: the last rule that matches counts.'),
  ownership: z
    .enum(['allow', 'warn', 'refuse'])
    .optional()
    .describe(
      'What becomes of a write by REST to what the source states: it is done and becomes drift (the default), done with a warning, or refused.',
    ),
  guards: z
    .strictObject({
      deletions: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('A plan that deletes more objects than this waits for approval (default: 20).'),
      share: z
        .number()
        .min(0)
        .max(1)
        .optional()
        .describe('So does one that deletes more than this share of what the source owns in the realm (default: 0.5).'),
    })
    .optional()
    .describe('When a plan waits for the approval of a person.'),
})

/** The settings of a source, as they are stated. */
export type SourceSettings = z.output<typeof sourceSettings>

/** A rule of what becomes of drift. */
export type DriftRule = NonNullable<SourceSettings['drift']>[number]
