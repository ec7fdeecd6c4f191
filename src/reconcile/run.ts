// One run of a source: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { address } from '../kinds/tree.ts'
import type { Document } from '../realm-file/document.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { demand } from '../service/administrators.ts'
import { flush, type JournalEntry, type WriteContext } from '../service/context.ts'
import { ServiceError } from '../service/errors.ts'
import { type Caller, Rollback, type Service } from '../service/service.ts'
import { appliedBy, type Ownership, record } from '../service/sources.ts'
import { ActionError, type Applied, apply } from './apply.ts'
import { type DesiredRealm, desiredRealms } from './desired.ts'
import { observe } from './observe.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import { type Action, type LiveState, type Note, type Owned, type PlanInput, plan, type RealmPlan } from './plan.ts'

/** What a source states at one moment. */
export interface SourceState {
  readonly name: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  readonly documents: readonly Document[]
}

/** The outcome for one realm. */
export interface RealmOutcome {
  readonly plan: RealmPlan
  /** What follows that no document states: journal entries that no action of the plan foresees. */
  readonly consequences: readonly JournalEntry[]
}

/** The outcome of a run: of each realm, and notes about the source. */
export interface Outcome {
  readonly source: string
  readonly revision: string
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
}

/** A plan that was overtaken is made anew so many times. */
const ATTEMPTS = 3

/** What applying the source would do: each plan is executed once and rolled back, which shows its consequences. */
export async function planSource(service: Service, caller: Caller, source: SourceState): Promise<Outcome> {
  return run(service, caller, source, (desired, _input, made) => trial(service, caller, desired, made))
}

/** Applies the source: each realm's plan in one transaction, all or nothing. */
export async function applySource(service: Service, caller: Caller, source: SourceState): Promise<Outcome> {
  return run(service, caller, source, (desired, input, made, digest) =>
    commit(service, caller, source, desired, input, made, digest),
  )
}

type Step = (desired: DesiredRealm, input: PlanInput, made: RealmPlan, digest: string) => Promise<RealmOutcome>

async function run(service: Service, caller: Caller, source: SourceState, step: Step): Promise<Outcome> {
  const applied = await appliedBy(service, source.name)
  const digests = digestsOf(service, source)
  // What was applied had been checked: where nothing is new, the documents are not even taken apart.
  const settled = new Set(
    applied.flatMap(({ realm, digest, marked }) => (!marked && digests.get(realm) === digest ? [realm] : [])),
  )
  const desired = desiredRealms(
    source.documents.filter((one) => !settled.has(realmOf(one))),
    service.vault,
  )
  if (desired.length > 1) await lookAhead(service, caller, source, desired)
  const byName = new Map(desired.map((one) => [one.name, one]))
  const names = [...settled, ...byName.keys()].sort(inOrder)
  const realms: RealmOutcome[] = []
  for (const name of names) {
    const realm = byName.get(name)
    realms.push(realm ? await runRealm(service, caller, source, realm, digests.get(name)!, step) : nothingToDo(name))
  }
  const notes = applied
    .filter(({ realm }) => !names.includes(realm))
    .map(({ realm }) => ({ message: `realm ${realm} is stated no more; it is left as it is` }))
  return { source: source.name, revision: source.revision, realms, notes }
}

/** Realms follow each other by name, master last. */
function inOrder(a: string, b: string): number {
  return Number(a === 'master') - Number(b === 'master') || (a < b ? -1 : 1)
}

