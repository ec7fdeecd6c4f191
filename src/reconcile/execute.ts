// A plan in a transaction: tried and rolled back, or committed with its record.
import { address } from '../kinds/tree.ts'
import type { Document } from '../realm-file/document.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { noteChanges, type ObjectChange } from '../service/admin-events.ts'
import { demand } from '../service/administrators.ts'
import { flush, type JournalEntry, type WriteContext } from '../service/context.ts'
import { failure, isOfAll, ServiceError } from '../service/errors.ts'
import { ownedByOthers } from '../service/guarded.ts'
import { demandAdministrator } from '../service/last-administrator.ts'
import { hashPassword } from '../service/passwords.ts'
import { take } from '../service/plans.ts'
import { everything, type Power, within } from '../service/power.ts'
import { type Caller, Rollback, type Service } from '../service/service.ts'
import { type Held, type KeptPlan, record } from '../service/sources.ts'
import { type Action, type Approved, asPlain, type Guard, type Guarded, type RealmPlan } from './action.ts'
import { ActionError, type Applied, apply, eventsAreKept, type Statement } from './apply.ts'
import { noHash, withCredentials } from './credentials.ts'
import type { DesiredRealm } from './desired.ts'
import { effectsOfPlan, type PlanEffect } from './effects.ts'
import { guardsOf } from './guarding.ts'
import { endsRealm } from './guards.ts'
import { ownership } from './inventory.ts'
import type { Finding } from './lint/index.ts'
import type { Observed } from './observe.ts'
import { obstacles } from './obstacles.ts'
import type { Part } from './parts.ts'
import { plan } from './plan.ts'
import type { LiveState } from './plan-input.ts'
import { withRenames } from './renames.ts'

/** The outcome for one realm. */
export interface RealmOutcome {
  readonly plan: RealmPlan
  /** What follows that no document states: journal entries that no action of the plan foresees. */
  readonly consequences: readonly JournalEntry[]
  /** What people lose by it, which no journal says. */
  readonly effects: readonly PlanEffect[]
  /** What is stated and works, and the field advises against. Absent: nobody looked. */
  readonly findings?: readonly Finding[]
  /** Somebody went back to an earlier revision: this was planned, and not applied. */
  readonly held?: Held
  /** Why an apply of the plan waits for an approval. */
  readonly guards?: readonly Guard[]
  /** It waits for one: this was planned, and not applied. */
  readonly guarded?: Guarded
  /** The approval with which it was applied. */
  readonly approved?: Approved
}

/** A realm's plan, and what it was made of. */
export interface Planned {
  /** What the sources state together. */
  readonly desired: DesiredRealm
  readonly input: Observed
  readonly plan: RealmPlan
  /** It needs what an earlier realm of the same source brings first. */
  readonly waits: boolean
  /** Why it waits for an approval. */
  readonly guards: readonly Guard[]
  /** The power that it gives at most, besides what its caller may; absent: all. */
  readonly ceiling?: Power
}

/** What lets a plan be carried out that was kept. */
export interface Permit {
  /** Id of the kept plan. */
  readonly plan: string
  readonly approved?: Approved
}

/**
 * A plan of what was observed; `coming`: what earlier realms of the same run bring, and have brought when it is
 * applied. Throws DocumentError with what stands in its way.
 */
export function planned(
  desired: DesiredRealm,
  observed: Observed,
  documents: readonly Document[],
  coming: readonly LiveState[] = [],
): Omit<Planned, 'guards'> {
  const { input, notes } = withRenames(observed)
  const made = withNotes(plan(input), notes)
  const found = obstacles(input, made)
  if (!found.length) return { desired, input, plan: made, waits: false }
  if (!coming.length) throw new DocumentError(byPlace(found, documents))
  const later = planned(desired, { ...observed, live: [...observed.live, ...coming] }, documents)
  return { ...later, waits: true }
}

/** Of most plans there is nothing more to say. */
const withNotes = (made: RealmPlan, more: RealmPlan['notes']): RealmPlan =>
  more.length ? { ...made, notes: [...made.notes, ...more] } : made

const WAITS = {
  message: 'what follows from this is not shown: it needs what another realm of this run brings first',
}

/** Executes the plan once and rolls back, which shows its consequences. Nothing is kept. */
export async function trial(service: Service, caller: Caller, whole: Planned): Promise<RealmOutcome> {
  const { desired, plan: made, waits } = whole
  const guards = whole.guards.length ? { guards: whole.guards } : {}
  const nothing = { consequences: [], effects: [], ...guards }
  if (waits) return { plan: { ...made, notes: [...made.notes, WAITS] }, ...nothing }
  if (!made.actions.length) return { plan: made, ...nothing }
  const statement = await withCredentials(service, desired, made, noHash)
  return execute(service, caller, whole, statement, async (context, _applied, effects) => {
    throw new Rollback({ ...outcomeOf(context, made, effects), ...guards })
  })
}

/**
 * Executes the plan and keeps it, with the record of what each source owns now. `permit`: the kept plan that this is, which is
 * noted as applied. Throws changed where there are other guards than when it was planned, or the permit is none any more.
 */
