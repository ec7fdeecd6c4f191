import type { Outcome } from '../reconcile/run.ts'
import { request, type StoreFlags } from './connect.ts'
import { type Format, printOutcome } from './print.ts'
import { approvals, readSource, type SourceFlags, wire } from './source.ts'

/** `regent apply`. */
export async function apply(path: string, flags: StoreFlags & SourceFlags & { output: Format }): Promise<void> {
  const source = await readSource(path, flags)
  const outcome = (await request(flags, 'POST', '/regent/v1/apply', wire(source), approvals(flags))) as Outcome
  printOutcome(flags.output, outcome, 'applied')
}
