import { writeFile } from 'node:fs/promises'
import { moment } from '../../reconcile/model/attribution.ts'
import type { Outcome } from '../../reconcile/run/run.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printOutcome } from '../print.ts'
import { approvals, readSource, type SourceFlags, shownSource, wire } from './source.ts'

/** `regent plan`: exits with 2 when there are changes and that was asked for. `save`: keeps the plan, and writes it to a file where one is named. */
export async function plan(
  path: string,
  flags: StoreFlags & SourceFlags & { output: Format; detailedExitcode?: boolean; save?: true | string },
): Promise<void> {
  const source = await readSource(path, flags)
  const address = flags.save ? '/regent/v1/plan?save=true' : '/regent/v1/plan'
  const outcome = (await request(flags, 'POST', address, { body: wire(source), headers: approvals(flags) })) as Outcome
  const { saved } = outcome
  if (typeof flags.save === 'string') await writeFile(flags.save, `${JSON.stringify(outcome, null, 2)}\n`)
  printOutcome(flags.output, outcome, { tense: 'planned' })
  const changes = outcome.realms.some(({ plan, guards }) => plan.creates || plan.actions.length > 0 || guards?.length)
  if (changes && flags.detailedExitcode) process.exitCode = 2
  if (flags.output !== 'text') return
  const waits = outcome.realms.some(({ guards }) => guards?.length)
  if (saved) {
    const file = typeof flags.save === 'string' ? ` and written to ${flags.save}` : ''
    console.log(`Saved as ${saved.id}${file}, until ${moment(saved.expires)}.`)
    if (waits) console.log(`Approve it with "regent approve ${saved.id}".`)
    if (changes) console.log(`Apply it with "regent apply --plan ${saved.id}".`)
  } else if (changes && !flags.detailedExitcode) {
    const same = source.settings ? ' and the same settings' : ''
    console.log(`Apply it with "regent apply ${shownSource(path)}"${same}.`)
  }
}
