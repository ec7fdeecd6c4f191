// Reads the settings of a source from the flags of a command.
import type * as z from 'zod'
import { type DriftRule, type SourceSettings, sourceSettings } from '../../kinds/source-settings.ts'
import type { SourceSettingsFlags } from './source-settings-options.ts'

/** Returns the settings of the flags, or undefined if there are none. @throws Error for an invalid value. */
export function readSourceSettings(flags: SourceSettingsFlags): SourceSettings | undefined {
  const { prune, drift, ownership, maxDeletions, maxDeletionsShare } = flags
  const guards = {
    ...(maxDeletions !== undefined && { deletions: parseNumber(maxDeletions) }),
    ...(maxDeletionsShare !== undefined && { share: parseNumber(maxDeletionsShare) }),
  }
  const settings = {
    ...(prune && { prune }),
    ...(drift && { drift: drift.map(parseDriftRule) }),
    ...(ownership && { ownership }),
    ...(Object.keys(guards).length && { guards }),
  }
  if (!Object.keys(settings).length) return undefined
  const { data, error } = sourceSettings.safeParse(settings)
  if (data) return data
  const issue = error.issues[0]!
  throw new Error(`${findFlag(issue.path, flags)}: ${describeIssue(issue)}`)
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.at(-1)
  if (field === 'deletions') return 'must be a whole number, 0 or greater'
  if (field === 'share') return 'must be a number from 0 to 1'
  if (field === 'path') return 'the field after the kind must not be empty'
  if (field === 'kind') {
    const names = issue.code === 'invalid_value' ? issue.values.slice(0, 6).join(', ') : ''
    return `unknown kind. Use one such as ${names}.`
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  return issue.message
}

/** Parses `report`, `client=report` or `client.redirectUris=report`. */
function parseDriftRule(text: string): DriftRule {
  const at = text.lastIndexOf('=')
  const policy = text.slice(at + 1) as DriftRule['policy']
  if (at < 0) return { policy }
  const [kind, ...path] = text.slice(0, at).split('.')
  return { kind: kind as NonNullable<DriftRule['kind']>, ...(path.length && { path: path.join('.') }), policy }
}

function parseNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}

function findFlag(
  [name, at]: readonly PropertyKey[],
  { drift, maxDeletions, maxDeletionsShare }: SourceSettingsFlags,
): string {
  if (name === 'drift') return `--drift ${drift![at as number]}`
  return at === 'share' ? `--max-deletions-share ${maxDeletionsShare}` : `--max-deletions ${maxDeletions}`
}
