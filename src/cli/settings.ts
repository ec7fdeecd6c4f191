// What a source settles about itself, from the flags of a command.
import { type DriftRule, type SourceSettings, sourceSettings } from '../service/journal/source-settings.ts'
import type { SettingsFlags } from './settings-flags.ts'

/** The settings that the flags make; undefined where none is given. Throws where a value is none. */
export function settingsOf(flags: SettingsFlags): SourceSettings | undefined {
  const { prune, drift, ownership, maxDeletions, maxDeletionsShare } = flags
  const guards = {
    ...(maxDeletions !== undefined && { deletions: numberOf(maxDeletions) }),
    ...(maxDeletionsShare !== undefined && { share: numberOf(maxDeletionsShare) }),
  }
  const settings = {
    ...(prune && { prune }),
    ...(drift && { drift: drift.map(ruleOf) }),
    ...(ownership && { ownership }),
    ...(Object.keys(guards).length && { guards }),
  }
  if (!Object.keys(settings).length) return undefined
  const { data, error } = sourceSettings.safeParse(settings)
  if (data) return data
  const { path, message } = error.issues[0]!
  throw new Error(`${flagAt(path, flags)}: ${message}`)
}

/** `report`, `client=report`, `client.redirectUris=report`. */
function ruleOf(text: string): DriftRule {
  const at = text.lastIndexOf('=')
  const policy = text.slice(at + 1) as DriftRule['policy']
  if (at < 0) return { policy }
  const [kind, ...path] = text.slice(0, at).split('.')
  return { kind: kind as NonNullable<DriftRule['kind']>, ...(path.length && { path: path.join('.') }), policy }
}

function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}

function flagAt([name, at]: readonly PropertyKey[], { drift, maxDeletions, maxDeletionsShare }: SettingsFlags): string {
  if (name === 'drift') return `--drift ${drift![at as number]}`
  return at === 'share' ? `--max-deletions-share ${maxDeletionsShare}` : `--max-deletions ${maxDeletions}`
}
