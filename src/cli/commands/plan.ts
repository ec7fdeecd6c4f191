import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { formatTime } from '../../reconcile/model/attribution.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { renderApplyCommand, renderApplyPlanCommand } from '../apply-command.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { setExitCode } from '../exit-codes.ts'
import { type OtherServerFlags, openOtherServer } from '../login/other-server.ts'
import { withNewStore } from '../new-store.ts'
import { type OutcomeFlags, printOutcome } from '../print.ts'
import { printHint } from '../terminal/hint.ts'
import { runWithProgress } from '../terminal/interruption.ts'
import { isSavedPlan } from './apply.ts'
import {
  readDocuments,
  readSource,
  type SourceFlags,
  serializeSource,
  toApprovalHeaders,
  toStoreFlags,
} from './source.ts'

interface PlanCommandFlags extends StoreFlags, SourceFlags, OutcomeFlags, OtherServerFlags {
  readonly detailedExitcode?: boolean
  readonly save?: true | string
  readonly against?: string
}

/** `regent plan`: prints a plan and, with `--save`, saves it. With `--detailed-exitcode` it exits with 2 if there are changes. */
export async function plan(paths: readonly string[], flags: PlanCommandFlags): Promise<void> {
  if (flags.against !== undefined) return planAgainstServer(paths, { ...flags, against: flags.against })
  if (typeof flags.save === 'string') await refuseOtherFile(flags.save)
  const source = await readSource(paths, flags)
  const query = { ...(flags.save && { save: 'true' }), ...(flags.strict && { strict: 'true' }) }
  const address = `/regent/v1/plan?${new URLSearchParams(query)}`
  const content = { body: serializeSource(source), headers: toApprovalHeaders(flags), reportsProgress: true }
  const outcome = await withConnection(
    { ...flags, ...toStoreFlags(source, flags.save ? 'apply' : 'plan') },
    flags.save ? 'fail' : 'discard',
    (connection) => connection.request<RunOutcome>('POST', address, content),
  )
  const { saved } = outcome
  if (typeof flags.save === 'string') await writeFile(flags.save, `${JSON.stringify(outcome, null, 2)}\n`)
  printOutcome(flags, outcome, { tense: 'planned' })
  const isSuspended = outcome.realms.some(({ suspended }) => suspended)
  const changes = hasChanges(outcome)
  if (changes && flags.detailedExitcode) setExitCode('changes')
  if (isSuspended) setExitCode('suspended')
  if (flags.output !== 'text') return
  const isBlocked = outcome.realms.some(({ guards }) => guards?.length)
  if (saved) {
    const file = typeof flags.save === 'string' ? ` and written to ${flags.save}` : ''
    console.log(`Saved as ${saved.id}${file}, until ${formatTime(saved.expires)}.`)
    if (isBlocked) printHint(`Approve it with "regent approve ${saved.id}".`)
    if (changes) printHint(`Apply it with "${renderApplyPlanCommand(saved.id, flags)}".`)
  } else if (changes && !isSuspended && !flags.detailedExitcode)
    printHint(
      isBlocked
        ? `"${renderApplyCommand(paths, flags)}" saves it for an approval.`
        : `Apply it with "${renderApplyCommand(paths, flags)}".`,
    )
}

/** The flags that have no meaning without a store, which has what a source applied before. */
const STORE_FLAGS = [
  ...(['server', 'context', 'database', 'data', 'keyFile', 'save'] as const),
  ...(['prune', 'drift', 'ownership', 'maxDeletions', 'maxDeletionsShare'] as const),
]

/** `regent plan --against`: prints what the files would change on a Keycloak server, which is only read. */
async function planAgainstServer(
  paths: readonly string[],
  { against, ...flags }: PlanCommandFlags & { readonly against: string },
): Promise<void> {
  const conflicting = STORE_FLAGS.find((name) => flags[name] !== undefined)
  if (conflicting !== undefined)
    throw new Error(`Pass --against or --${conflicting.replaceAll(/[A-Z]/g, '-$&').toLowerCase()}, not both.`)
  const url = against.replace(/\/+$/, '')
  const server = openOtherServer(url, flags)
  const source = await readDocuments(paths, flags)
  const outcome = await runWithProgress((signal) =>
    raceAbort(
      withNewStore(async (service) => {
        const { planAgainst } = await import('../../reconcile/import/plan-against.ts')
        return planAgainst(service, source, { server, url, strict: flags.strict })
      }),
      signal,
    ),
  )
  printOutcome(flags, outcome, { tense: 'planned' })
  if (flags.detailedExitcode && hasChanges(outcome)) setExitCode('changes')
}

/** Whether an apply would change something, or a guard blocks it. */
function hasChanges({ realms }: RunOutcome): boolean {
  return realms.some(({ plan, guards }) => plan.creates || plan.actions.length > 0 || guards?.length)
}

/** Throws Error if there is a file that is no saved plan, such as a document. */
async function refuseOtherFile(file: string): Promise<void> {
  if (existsSync(file) && !isSavedPlan(await readFile(file, 'utf8')))
    throw new Error(`${file} exists and is no saved plan. Pass another file with --save.`)
}
