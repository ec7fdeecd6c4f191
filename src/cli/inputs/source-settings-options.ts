// The command line options for the settings of a source. They are parsed by read-source-settings.ts when a command runs.
import type { Option } from 'commander'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import { choice, option, repeatable } from '../options.ts'

/** The flags for the settings of a source. */
export interface SourceSettingsFlags {
  readonly prune?: SourceSettings['prune']
  readonly drift?: readonly string[]
  readonly ownership?: SourceSettings['ownership']
  readonly maxDeletions?: string
  readonly maxDeletionsShare?: string
}

/** The options for the settings of a source. */
export const sourceSettingsOptions: readonly Option[] = [
  choice('--prune <mode>', 'Choose which undeclared objects are deleted', {
    values: ['managed', 'none', 'all'],
    fallback: 'managed',
  }),
  repeatable('--drift <rule>', 'Set a drift policy; the last matching rule counts', { fallback: 'correct' }),
  choice('--ownership <policy>', 'Choose what REST writes to managed fields do', {
    values: ['allow', 'warn', 'refuse'],
    fallback: 'allow',
  }),
  option('--max-deletions <number>', 'Require an approval above this many deletions', { fallback: '20' }),
  option('--max-deletions-share <share>', 'Require an approval above this share of deletions', { fallback: '0.5' }),
]
