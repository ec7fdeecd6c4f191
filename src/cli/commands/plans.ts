// Saved plans: `regent plans`, `approve` and `reject`.
import type { Attribution, Guard } from '../../reconcile/model/action.ts'
import { formatTime } from '../../reconcile/model/attribution.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { renderApplyPlanCommand } from '../apply-command.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, type OutcomeFlags, printOutcome, printTable } from '../print.ts'
import { printApplied } from './apply.ts'

type PlanFlags = StoreFlags & OutcomeFlags

/** A saved plan in the representation of the API. */
interface SavedPlanView {
  readonly id: string
  readonly state: 'pending' | 'approved' | 'ready' | 'applied' | 'expired'
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly {
    readonly realm: string
    readonly hasChanges: boolean
    readonly guards: readonly Guard[]
  }[]
  readonly created: Attribution
  readonly expires: string
  readonly outdated: boolean
  readonly approvedBy?: string
  readonly outcome?: RunOutcome
}

/** `regent plans`: lists the saved plans, or prints one. */
export async function plans(id: string | undefined, flags: PlanFlags): Promise<void> {
  if (id === undefined)
    return printPlans(await request<SavedPlanView[]>(flags, 'GET', '/regent/v1/plans'), flags.output)
  const plan = await request<SavedPlanView>(flags, 'GET', planPath(id))
  printOutcome(flags, plan.outcome!, { tense: 'planned', json: plan })
  if (flags.output === 'text') console.log(`${plan.id}: ${describeState(plan)}`)
}

/** `regent approve`: approves a plan. One that a source is waiting for is applied at once. */
export async function approve(id: string, flags: PlanFlags & { withCredentials?: true }): Promise<void> {
  const body = { withCredentials: flags.withCredentials === true }
  const response = await request<{ outcome?: RunOutcome }>(flags, 'POST', `${planPath(id)}/approve`, {
    body,
    reportsProgress: true,
  })
  if (response.outcome) printApplied(response.outcome, flags)
  else if (flags.output === 'json') console.log(JSON.stringify(response, null, 2))
  else console.log(`Approved. Apply it with "${renderApplyPlanCommand(id, flags)}".`)
}

/** `regent reject`: deletes a saved plan. */
export async function reject(id: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', planPath(id))
  console.log(`The plan ${id} is deleted. Applying the same changes requires an approval again.`)
}

const planPath = (id: string) => `/regent/v1/plans/${encodeURIComponent(id)}`

function printPlans(plans: readonly SavedPlanView[], output: Format): void {
  const rows = plans.map((plan) => {
    const realms = plan.realms.flatMap(({ realm, hasChanges }) => (hasChanges ? [realm] : []))
    const sources = plan.sources.map(({ name, revision }) => `${name} at ${revision}`)
    return [plan.id, realms.join(', '), sources.join(', '), describeState(plan)]
  })
  printTable(output, plans, { head: ['Plan', 'Realms', 'Sources', 'State'], rows, none: 'No saved plans.' })
}

function describeState({ state, expires, outdated, approvedBy, created, realms }: SavedPlanView): string {
  const until = formatTime(expires)
  const by = `created by ${created.name}`
  if (state === 'applied') return `applied${approvedBy ? `, approved by ${approvedBy}` : ''}, ${by}`
  if (state === 'expired') return `expired at ${until}, ${by}`
  if (outdated && state !== 'pending')
    return `may be stale, since the realm has changed; ${approvedBy ? `approved by ${approvedBy}, ` : ''}until ${until}, ${by}`
  if (state === 'approved') return `approved by ${approvedBy}, until ${until}, ${by}`
  const reasons = realms.flatMap(({ guards }) => guards.map(({ message }) => message))
  return state === 'ready'
    ? `ready until ${until}, ${by}`
    : `pending approval until ${until}: ${reasons.join('; ')}; ${by}`
}