export async function commit(
  service: Service,
  caller: Caller,
  whole: Planned,
  parts: readonly Part[],
  permit?: Permit,
): Promise<RealmOutcome> {
  const { desired, input, plan: made } = whole
  const hash: typeof hashPassword = (password, wanted) => hashPassword(password, wanted, caller.deadline)
  const statement = await withCredentials(service, desired, made, hash)
  const approved = permit?.approved && { approved: permit.approved }
  return execute(service, caller, whole, statement, async (context, applied, effects) => {
    const outcome = { ...outcomeOf(context, made, effects), ...approved }
    const ends = endsRealm(made)
    if (!ends && eventsAreKept(context, made, applied)) noteChanges(context, changesOf(made, applied))
    await flush(
      context,
      parts.map(({ source }) => source),
    )
    refuseOthers(whole.guards, await guardsOf(context, made, input, parts))
    if (permit) await take(context, permit.plan, made.realm)
    // What belongs to a realm goes with it, records too.
    if (ends) return outcome
    await record(
      context,
      parts.map((part) => ({
        source: part.source,
        revision: part.revision,
        digest: part.digest,
        settings: part.settings,
        stated: part.desired.name,
        generated: [...part.desired.generated],
        ...ownership(part, input, made.leftAlone, applied),
        marked: input.marked.get(part.source) ?? 0,
        ends: !part.desired.objects.size && !input.others.some(({ source }) => source === part.source),
      })),
      { ...keptOf(made), ...approved },
    )
    return outcome
  })
}

/** Another source may have come to a realm since its end was planned. */
async function refuseShared(context: WriteContext, sources: readonly string[]): Promise<void> {
  if (await ownedByOthers(context, sources))
    throw failure('changed', `another source states something of the realm ${context.realm.name} by now`)
}

/** What waits for an approval, and was not found when it was planned, waits now. */
function refuseOthers(known: readonly Guard[], now: readonly Guard[]): void {
  const isKnown = (one: Guard) => known.some(({ guard, revision }) => guard === one.guard && revision === one.revision)
  const more = now.find((one) => !isKnown(one))
  if (more) throw failure('changed', `this ${more.message}, which waits for an approval`)
}

/** What the context has done by the plan so far. */
export function outcomeOf(context: WriteContext, plan: RealmPlan, effects: readonly PlanEffect[]): RealmOutcome {
  return { plan, consequences: consequences(plan, [...context.entries, ...context.people]), effects }
}

/** Executes the plan in one transaction and ends it as `finish` says. A failure is found again action by action. */
async function execute(
  service: Service,
  caller: Caller,
  { desired, input, plan: made, ceiling = everything }: Planned,
  statement: Statement,
  finish: (context: WriteContext, applied: Applied, effects: readonly PlanEffect[]) => Promise<RealmOutcome>,
): Promise<RealmOutcome> {
  const work = (stepwise: boolean) => async (context: WriteContext) => {
    demand(context, 'administer-realm')
    if (endsRealm(made)) await refuseShared(context, [...input.marked.keys()])
    const effects = await effectsOfPlan(context, made)
    const applied = await apply(
      { ...context, ofSources: true, power: within(context.power, ceiling) },
      made,
      statement,
      stepwise,
    )
    // Found out or not: what failed once is never kept by the search for its name.
    if (stepwise) throw new Rollback(undefined)
    await demandAdministrator(context)
    return finish(context, applied, effects)
  }
  const attempt = (stepwise: boolean) =>
    made.creates
      ? service.create(caller, newRealm(desired, made), work(stepwise))
      : service.write(caller, made.calledNow ?? made.realm, work(stepwise), {
          master: made.actions.some(({ kind }) => kind === 'realm'),
        })
  try {
    return await attempt(false)
  } catch (error) {
    if (isOfAll(error)) throw error
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
  const { position } = objects.get(address('realm', [name]))!.origin
  return { operation: 'create', kind: 'realm', key: [name], changes: [], position }
}

/** A new realm is made with its settings; what is late of them follows as a change. */
function newRealm(desired: DesiredRealm, made: RealmPlan) {
  const ids = new Map(
    [...desired.objects].flatMap(([id, object]) => (object.id === undefined ? [] : [[id, object.id] as const])),
  )
  return { representation: { realm: made.realm }, id: ids.get(address('realm', [made.realm])), ids }
}

/**
 * What history keeps of a plan. All live objects that the plan counted on would make the record of one changed field as
 * long as the realm; and where each field of a new object stands, the plan shows.
 */
function keptOf({ knows: _, actions, ...kept }: RealmPlan): KeptPlan {
  return { ...kept, actions: withoutPlaces(actions) }
}

function* withoutPlaces(actions: readonly Action[]): Generator<Action> {
  for (const action of actions) yield action.operation === 'create' ? withoutPlacesIn(action) : action
}

function withoutPlacesIn(action: Action): Action {
  const changes = action.changes.map(({ path, from, to, add, why }) =>
    add ? { path, add, why } : { path, from: from!, to: to!, why },
  )
  return asPlain(action, changes)
}

/** What the plan's actions did, for admin events. */
export function changesOf(made: RealmPlan, applied: Applied): ObjectChange[] {
  return made.actions.map(({ operation, kind, key }) => ({ operation, object: applied.get(address(kind, key))! }))
}

/** Journal entries about objects that no action of the plan is about: by what they are called, or by their ids. */
function consequences(made: RealmPlan, entries: readonly JournalEntry[]): JournalEntry[] {
  const foreseen = new Set(made.actions.map(({ kind, key }) => address(kind, key)))
  if (made.creates) foreseen.add(address('realm', [made.realm]))
  const known = new Set(made.actions.flatMap(({ kind, id }) => (id === undefined ? [] : [`${kind} ${id}`])))
  return entries.filter(
    ({ kind, key, object }) => !foreseen.has(address(kind as never, key)) && !known.has(`${kind} ${object}`),
  )
}
