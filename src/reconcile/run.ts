// One run of sources: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { dropPlans } from '../service/plans.ts'
import type { Caller, Service } from '../service/service.ts'
import type { WaitingPlan } from '../service/sources.ts'
import type { Guarded, Note } from './action.ts'
import { agendaOf } from './agenda.ts'
import { inOrder } from './desired.ts'
import { commit, type Planned, type RealmOutcome, trial } from './execute.ts'
import { approvedAs, keepWaiting, type Saved } from './keeping.ts'
import { nothingToDo, type Step, takeTurn } from './turn.ts'
import type { SourceState } from './wanted.ts'

/** The outcome of a run: of each realm, and notes about the sources. */
export interface Outcome {
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
  /** The plan as it was saved, where that was asked for. */
  readonly saved?: Saved
}

/** What applying the sources would do, in all realms or only these: each plan is executed once and rolled back, which shows its consequences. */
export async function planSources(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only?: ReadonlySet<string>,
): Promise<Outcome> {
  return (await run(service, caller, sources, only, ({ made }) => trial(service, caller, made))).outcome
}

/** A plan, and what came of trying it. */
export interface Tried {
  readonly made: Planned
  readonly outcome: RealmOutcome
}

/** The plans that applying the sources would carry out in these realms, each tried and rolled back. */
export async function plansOf(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only: ReadonlySet<string>,
): Promise<Tried[]> {
  const found: Tried[] = []
  await run(service, caller, sources, only, async ({ made }) => {
    const outcome = await trial(service, caller, made)
    found.push({ made, outcome })
    return outcome
  })
  return found
}

/** What an apply is limited to: these realms, by the names under which they are stated, and exactly what a kept plan does there. */
export interface Limits {
  readonly only: ReadonlySet<string>
  readonly exactly?: { readonly plan: string; readonly demand: (made: Planned) => Promise<void> } | undefined
}

/**
 * Applies the sources: each realm's plan in one transaction, all or nothing. What waits for an approval is kept, and left as it
 * is; other realms go on.
 */
export async function applySources(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  { only, exactly }: Partial<Limits> = {},
): Promise<Outcome> {
  let last: Guarded | undefined
  try {
    const { outcome, waiting } = await run(service, caller, sources, only, async ({ made, parts, held, replan }) => {
      await exactly?.demand(made)
      // What they state counts again once it says what somebody went back to.
      if (held && made.plan.actions.length) return { ...(await trial(service, caller, made)), held }
      const found = await approvedAs(service, caller, made, exactly?.plan)
      const [waits, approved] = found && 'waits' in found ? [found.waits] : [undefined, found]
      // What a realm needs that waits, waits with it.
      if (waits || (made.waits && last)) {
        const tried = await trial(service, caller, made)
        last = waits ? await keepWaiting(service, caller, sources, tried) : { ...last!, guards: [] }
        return { ...tried, plan: { ...tried.plan, notes: [...tried.plan.notes, ...(waits ?? [])] }, guarded: last }
      }
      const permit = approved ?? exactly
      const actor = {
        ...caller.actor,
        source: parts.map((one) => one.source).join(', '),
        revision: parts.map((one) => one.revision).join(', '),
        ...(permit && { plan: permit.plan }),
        ...(approved && { approvedBy: approved.approved.by }),
      }
      const whole = approved?.people ? replan(approved.people) : made
      return commit(service, { ...caller, actor }, whole, parts, permit)
    })
    const changed = outcome.realms.some(
      ({ plan, held, guarded }) => !held && !guarded && (plan.creates || plan.actions.length > 0),
    )
    service.applies[changed ? 'changed' : 'unchanged']++
    // What waited is stated otherwise by now, or done.
    const stale = waiting.filter(({ plan }) => !outcome.realms.some(({ guarded }) => guarded?.plan === plan))
    if (stale.length)
      await dropPlans(
        service,
        stale.map(({ plan }) => plan),
      )
    return outcome
  } catch (error) {
    service.applies.failed++
    throw error
  }
}

async function run(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only: ReadonlySet<string> | undefined,
  step: Step,
): Promise<{ outcome: Outcome; waiting: readonly WaitingPlan[] }> {
  const { open, settled, coming, notes, waiting } = await agendaOf(service, caller, sources, only)
  const byName = new Map(open.map((one) => [one.desired.name, one]))
  const realms: RealmOutcome[] = []
  for (const name of [...settled, ...byName.keys()].sort(inOrder)) {
    const realm = byName.get(name)
    realms.push(realm ? await takeTurn(service, caller, sources, realm, coming, step) : nothingToDo(name))
  }
  return {
    outcome: {
      sources: sources.map(({ name, revision }) => ({ name, revision })),
      realms,
      notes: [...sources.flatMap(({ notices }) => notices ?? []), ...notes],
    },
    waiting,
  }
}
