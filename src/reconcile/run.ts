// One run of sources: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { holdsText } from '../realm-file/substitute.ts'
import { GENERATED } from '../realm-file/variables.ts'
import { ServiceError } from '../service/errors.ts'
import { generatedSecrets } from '../service/generated-secrets.ts'
import { dropPlans } from '../service/plans.ts'
import { underCeilings } from '../service/power.ts'
import type { Caller, Service } from '../service/service.ts'
import { appliedBy, type Held, type WaitingPlan } from '../service/sources.ts'
import type { Guarded, Note } from './action.ts'
import { ActionError } from './apply.ts'
import { inOrder } from './desired.ts'
import { commit, type Planned, planned, type RealmOutcome, trial } from './execute.ts'
import { guardsOf } from './guarding.ts'
import { approvedAs, keepWaiting, type Saved } from './keeping.ts'
import { lint } from './lint/index.ts'
import { observe } from './observe.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import type { Part } from './parts.ts'
import { plan } from './plan.ts'
import type { LiveState } from './plan-input.ts'
import { withRenames } from './renames.ts'
import {
  digestsOf,
  documentsIn,
  realmOf,
  refuseBeyond,
  renamedRealms,
  type SourceState,
  statedTogether,
  type Wanted,
} from './wanted.ts'

/** The outcome of a run: of each realm, and notes about the sources. */
export interface Outcome {
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
  /** The plan as it was saved, where that was asked for. */
  readonly saved?: Saved
}

