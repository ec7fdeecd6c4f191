import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { digestPlan } from '../../reconcile/plan/plan-digest.ts'
import { isDocumentFile } from '../../reconcile/read/file-source.ts'
import { formatCount } from '../../reconcile/report/whole-value.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { type Connection, type RequestContent, request, type StoreFlags, withConnection } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { type OutcomeFlags, printOutcome } from '../print.ts'
import { confirm, isInteractive } from '../prompt.ts'
import { readSource, type SourceFlags, serializeSource, toApprovalHeaders, toStoreFlags } from './source.ts'

type ApplyFlags = StoreFlags & SourceFlags & OutcomeFlags & { readonly plan?: string; readonly yes?: true }

/** `regent apply`: exits with 3 if a plan is pending approval, with 4 if its sources are suspended. */
export async function apply(paths: readonly string[], flags: ApplyFlags): Promise<void> {
  if (paths.length && flags.plan !== undefined)
    throw new Error('Pass either documents or, with --plan, a saved plan, not both.')
  printApplied(
    flags.plan === undefined
      ? await applySource(paths.length ? paths : ['.'], flags)
      : await applySavedPlan(flags.plan, flags),
    flags,
  )
}

/** Prints what was applied. Sets the exit code if a plan is pending approval, or its sources are suspended. */
export function printApplied(outcome: RunOutcome, flags: OutcomeFlags): void {
  printOutcome(flags, outcome, { tense: 'applied' })
  for (const { plan, pendingApproval, suspended } of outcome.realms) {
    if (suspended) setExitCode('suspended')
    if (!pendingApproval) continue
    setExitCode('pendingApproval')
    console.error(
      `The plan of realm ${plan.realm} is pending approval: show it with "regent plans ${pendingApproval.plan}", approve it with "regent approve ${pendingApproval.plan}".`,
    )
  }
}

async function applySource(paths: readonly string[], flags: ApplyFlags): Promise<RunOutcome> {
  const source = await readSource(paths, flags)
  const content = { body: serializeSource(source), headers: toApprovalHeaders(flags), reportsProgress: true }
  const strict = flags.strict ? 'strict=true' : ''
  return withConnection({ ...flags, ...toStoreFlags(source, 'apply') }, 'create', async (connection) => {
    if (!flags.yes && isInteractive() && flags.output === 'text') {
      const outcome = await applyConfirmed(connection, { content, strict }, flags)
      if (outcome) return outcome
    }
    return connection.request<RunOutcome>('POST', `/regent/v1/apply?${strict}`, content)
  })
}

/**
 * Plans, and if the plan loses something, prints it, asks, and applies exactly this plan. Returns undefined if there is nothing to ask:
 * what guards block needs an approval, which is more than a confirmation.
 */
async function applyConfirmed(
  connection: Connection,
  { content, strict }: { readonly content: RequestContent; readonly strict: string },
  flags: ApplyFlags,
): Promise<RunOutcome | undefined> {
  const planned = await connection.request<RunOutcome>('POST', `/regent/v1/plan?save=true&${strict}`, content)
  const path = `/regent/v1/plans/${encodeURIComponent(planned.saved!.id)}`
  const losses = describeLosses(planned)
  const isBlocked = planned.realms.some(({ guards, suspended }) => guards?.length || suspended)
  try {
    if (!losses || isBlocked) return undefined
    printOutcome(flags, planned, { tense: 'planned' })
    await confirm(`This apply ${losses}.`, {})
    return await connection.request<RunOutcome>('POST', `${path}/apply`, { ...content, body: {} })
  } finally {
    await connection.request('DELETE', path).catch(() => {})
  }
}

/** Describes what a plan deletes and which users it affects; undefined if it loses nothing. */
function describeLosses({ realms }: RunOutcome): string | undefined {
  const deletions = realms.flatMap(({ plan }) => plan.actions).filter(({ operation }) => operation === 'delete').length
  const effects = realms.some((realm) => realm.effects.length)
  const texts = [
    ...(deletions ? [`deletes ${deletions === 1 ? '1 object' : `${formatCount(deletions)} objects`}`] : []),
    ...(effects ? ['affects users'] : []),
  ]
  return texts.length ? texts.join(' and ') : undefined
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
  if (!outcome?.saved) {
    const advice =
      isDocumentFile(file) && !file.endsWith('.json')
        ? `Apply the document with "regent apply ${file}".`
        : '"regent plan --save FILE" writes one.'
    throw new Error(`${file} is not a saved plan. ${advice}`)
  }
  if (outcome.formatVersion !== FORMAT_VERSION)
    throw new Error(`${file} was written by another version of Regent. Run "regent plan" again.`)
  return { id: outcome.saved.id, digest: digestPlan(outcome.realms) }
}

/** Whether a text is a saved plan. */
export const isSavedPlan = (text: string): boolean => parseOutcome(text)?.saved !== undefined

function parseOutcome(text: string): RunOutcome | undefined {
  try {
    return JSON.parse(text) as RunOutcome
  } catch {
    return undefined
  }
}
