import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { digestPlan } from '../../reconcile/plan/plan-digest.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { request, type StoreFlags, withConnection } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { type Format, printOutcome } from '../print.ts'
import { readSource, type SourceFlags, serializeSource, toApprovalHeaders } from './source.ts'

type ApplyFlags = StoreFlags & SourceFlags & { output: Format; plan?: string }

/** `regent apply`: exits with 3 if a plan is pending approval, with 4 if its sources are suspended. */
export async function apply(path: string | undefined, flags: ApplyFlags): Promise<void> {
  if ((path === undefined) === (flags.plan === undefined))
    throw new Error('Pass either a source or, with --plan, a saved plan.')
  printApplied(
    flags.plan === undefined ? await applySource(path!, flags) : await applySavedPlan(flags.plan, flags),
    flags,
  )
}

/** Prints what was applied. Sets the exit code if a plan is pending approval, or its sources are suspended. */
export function printApplied(outcome: RunOutcome, { output }: { output: Format }): void {
  printOutcome(output, outcome, { tense: 'applied' })
  for (const { plan, pendingApproval, suspended } of outcome.realms) {
    if (suspended) setExitCode('suspended')
    if (!pendingApproval) continue
    setExitCode('pendingApproval')
    console.error(
      `The plan of realm ${plan.realm} is pending approval: show it with "regent plans ${pendingApproval.plan}", approve it with "regent approve ${pendingApproval.plan}".`,
    )
  }
}

async function applySource(path: string, flags: ApplyFlags): Promise<RunOutcome> {
  const source = await readSource(path, flags)
  const content = { body: serializeSource(source), headers: toApprovalHeaders(flags), reportsProgress: true }
  return withConnection({ ...flags, projectFolder: source.folder }, 'create', (connection) =>
    connection.request<RunOutcome>('POST', `/regent/v1/apply${flags.strict ? '?strict=true' : ''}`, content),
  )
}

/** Applies a saved plan, given by its id or its file. The server compares the file's digest with the plan. */
async function applySavedPlan(idOrFile: string, flags: ApplyFlags): Promise<RunOutcome> {
  const file = existsSync(idOrFile) ? parseSavedPlan(idOrFile, await readFile(idOrFile, 'utf8')) : { id: idOrFile }
  const { id, ...body } = file
  const address = `/regent/v1/plans/${encodeURIComponent(id)}/apply`
  return await request<RunOutcome>(flags, 'POST', address, {
    body,
    headers: toApprovalHeaders(flags),
    reportsProgress: true,
  })
}

function parseSavedPlan(file: string, text: string): { id: string; digest: string } {
  const outcome = parseOutcome(text)
  if (!outcome?.saved) throw new Error(`${file} is not a saved plan. "regent plan <source> --save ${file}" writes one.`)
  if (outcome.formatVersion !== FORMAT_VERSION)
    throw new Error(`${file} was written by another version of Regent. Run "regent plan" again.`)
  return { id: outcome.saved.id, digest: digestPlan(outcome.realms) }
}

function parseOutcome(text: string): RunOutcome | undefined {
  try {
    return JSON.parse(text) as RunOutcome
  } catch {
    return undefined
  }
}