/** What is wrong with a later realm must not come out when an earlier one is applied already. */
async function lookAhead(
  service: Service,
  caller: Caller,
  source: SourceState,
  desired: readonly DesiredRealm[],
): Promise<void> {
  const found: Obstacle[] = []
  const coming: LiveState[] = []
  for (const realm of desired) {
    const seen = await service.snapshot(caller, realm.name, (context) => observe(context, source.name, realm))
    const input = realm.name === MASTER ? { ...seen, live: [...seen.live, ...coming] } : seen
    found.push(...obstacles(input, plan(input)))
    if (!input.exists)
      coming.push(...adminClientObjects(realm.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (found.length) throw new DocumentError(byPlace(found, source.documents))
}

async function runRealm(
  service: Service,
  caller: Caller,
  source: SourceState,
  desired: DesiredRealm,
  digest: string,
  step: Step,
): Promise<RealmOutcome> {
  for (let attempt = 1; ; attempt++) {
    const input = await service.snapshot(caller, desired.name, (context) => observe(context, source.name, desired))
    const made = planned(input, source.documents)
    try {
      return await step(desired, input, made, digest)
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'changed') || attempt === ATTEMPTS) throw error
    }
  }
}

function nothingToDo(realm: string): RealmOutcome {
  return { plan: { realm, creates: false, actions: [], notes: [], knows: [] }, consequences: [] }
}

/** By realm, everything that decides what a run does: the documents that state it, and the form of the record. */
function digestsOf(service: Service, source: SourceState): ReadonlyMap<string, string> {
  const digest = (documents: readonly Document[]) =>
    service.vault.digest(
      createHash('sha256')
        .update(JSON.stringify([1, documents.map(({ file, value, start }) => [file, start.line, value])]))
        .digest('hex'),
    )
  return new Map([...Map.groupBy(source.documents, realmOf)].map(([realm, documents]) => [realm, digest(documents)]))
}

/** The name as it stands there; a document without one is refused when it is taken apart. */
function realmOf({ value }: Document): string {
  return String((value as Representation).realm)
}

/** The plan. Throws DocumentError with what stands in its way. */
export function planned(input: PlanInput, documents: readonly Document[]): RealmPlan {
  const made = plan(input)
  const found = obstacles(input, made)
  if (found.length) throw new DocumentError(byPlace(found, documents))
  return made
}

async function trial(service: Service, caller: Caller, desired: DesiredRealm, made: RealmPlan): Promise<RealmOutcome> {
  if (!made.actions.length) return { plan: made, consequences: [] }
  return execute(service, caller, desired, made, async (context) => {
    throw new Rollback({ plan: made, consequences: consequences(made, [...context.entries, ...context.people]) })
  })
}

async function commit(
  service: Service,
  caller: Caller,
  source: SourceState,
  desired: DesiredRealm,
  input: PlanInput,
  made: RealmPlan,
  digest: string,
): Promise<RealmOutcome> {
  return execute(service, caller, desired, made, async (context, applied) => {
    const outcome = { plan: made, consequences: consequences(made, [...context.entries, ...context.people]) }
    const { owned, dropped } = ownership(desired, input, applied)
    // The journal first: it marks what this run itself has changed, and the record clears these marks.
    await flush(context)
    // All live objects that the plan counted on would make the record of one changed field as long as the realm.
    const { knows: _, ...kept } = made
    await record(context, { source: source.name, digest, revision: source.revision, owned, dropped, plan: kept })
    return outcome
  })
}

/** Executes the plan in one transaction and ends it as `finish` says. A failure is found again action by action. */
async function execute(
  service: Service,
  caller: Caller,
  desired: DesiredRealm,
  made: RealmPlan,
  finish: (context: WriteContext, applied: Applied) => Promise<RealmOutcome>,
): Promise<RealmOutcome> {
  const work = (stepwise: boolean) => async (context: WriteContext) => {
    demand(context, 'manage-realm')
    return finish(context, await apply(context, made, desired, stepwise))
  }
  const attempt = (stepwise: boolean) =>
    made.creates
      ? service.create(caller, newRealm(desired, made), work(stepwise))
      : service.write(caller, made.realm, work(stepwise), { master: made.actions.some(({ kind }) => kind === 'realm') })
  try {
    return await attempt(false)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'changed') throw error
    // The set-based execution does not know which of its rows failed: done again one by one, the failure has a name.
    await attempt(true).catch((again: unknown) => {
      const refused = made.creates && again instanceof ServiceError && again.code !== 'forbidden'
      throw refused ? new ActionError(creationOf(desired), again) : again
    })
    throw error
  }
}

/** The creation of a realm, which no action of its plan says. */
function creationOf({ name, objects }: DesiredRealm): Action {
  const { position } = objects.get(address('realm', [name]))!
  return { operation: 'create', kind: 'realm', key: [name], changes: [], position }
}

/** A new realm is made with its settings; what is late of them follows as a change. */
function newRealm(desired: DesiredRealm, made: RealmPlan) {
  const ids = new Map(
    [...desired.objects].flatMap(([id, object]) => (object.id === undefined ? [] : [[id, object.id] as const])),
  )
  return { representation: { realm: made.realm }, id: ids.get(address('realm', [made.realm])), ids }
}

/** Journal entries about objects that no action of the plan is about. */
function consequences(made: RealmPlan, entries: readonly JournalEntry[]): JournalEntry[] {
  const foreseen = new Set(made.actions.map(({ kind, key }) => address(kind, key)))
  return entries.filter(({ kind, key }) => !foreseen.has(address(kind as never, key)))
}

/** The inventory rows that differ from what is kept, and those that are owned no more. */
function ownership(
  desired: DesiredRealm,
  input: PlanInput,
  applied: Applied,
): { owned: Ownership[]; dropped: { kind: string; object: string }[] } {
  const kept = new Map(input.owned.map((row) => [`${row.kind} ${row.object}`, row]))
  const rows = [...desired.objects].map(([id, { kind, key, fields, position }]): Ownership => {
    const values = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
    return {
      kind,
      object: applied.get(id)!.id,
      key,
      fields: values,
      file: position.file,
      line: position.line,
      marked: false,
    }
  })
  const now = new Set(rows.map(({ kind, object }) => `${kind} ${object}`))
  return {
    owned: rows.filter((row) => !isDeepStrictEqual(row, withoutSource(kept.get(`${row.kind} ${row.object}`)))),
    dropped: input.owned.filter(({ kind, object }) => !now.has(`${kind} ${object}`)),
  }
}

function withoutSource(row: (Owned & { source?: string }) | undefined): Owned | undefined {
  if (!row) return undefined
  const { source: _, ...rest } = row
  return rest
}
