// One run of sources: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { holdsText } from '../realm-file/substitute.ts'
import { GENERATED } from '../realm-file/variables.ts'
import { ServiceError } from '../service/errors.ts'
import { generatedSecrets } from '../service/generated-secrets.ts'
import { underCeilings } from '../service/power.ts'
import type { Caller, Service } from '../service/service.ts'
import { appliedBy, type Held } from '../service/sources.ts'
import type { Note } from './action.ts'
import { ActionError } from './apply.ts'
import { inOrder } from './desired.ts'
import { commit, type Planned, planned, type RealmOutcome, trial } from './execute.ts'
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
}

/** A plan that was overtaken is made anew so many times. */
const ATTEMPTS = 3

/** What applying the sources would do: each plan is executed once and rolled back, which shows its consequences. */
export async function planSources(service: Service, caller: Caller, sources: readonly SourceState[]): Promise<Outcome> {
  return run(service, caller, sources, (made) => trial(service, caller, made))
}

/** Applies the sources: each realm's plan in one transaction, all or nothing. */
export async function applySources(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
): Promise<Outcome> {
  try {
    const outcome = await run(service, caller, sources, async (made, parts, held) => {
      // What they state counts again once it says what somebody went back to.
      if (held && made.plan.actions.length) return { ...(await trial(service, caller, made)), held }
      const [source, revision] = [
        parts.map((one) => one.source).join(', '),
        parts.map((one) => one.revision).join(', '),
      ]
      return commit(service, { ...caller, actor: { ...caller.actor, source, revision } }, made, parts)
    })
    const changed = outcome.realms.some(({ plan, held }) => !held && (plan.creates || plan.actions.length > 0))
    service.applies[changed ? 'changed' : 'unchanged']++
    return outcome
  } catch (error) {
    service.applies.failed++
    throw error
  }
}

type Step = (made: Planned, parts: readonly Part[], held: Held | undefined) => Promise<RealmOutcome>

async function run(service: Service, caller: Caller, sources: readonly SourceState[], step: Step): Promise<Outcome> {
  const applied = await appliedBy(
    service,
    sources.map(({ name }) => name),
  )
  refuseBeyond(sources)
  const digests = sources.map((source) => ({ source, digests: digestsOf(service, source) }))
  const stated = new Set(digests.flatMap(({ digests }) => [...digests.keys()]))
  await service.demand(caller, 'administer-realm', [...stated, ...applied.map(({ realm }) => realm)])
  // The inventory binds to the realm itself: it is found also where somebody renamed it.
  const calledNow = new Map(applied.map((one) => [one.stated ?? one.realm, one.realm]))
  const before = Map.groupBy(applied, (one) => one.stated ?? one.realm)
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
  )
  const wanted = statedTogether(service, digests, before, settled, secret)
  const renamed = await renamedRealms(service, caller, sources, wanted)
  const all = wanted.map((one) => ({
    ...one,
    calledNow: calledNow.get(one.desired.name) ?? renamed.get(one.desired.name) ?? one.desired.name,
    held: before.get(one.desired.name)?.find(({ held }) => held)?.held ?? undefined,
  }))
  const coming = all.length > 1 ? await lookAhead(service, caller, sources, all) : []
  const byName = new Map(all.map((one) => [one.desired.name, one]))
  const realms: RealmOutcome[] = []
  for (const name of [...settled, ...byName.keys()].sort(inOrder)) {
    const realm = byName.get(name)
    realms.push(realm ? await runRealm(service, caller, sources, realm, coming, step) : nothingToDo(name))
  }
  const abandoned = [...calledNow]
    .filter(([name]) => !stated.has(name))
    .map(([, realm]) => ({ message: `realm ${realm} is stated no more; it is left as it is` }))
  return {
    sources: sources.map(({ name, revision }) => ({ name, revision })),
    realms,
    notes: [...sources.flatMap(({ notices }) => notices ?? []), ...abandoned],
  }
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
    if (!input.exists)
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
  for (let attempt = 1; ; attempt++) {
    const input = await service.snapshot(caller, calledNow, (context) => observe(context, parts, desired))
    const made = planned(desired, input, documentsIn(sources), desired.name === MASTER ? coming : [])
    try {
      return {
        ...(await step({ ...made, ceiling }, parts, held)),
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
    findings: [],
  }
}
