import { renderOutcome } from '../reconcile/render.ts'
import type { Outcome } from '../reconcile/run.ts'
import { request, type StoreFlags } from './connect.ts'
import { paint } from './paint.ts'
import { approvals, readSource, type SourceFlags, wire } from './source.ts'

/** `regent apply`. */
export async function apply(path: string, flags: StoreFlags & SourceFlags & { output: string }): Promise<void> {
  const source = await readSource(path, flags)
  const outcome = (await request(flags, 'POST', '/regent/v1/apply', wire(source), approvals(flags))) as Outcome
  console.log(flags.output === 'json' ? JSON.stringify(outcome, null, 2) : renderOutcome(outcome, 'applied', paint))
}
