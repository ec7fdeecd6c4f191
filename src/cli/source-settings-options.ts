// The command line options for the settings of a source. They are parsed by read-source-settings.ts when a command runs.
import type { Option } from 'commander'
import type { SourceSettings } from '../kinds/source-settings.ts'
import { choice, option, repeatable } from './options.ts'

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
  choice(
    '--prune <mode>',
    'undeclared objects to delete: managed ones, none, or all that a declared list lacks (default: managed)',
    ['managed', 'none', 'all'],
  ),
  repeatable(
    '--drift <rule>',
    'policy for drift: correct, report, accept or selfHeal, as in report, client=accept or client.redirectUris=report; repeatable, the last match counts',
  ),
  choice('--ownership <policy>', 'policy for writes by REST to managed fields (default: allow)', [
    'allow',
    'warn',
    'refuse',
  ]),
  option('--max-deletions <number>', 'deletions that a plan may have without an approval (default: 20)'),
  option('--max-deletions-share <share>', 'the same as a share of the managed objects, from 0 to 1 (default: 0.5)'),
]
