// One run of sources: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { createHash } from 'node:crypto'
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import { address } from '../kinds/tree.ts'
import { version } from '../lib/version.ts'
import type { Document } from '../realm-file/document.ts'
import type { UnknownFields } from '../realm-file/parse.ts'
import { byPlace, collect, DocumentError, type Problem } from '../realm-file/problem.ts'
import { ServiceError } from '../service/errors.ts'
import { type Ceiling, underCeilings } from '../service/power.ts'
import type { Caller, Service } from '../service/service.ts'
import { type AppliedSource, appliedBy, type Held } from '../service/sources.ts'
import type { Note } from './action.ts'
import { ActionError } from './apply.ts'
import { type DesiredRealm, desiredRealms, inOrder } from './desired.ts'
import { commit, type Planned, planned, type RealmOutcome, trial } from './execute.ts'
import { observe } from './observe.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import { nothingStated, type Part, together } from './parts.ts'
import { plan } from './plan.ts'
import type { LiveState } from './plan-input.ts'
import { withRenames } from './renames.ts'

/** What a source states at one moment. */
export interface SourceState {
  readonly name: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  /** In the form of a realm. */
  readonly documents: readonly Document[]
  /** What was left out when it was read. */
  readonly notices?: readonly Note[]
  /** What becomes of fields that Regent does not know; absent: an error. */
  readonly unknownFields?: UnknownFields | undefined
  /** What it may touch, and give at most, besides what the caller may. */
  readonly ceiling?: Ceiling | undefined
}

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
  const wanted = statedTogether(service, digests, before, settled)
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

/** A realm that is stated, what each source states of it, and the name by which it is found. */
interface Wanted {
  readonly desired: DesiredRealm
  readonly parts: readonly Part[]
  readonly calledNow: string
  /** Somebody went back to an earlier revision of it. */
  readonly held: Held | undefined
}

type Digests = readonly { readonly source: SourceState; readonly digests: ReadonlyMap<string, string> }[]

/** What the sources state together of each realm that is not settled. Throws DocumentError with everything that is wrong. */
function statedTogether(
  service: Service,
  sources: Digests,
  before: ReadonlyMap<string, readonly AppliedSource[]>,
  settled: ReadonlySet<string>,
): Omit<Wanted, 'calledNow' | 'held'>[] {
  const problems: Problem[] = []
  const open = sources.flatMap(({ source, digests }) => {
    const documents = source.documents.filter((one) => !settled.has(realmOf(one)))
    const desired = collect(problems, () => desiredRealms(documents, service.vault, source.unknownFields)).flat()
    return desired.map((one): [string, Part] => [one.name, partOf(source, one, digests.get(one.name)!)])
  })
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources.map(({ source }) => source))))
  const wanted = [...Map.groupBy(open, ([name]) => name)].map(([name, own]) => {
    const stating = own.map(([, part]) => part)
    const ended = sources.filter(
      ({ source, digests }) =>
        !digests.has(name) && before.get(name)?.some((one) => one.source === source.name) === true,
    )
    const parts = [...stating, ...ended.map(({ source }) => partOf(source, nothingStated(name), ''))]
    return { parts, desired: together(name, parts, problems) }
  })
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources.map(({ source }) => source))))
  return wanted.sort((a, b) => inOrder(a.desired.name, b.desired.name))
}

/** Realms that are stated with the name that they had, and have it still: who renames one must be let into it. Two statements, or none. */
async function renamedRealms(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  all: readonly Pick<Wanted, 'desired'>[],
): Promise<ReadonlyMap<string, string>> {
  const former = all.flatMap(({ desired: { name, objects } }) => {
    const renamedFrom = objects.get(address('realm', [name]))?.renamedFrom
    return renamedFrom === undefined ? [] : [[name, renamedFrom] as const]
  })
  if (!former.length) return new Map()
  await service.demand(
    caller,
    'administer-realm',
    former.map(([, name]) => name),
  )
  for (const [name, renamedFrom] of former) {
    const beyond = sources.find(({ ceiling: { realms } = {} }) => realms && !realms.includes(renamedFrom))
    if (!beyond) continue
    const { position } = all
      .find(({ desired }) => desired.name === name)!
      .desired.objects.get(address('realm', [name]))!.origin
    throw new DocumentError([{ position, message: beyondLimit(beyond, renamedFrom) }])
  }
  const there = new Set((await service.realms()).map(({ name }) => name))
  return new Map(former.filter(([name, renamedFrom]) => !there.has(name) && there.has(renamedFrom)))
}

function partOf({ name, revision }: SourceState, desired: DesiredRealm, digest: string): Part {
  return { source: name, revision, digest, desired }
}

function documentsIn(sources: readonly SourceState[]): Document[] {
  return sources.flatMap(({ documents }) => documents)
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
      return await step({ ...made, ceiling }, parts, held)
    } catch (error) {
      if (!isOvertaken(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/** Throws DocumentError where a source states a realm that it may not touch. */
function refuseBeyond(sources: readonly SourceState[]): void {
  const beyond = sources.flatMap((source) =>
    source.documents
      .filter((one) => source.ceiling?.realms && !source.ceiling.realms.includes(realmOf(one)))
      .map((one) => ({
        position: one.start,
        message: beyondLimit(source, realmOf(one)),
      })),
  )
  if (beyond.length) throw new DocumentError(beyond)
}

function beyondLimit({ name, ceiling }: SourceState, realm: string): string {
  return `the source ${name} may not touch the realm ${realm}: its limit is ${ceiling!.realms!.join(', ') || 'none'}`
}

/** Whether somebody was faster: something that the plan knows has changed, or a name that it wanted was taken. */
function isOvertaken(error: unknown): boolean {
  const cause = error instanceof ActionError ? error.cause : error
  return cause instanceof ServiceError && ['changed', 'conflict', 'duplicate'].includes(cause.code)
}

function nothingToDo(realm: string): RealmOutcome {
  return { plan: { realm, creates: false, actions: [], leftAlone: [], notes: [], knows: [] }, consequences: [] }
}

/** By realm, everything that decides what a run does: the documents that state it, the source's settings, and Regent's version. */
function digestsOf(service: Service, source: SourceState): ReadonlyMap<string, string> {
  const digest = (documents: readonly Document[]) =>
    service.vault.digest(
      createHash('sha256')
        .update(JSON.stringify([version, source.unknownFields, documents.map(digestOf), source.ceiling]))
        .digest('hex'),
    )
  return new Map([...Map.groupBy(source.documents, realmOf)].map(([realm, documents]) => [realm, digest(documents)]))
}

function digestOf({ file, start, digest, states }: Document): unknown[] {
  return [file, start.line, digest, states]
}

/** The name as it stands there; a document without one is refused when it is taken apart. */
function realmOf({ head }: Document): string {
  return String(head.realm)
}
