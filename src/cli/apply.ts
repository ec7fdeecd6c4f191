import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { digestOfPlan } from '../reconcile/plan-digest.ts'
import type { Outcome } from '../reconcile/run.ts'
import { request, type StoreFlags } from './connect.ts'
import { type Format, printOutcome } from './print.ts'
import { approvals, readSource, type SourceFlags, wire } from './source.ts'

type Flags = StoreFlags & SourceFlags & { output: Format; plan?: string }

/** `regent apply`: exits with 1 where something waits for an approval. */
export async function apply(path: string | undefined, flags: Flags): Promise<void> {
  if ((path === undefined) === (flags.plan === undefined))
    throw new Error('name what to apply: a source, or with --plan a saved plan')
  showApplied(flags.plan === undefined ? await ofSource(path!, flags) : await ofPlan(flags.plan, flags), flags)
}

/** What was applied; what waits is told on its own, and makes the exit code 1. */
export function showApplied(outcome: Outcome, { output }: { output: Format }): void {
  printOutcome(output, outcome, 'applied')
  for (const { plan, guarded } of outcome.realms) {
    if (!guarded) continue
    process.exitCode = 1
    console.error(
      `realm ${plan.realm} waits for an approval: look at it with "regent plans ${guarded.plan}", and let it go on with "regent approve ${guarded.plan}"`,
    )
  }
}

async function ofSource(path: string, flags: Flags): Promise<Outcome> {
  const source = await readSource(path, flags)
  return (await request(flags, 'POST', '/regent/v1/apply', wire(source), approvals(flags))) as Outcome
}

/** A saved plan, by its id or as the file that it was written to: that must say what was saved. */
async function ofPlan(named: string, flags: Flags): Promise<Outcome> {
  const file = existsSync(named) ? savedIn(named, await readFile(named, 'utf8')) : { id: named }
  const { id, ...body } = file
  const address = `/regent/v1/plans/${encodeURIComponent(id)}/apply`
  return (await request(flags, 'POST', address, body, approvals(flags))) as Outcome
}

function savedIn(file: string, text: string): { id: string; digest: string } {
  try {
    const { saved, realms } = JSON.parse(text) as Outcome
    return { id: saved!.id, digest: digestOfPlan(realms) }
  } catch {
    throw new Error(`${file} holds no saved plan: "regent plan <source> --save ${file}" writes one`)
  }
}
