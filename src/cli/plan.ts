import { renderOutcome } from '../reconcile/render.ts'
import type { Outcome } from '../reconcile/run.ts'
import { request, type StoreFlags } from './connect.ts'
import { paint } from './paint.ts'
import { approvals, readSource, type SourceFlags, shownSource, wire } from './source.ts'

/** `regent plan`: exits with 2 when there are changes and that was asked for. */
export async function plan(
  path: string,
  flags: StoreFlags & SourceFlags & { output: string; detailedExitcode?: boolean },
): Promise<void> {
  const source = await readSource(path, flags)
  const outcome = (await request(flags, 'POST', '/regent/v1/plan', wire(source), approvals(flags))) as Outcome
  console.log(flags.output === 'json' ? JSON.stringify(outcome, null, 2) : renderOutcome(outcome, 'planned', paint))
  const changes = outcome.realms.some(({ plan }) => plan.creates || plan.actions.length > 0)
  if (changes && flags.detailedExitcode) process.exitCode = 2
  else if (changes && flags.output === 'text') console.log(`Apply it with "regent apply ${shownSource(path)}".`)
}
