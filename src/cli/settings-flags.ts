// The flags by which a command says what a source settles about itself. What they mean is read when a command runs.
import { type Command, Option } from 'commander'
import type { SourceSettings } from '../service/source-settings.ts'

/** The flags that say how far a source goes. */
export interface SettingsFlags {
  readonly prune?: SourceSettings['prune']
  readonly drift?: readonly string[]
  readonly ownership?: SourceSettings['ownership']
  readonly maxDeletions?: string
  readonly maxDeletionsShare?: string
}

/** Adds the flags to a command. */
export function withSettings(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--prune <what>',
        'delete what this source made and states no more, nothing, or all that is not in a stated list (default: owned)',
      ).choices(['owned', 'none', 'all']),
    )
    .addOption(
      new Option(
        '--drift <rule>',
        'what becomes of what others change: putBack, report, adopt or selfHeal, as in report, client=adopt or client.redirectUris=report; repeatable, the last that matches counts',
      ).argParser((rule: string, rules: string[] = []) => [...rules, rule]),
    )
    .addOption(
      new Option(
        '--ownership <policy>',
        'what becomes of writes by REST to what this source states (default: allow)',
      ).choices(['allow', 'warn', 'refuse']),
    )
    .option('--max-deletions <number>', 'more deletions than this wait for approval (default: 20)')
    .option(
      '--max-deletions-share <share>',
      'so does a greater share of what this source owns, from 0 to 1 (default: 0.5)',
    )
}
