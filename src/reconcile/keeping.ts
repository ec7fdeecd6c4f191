// Plans that are kept: what their sources stated is sealed with them, so that they can be carried out by their id.
import { describe } from '../kinds/tree.ts'
import { approvalOf, keepPlan, type PlanOfRealm, takeBack, type WholePlan } from '../service/plans.ts'
import type { Caller, Service } from '../service/service.ts'
import type { Guarded, Note } from './action.ts'
import { type Permit, type Planned, type RealmOutcome, trial } from './execute.ts'
import { deletionsMoved } from './moved.ts'
import { digestOfPlan, digestOfRealm } from './plan-digest.ts'
import { type SourceText, unpackSource } from './sources/text.ts'
import type { SourceState } from './wanted.ts'

/** A plan that was kept. */
export interface Saved {
  readonly id: string
  /** Of what it does. */
  readonly digest: string
  /** Until when it can be approved and applied. */
  readonly expires: string
}

/** What is kept: an outcome of a plan, as far as there is something to it. */
interface Shown {
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
}

/** Keeps what was planned, for whoever applies it by its id. `runs`: its sources would have applied it. */
export async function keep(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  shown: Shown,
  runs = false,
): Promise<Saved> {
  const { vault } = service
  const realms = shown.realms.map(({ plan, guards = [], consequences, held: _, ...rest }) => ({
    // Who applies it looks at what is live then: what the plan knew is known anew.
    ...{ plan: { ...plan, knows: [] }, consequences, ...(guards.length && { guards }), ...rest },
  }))
  const saved = await keepPlan(service, caller, {
    digest: digestOfPlan(realms),
    sources: shown.sources,
    shown: JSON.stringify({ ...shown, realms }),
    kept: vault.seal(JSON.stringify(sources.map(packed))),
    runs,
    realms: realms.map((one): PlanOfRealm => {
      const { plan, guards = [] } = one
      const acts = plan.creates || plan.actions.length > 0 || guards.length > 0
      return { name: plan.realm, digest: digestOfRealm(one), acts, guards }
    }),
  })
  return { ...saved, expires: saved.expires.toISOString() }
}

/** Keeps what a run does not apply to a realm, since it waits for an approval. */
export async function keepWaiting(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  realm: RealmOutcome,
): Promise<Guarded> {
  const shown = { sources: sources.map(({ name, revision }) => ({ name, revision })), realms: [realm], notes: [] }
  const { id, expires } = await keep(service, caller, sources, shown, true)
  return { plan: id, guards: realm.guards ?? [], expires }
}

/** A permit by an approval, with the people who get the credentials that are stated. */
export type ApprovedPermit = Required<Permit> & { readonly people: ReadonlySet<string> | undefined }

/** It needs an approval, and has none, or none any more: why. */
export interface Waits {
  readonly waits: readonly Note[]
}

/**
 * The approval of a plan; undefined, where it needs none. What was approved is void once what the plan deletes is not what it was.
 * `exactly`: the approval of that kept plan only. No statement, or one and a trial.
 */
export async function approvedAs(
  service: Service,
  caller: Caller,
  made: Planned,
  exactly?: string,
): Promise<ApprovedPermit | Waits | undefined> {
  if (!made.guards.length) return undefined
  const { realm } = made.plan
  const found = await approvalOf(service, realm, digestOfRealm(made), exactly)
  if (!found) return { waits: [] }
  const { plan, by, at, withCredentials, shown } = found
  const then = (shown as Shown).realms.find((one) => one.plan.realm === realm)!
  const { consequences } = await trial(service, caller, made)
  const moved = deletionsMoved(realm, { ...then.plan, ...then }, { ...made.plan, consequences })
  if (moved.length) {
    await takeBack(service, plan)
    const names = moved.map(({ kind, key }) => describe(kind, key)).join(', ')
    return { waits: [{ message: `what ${by} has approved is void: what is deleted has changed since (${names})` }] }
  }
  const people = made.guards.flatMap(({ guard, about }) => (guard === 'adoption' ? about : []))
  return {
    plan,
    approved: { plan, by, at: at.toISOString() },
    people: withCredentials ? new Set(people) : undefined,
  }
}

/** What the sources of a kept plan stated. */
export function statedBy({ vault }: Service, kept: string): SourceState[] {
  const texts = JSON.parse(vault.open(kept)) as ReturnType<typeof packed>[]
  return texts.map(({ ceiling, unstated, ...text }) => ({ ...unpackSource(text), ceiling, unstated }))
}

function packed({ name, revision, unknownFields, settings, files, ceiling, unstated }: SourceState) {
  const text: SourceText = { name, revision, unknownFields, settings, files }
  return { ...text, ceiling, unstated }
}

/** The realms of a kept plan, by the names under which they are stated. */
export function realmsOf({ realms }: Pick<WholePlan, 'realms'>): ReadonlySet<string> {
  return new Set(realms.map(({ name }) => name))
}
