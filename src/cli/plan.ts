import type { Outcome } from '../reconcile/run.ts'
import { request, type StoreFlags } from './connect.ts'
import { type Format, printOutcome } from './print.ts'
import { approvals, readSource, type SourceFlags, shownSource, wire } from './source.ts'

/** `regent plan`: exits with 2 when there are changes and that was asked for. */
export async function plan(
  path: string,
  flags: StoreFlags & SourceFlags & { output: Format; detailedExitcode?: boolean },
): Promise<void> {
  const source = await readSource(path, flags)
  const outcome = (await request(flags, 'POST', '/regent/v1/plan', wire(source), approvals(flags))) as Outcome
  printOutcome(flags.output, outcome, 'planned')
  const changes = outcome.realms.some(({ plan }) => plan.creates || plan.actions.length > 0)
  if (changes && flags.detailedExitcode) process.exitCode = 2
  else if (changes && flags.output === 'text') console.log(`Apply it with "regent apply ${shownSource(path)}".`)
}
