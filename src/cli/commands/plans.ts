// Saved plans: a list, one of them, and whether it may be applied.
import type { Attribution, Guard } from '../../reconcile/model/action.ts'
import { moment } from '../../reconcile/model/attribution.ts'
import type { Outcome } from '../../reconcile/run/run.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printOutcome, printTable } from '../print.ts'
import { showApplied } from './apply.ts'

type Flags = StoreFlags & { readonly output: Format }

/** A saved plan, as the API shows it. */
interface Plan {
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
  readonly approvedBy?: string
  readonly outcome?: Outcome
}

/** `regent plans`: the saved plans, or all of one. */
export async function plans(id: string | undefined, flags: Flags): Promise<void> {
  const found = await request(flags, 'GET', id === undefined ? '/regent/v1/plans' : addressOf(id))
  if (id === undefined) list(found as readonly Plan[], flags.output)
  else {
    const plan = found as Plan
    printOutcome(flags.output, plan.outcome!, { tense: 'planned', whole: plan })
    if (flags.output === 'text') console.log(`${plan.id}: ${standing(plan)}`)
  }
}

/** `regent approve`: what a run had waited for goes on at once. */
export async function approve(id: string, flags: Flags & { withCredentials?: true }): Promise<void> {
  const body = { withCredentials: flags.withCredentials === true }
  const answer = (await request(flags, 'POST', `${addressOf(id)}/approve`, { body })) as { outcome?: Outcome }
  if (answer.outcome) showApplied(answer.outcome, flags)
  else if (flags.output === 'json') console.log(JSON.stringify(answer, null, 2))
  else console.log(`Approved. Apply it with "regent apply --plan ${id}".`)
}

/** `regent reject`: the plan is forgotten. */
export async function reject(id: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', addressOf(id))
  console.log(`The plan ${id} is forgotten. Who applies the same again is asked again.`)
}

const addressOf = (id: string) => `/regent/v1/plans/${encodeURIComponent(id)}`

function list(found: readonly Plan[], output: Format): void {
  const rows = found.map((plan) => {
    const realms = plan.realms.flatMap(({ realm, hasChanges }) => (hasChanges ? [realm] : []))
    const sources = plan.sources.map(({ name, revision }) => `${name} at ${revision}`)
    return [plan.id, realms.join(', '), sources.join(', '), standing(plan)]
  })
  printTable(output, found, { head: ['Plan', 'Realms', 'Of', 'State'], rows, none: 'No plan is saved.' })
}

function standing({ state, expires, approvedBy, created, realms }: Plan): string {
  const until = moment(expires)
  const by = `made by ${created.name}`
  if (state === 'applied') return `applied${approvedBy ? `, approved by ${approvedBy}` : ''}, ${by}`
  if (state === 'expired') return `over since ${until}, ${by}`
  if (state === 'approved') return `approved by ${approvedBy}, until ${until}, ${by}`
  const why = realms.flatMap(({ guards }) => guards.map(({ message }) => message))
  return state === 'ready' ? `ready until ${until}, ${by}` : `pending approval until ${until}: ${why.join('; ')}; ${by}`
}
