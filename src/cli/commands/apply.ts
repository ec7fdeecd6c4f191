import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { digestOfPlan } from '../../reconcile/plan/plan-digest.ts'
import type { Outcome } from '../../reconcile/run/run.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printOutcome } from '../print.ts'
import { approvals, readSource, type SourceFlags, wire } from './source.ts'

type Flags = StoreFlags & SourceFlags & { output: Format; plan?: string }

/** `regent apply`: exits with 1 if a plan is pending approval. */
export async function apply(path: string | undefined, flags: Flags): Promise<void> {
  if ((path === undefined) === (flags.plan === undefined))
    throw new Error('name what to apply: a source, or with --plan a saved plan')
  showApplied(flags.plan === undefined ? await ofSource(path!, flags) : await ofPlan(flags.plan, flags), flags)
}

/** What was applied; what waits is told on its own, and makes the exit code 1. */
export function showApplied(outcome: Outcome, { output }: { output: Format }): void {
  printOutcome(output, outcome, { tense: 'applied' })
  for (const { plan, pendingApproval } of outcome.realms) {
    if (!pendingApproval) continue
    process.exitCode = 1
    console.error(
      `The plan of realm ${plan.realm} is pending approval: show it with "regent plans ${pendingApproval.plan}", approve it with "regent approve ${pendingApproval.plan}".`,
    )
  }
}

async function ofSource(path: string, flags: Flags): Promise<Outcome> {
  const source = await readSource(path, flags)
  return (await request(flags, 'POST', '/regent/v1/apply', {
    body: wire(source),
    headers: approvals(flags),
  })) as Outcome
}

/** A saved plan, by its id or as the file that it was written to: that must say what was saved. */
async function ofPlan(named: string, flags: Flags): Promise<Outcome> {
  const file = existsSync(named) ? savedIn(named, await readFile(named, 'utf8')) : { id: named }
  const { id, ...body } = file
  const address = `/regent/v1/plans/${encodeURIComponent(id)}/apply`
  return (await request(flags, 'POST', address, { body, headers: approvals(flags) })) as Outcome
}

function savedIn(file: string, text: string): { id: string; digest: string } {
  const outcome = outcomeIn(text)
  if (!outcome?.saved) throw new Error(`${file} holds no saved plan: "regent plan <source> --save ${file}" writes one`)
  if (outcome.formatVersion !== FORMAT_VERSION)
    throw new Error(`${file} was written by another version of Regent: plan again`)
  return { id: outcome.saved.id, digest: digestOfPlan(outcome.realms) }
}

function outcomeIn(text: string): Outcome | undefined {
  try {
    return JSON.parse(text) as Outcome
  } catch {
    return undefined
  }
}