/** A plan that was overtaken is made anew so many times. */
const ATTEMPTS = 3

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
      const approved = await approvedAs(service, made)
      // What a realm needs that waits, waits with it.
      if (approved === 'waits' || (made.waits && last)) {
        const tried = await trial(service, caller, made)
        last = approved === 'waits' ? await keepWaiting(service, caller, sources, tried) : { ...last!, guards: [] }
        return { ...tried, guarded: last }
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

/** A realm whose turn it is. */
interface Turn {
  readonly made: Planned
  readonly parts: readonly Part[]
  readonly held: Held | undefined
  /** The plan with the credentials of people who were there before. */
  readonly replan: (credentialsOf: ReadonlySet<string>) => Planned
}

type Step = (turn: Turn) => Promise<RealmOutcome>

async function run(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only: ReadonlySet<string> | undefined,
  step: Step,
): Promise<{ outcome: Outcome; waiting: readonly WaitingPlan[] }> {
  const found = await appliedBy(
    service,
    sources.map(({ name }) => name),
  )
  const isMeant = (realm: string) => !only || only.has(realm)
  const applied = found.applied.filter((one) => isMeant(one.stated ?? one.realm))
  refuseBeyond(sources)
  const all = sources.map((source) => ({ source, digests: digestsOf(service, source) }))
  const digests = all.map(({ source, digests }) => ({
    source,
    digests: new Map([...digests].filter(([realm]) => isMeant(realm))),
  }))
  const stated = new Set(digests.flatMap(({ digests }) => [...digests.keys()]))
  // The inventory binds to the realm itself: it is found also where somebody renamed it.
  const calledNow = new Map(applied.map((one) => [one.stated ?? one.realm, one.realm]))
  const before = Map.groupBy(applied, (one) => one.stated ?? one.realm)
  // A run drops what its sources left waiting, so it is about those realms, too.
  const waiting = found.waiting.filter(({ realm }) => isMeant(realm))
  const others = waiting.flatMap(({ realm }) => (before.has(realm) ? [] : realm))
  await service.demand(caller, 'administer-realm', [...stated, ...applied.map(({ realm }) => realm), ...others])
  // What was applied had been checked: where nothing is new, the documents are not even taken apart.
  const isSettled = (realm: string) => {
    const known = new Map(before.get(realm)?.map((one) => [one.source, one]))
    return digests.every(({ source, digests }) => {
      const one = known.get(source.name)
      return one ? !one.marked && one.digest === digests.get(realm) : !digests.has(realm)
    })
  }
  const settled = new Set([...stated].filter(isSettled))
  const naming = sources.filter(({ documents }) =>
    documents.some((one) => !settled.has(realmOf(one)) && holdsText(one.value, GENERATED)),
  )
  const secret = await generatedSecrets(
    service,
    naming.map(({ name }) => name),
    calledNow,
  )
  const gone = [...before.keys()].filter((realm) => !stated.has(realm))
  const left = new Set(gone.filter((realm) => staysAsItIs(realm, before.get(realm)!, sources)))
  const wanted = statedTogether(
    service,
    digests,
    before,
    settled,
    secret,
    gone.filter((realm) => !left.has(realm)),
  )
  const renamed = await renamedRealms(service, caller, sources, wanted)
  const realmsToDo = wanted.map((one) => ({
    ...one,
    calledNow: calledNow.get(one.desired.name) ?? renamed.get(one.desired.name) ?? one.desired.name,
    held: before.get(one.desired.name)?.find(({ held }) => held)?.held ?? undefined,
  }))
  const coming = realmsToDo.length > 1 ? await lookAhead(service, caller, sources, realmsToDo) : []
  const byName = new Map(realmsToDo.map((one) => [one.desired.name, one]))
  const realms: RealmOutcome[] = []
  for (const name of [...settled, ...byName.keys()].sort(inOrder)) {
    const realm = byName.get(name)
    realms.push(realm ? await runRealm(service, caller, sources, realm, coming, step) : nothingToDo(name))
  }
  const notes = [...left].map((realm) => ({
    message: `realm ${calledNow.get(realm)!} is stated no more; it is left as it is`,
  }))
  return {
    outcome: {
      sources: sources.map(({ name, revision }) => ({ name, revision })),
      realms,
      notes: [...sources.flatMap(({ notices }) => notices ?? []), ...notes],
    },
    waiting,
  }
}

/** Whether a realm stays that the sources state no more: one of them deletes nothing, or may not touch it. */
function staysAsItIs(
  realm: string,
  before: readonly { readonly source: string }[],
  sources: readonly SourceState[],
): boolean {
  const own = new Set(before.map(({ source }) => source))
  return sources.some(
    ({ name, settings, ceiling }) =>
      own.has(name) && (settings?.prune === 'none' || ceiling?.realms?.includes(realm) === false),
  )
}

/**
 * What is wrong with a later realm must not come out when an earlier one is applied already. Gives what the new realms
 * bring into master.
 */
async function lookAhead(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  all: readonly Wanted[],
): Promise<LiveState[]> {
  const found: Obstacle[] = []
  const coming: LiveState[] = []
  for (const { desired: realm, parts, calledNow } of all) {
    const seen = await service.snapshot(caller, calledNow, (context) => observe(context, parts, realm))
    const input = realm.name === MASTER ? { ...seen, live: [...seen.live, ...coming] } : seen
    const renamed = withRenames(input).input
    found.push(...obstacles(renamed, plan(renamed)))
    if (!input.exists && realm.objects.size)
      coming.push(...adminClientObjects(realm.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (found.length) throw new DocumentError(byPlace(found, documentsIn(sources)))
  return coming
}

async function runRealm(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  { desired, parts, calledNow, held }: Wanted,
  coming: readonly LiveState[],
  step: Step,
): Promise<RealmOutcome> {
  const ceiling = underCeilings(
    calledNow,
    sources.map(({ ceiling = {} }) => ceiling),
  )
  const before = desired.name === MASTER ? coming : []
  for (let attempt = 1; ; attempt++) {
    const seen = await service.snapshot(caller, calledNow, async (context) => {
      const input = await observe(context, parts, desired)
      const made = planned(desired, input, documentsIn(sources), before)
      return { input, made, guards: context && (await guardsOf(context, made.plan, made.input, parts)) }
    })
    // Whoever was faster took away what was to go.
    if (!seen.input.exists && !desired.objects.size) return nothingToDo(desired.name)
    const guards = seen.guards ?? (await guardsOf(service, seen.made.plan, seen.made.input, parts))
    const replan = (credentialsOf: ReadonlySet<string>) => ({
      ...planned(desired, { ...seen.input, credentialsOf }, documentsIn(sources), before),
      guards,
      ceiling,
    })
    try {
      return {
        ...(await step({ made: { ...seen.made, guards, ceiling }, parts, held, replan })),
        findings: lint(desired.name, [...desired.objects.values()]),
      }
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/** Whether somebody was faster: something that the plan knows has changed, or a name that it wanted was taken. */
function isOvertaken(error: unknown): boolean {
  const cause = error instanceof ActionError ? error.cause : error
  return cause instanceof ServiceError && ['changed', 'conflict', 'duplicate'].includes(cause.code)
}

function nothingToDo(realm: string): RealmOutcome {
  return {
    plan: { realm, creates: false, actions: [], leftAlone: [], notes: [], knows: [] },
    consequences: [],
    effects: [],
    findings: [],
  }
}
