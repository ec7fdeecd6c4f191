import { writeFile } from 'node:fs/promises'
import { formatTime } from '../../reconcile/model/attribution.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printOutcome } from '../print.ts'
import { readSource, type SourceFlags, serializeSource, toApprovalHeaders, withoutCredentials } from './source.ts'

/** `regent plan`: prints a plan and, with `--save`, saves it. With `--detailed-exitcode` it exits with 2 if there are changes. */
export async function plan(
  path: string,
  flags: StoreFlags & SourceFlags & { output: Format; detailedExitcode?: boolean; save?: true | string },
): Promise<void> {
  const source = await readSource(path, flags)
  const address = flags.save ? '/regent/v1/plan?save=true' : '/regent/v1/plan'
  const outcome = await request<RunOutcome>(flags, 'POST', address, {
    body: serializeSource(source),
    headers: toApprovalHeaders(flags),
  })
  const { saved } = outcome
  if (typeof flags.save === 'string') await writeFile(flags.save, `${JSON.stringify(outcome, null, 2)}\n`)
  printOutcome(flags.output, outcome, { tense: 'planned' })
  const changes = outcome.realms.some(({ plan, guards }) => plan.creates || plan.actions.length > 0 || guards?.length)
  if (changes && flags.detailedExitcode) process.exitCode = 2
  if (flags.output !== 'text') return
  const isBlocked = outcome.realms.some(({ guards }) => guards?.length)
  if (saved) {
    const file = typeof flags.save === 'string' ? ` and written to ${flags.save}` : ''
    console.log(`Saved as ${saved.id}${file}, until ${formatTime(saved.expires)}.`)
    if (isBlocked) console.log(`Approve it with "regent approve ${saved.id}".`)
    if (changes) console.log(`Apply it with "regent apply --plan ${saved.id}".`)
  } else if (changes && !flags.detailedExitcode) {
    const name = flags.name === undefined ? '' : ` --name ${flags.name}`
    const settingsHint = source.settings ? ' and the same settings' : ''
    console.log(`Apply it with "regent apply ${withoutCredentials(path)}${name}"${settingsHint}.`)
  }
}
