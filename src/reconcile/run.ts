// One run of a source: the named steps from documents to the record. The unit is the realm; realms follow each other.
import { createHash } from 'node:crypto'
import { adminClientObjects, MASTER } from '../kinds/built-in/index.ts'
import { version } from '../lib/version.ts'
import type { Document } from '../realm-file/document.ts'
import type { UnknownFields } from '../realm-file/parse.ts'
import { byPlace, DocumentError } from '../realm-file/problem.ts'
import { ServiceError } from '../service/errors.ts'
import type { Caller, Service } from '../service/service.ts'
import { appliedBy } from '../service/sources.ts'
import type { Note } from './action.ts'
import { ActionError } from './apply.ts'
import { type DesiredRealm, desiredRealms, inOrder } from './desired.ts'
import { commit, type Planned, planned, type RealmOutcome, trial } from './execute.ts'
import { observe } from './observe.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import { plan } from './plan.ts'
import type { LiveState } from './plan-input.ts'

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
  return run(service, caller, source, (made) => trial(service, caller, made))
}

/** Applies the source: each realm's plan in one transaction, all or nothing. */
export async function applySource(service: Service, caller: Caller, source: SourceState): Promise<Outcome> {
  const { name, revision } = source
  const through = { ...caller, actor: { ...caller.actor, source: name } }
  try {
    const outcome = await run(service, through, source, (made, digest) =>
      commit(service, through, made, { source: name, revision, digest }),
    )
    const changed = outcome.realms.some(({ plan }) => plan.creates || plan.actions.length > 0)
    service.applies[changed ? 'changed' : 'unchanged']++
    return outcome
  } catch (error) {
    service.applies.failed++
    throw error
  }
}

type Step = (made: Planned, digest: string) => Promise<RealmOutcome>

async function run(service: Service, caller: Caller, source: SourceState, step: Step): Promise<Outcome> {
  const applied = await appliedBy(service, source.name)
  const digests = digestsOf(service, source)
  await service.demand(caller, 'administer-realm', [...digests.keys(), ...applied.map(({ realm }) => realm)])
  // What was applied had been checked: where nothing is new, the documents are not even taken apart.
  const settled = new Set(
    applied.flatMap(({ realm, digest, marked }) => (!marked && digests.get(realm) === digest ? [realm] : [])),
  )
  const desired = desiredRealms(
    source.documents.filter((one) => !settled.has(realmOf(one))),
    service.vault,
    source.unknownFields,
  )
  // The inventory binds to the realm itself: it is found also where somebody renamed it.
  const calledNow = new Map(applied.map(({ realm, stated }) => [stated ?? realm, realm]))
  const all = desired.map((one) => ({ desired: one, calledNow: calledNow.get(one.name) ?? one.name }))
  const coming = all.length > 1 ? await lookAhead(service, caller, source, all) : []
  const byName = new Map(all.map((one) => [one.desired.name, one]))
  const names = [...settled, ...byName.keys()].sort(inOrder)
  const realms: RealmOutcome[] = []
  for (const name of names) {
    const realm = byName.get(name)
    realms.push(
      realm ? await runRealm(service, caller, source, realm, coming, digests.get(name)!, step) : nothingToDo(name),
    )
  }
  const abandoned = [...calledNow]
    .filter(([stated]) => !names.includes(stated))
    .map(([, realm]) => ({ message: `realm ${realm} is stated no more; it is left as it is` }))
  const notes = [...(source.notices ?? []), ...abandoned]
  return { source: source.name, revision: source.revision, realms, notes }
}

/** A realm that is stated, and the name by which it is found. */
interface Wanted {
  readonly desired: DesiredRealm
  readonly calledNow: string
}

/**
 * What is wrong with a later realm must not come out when an earlier one is applied already. Gives what the new realms
 * bring into master.
 */
async function lookAhead(
  service: Service,
  caller: Caller,
  source: SourceState,
  all: readonly Wanted[],
): Promise<LiveState[]> {
  const found: Obstacle[] = []
  const coming: LiveState[] = []
  for (const { desired: realm, calledNow } of all) {
    const seen = await service.snapshot(caller, calledNow, (context) => observe(context, source.name, realm))
    const input = realm.name === MASTER ? { ...seen, live: [...seen.live, ...coming] } : seen
    found.push(...obstacles(input, plan(input)))
    if (!input.exists)
      coming.push(...adminClientObjects(realm.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (found.length) throw new DocumentError(byPlace(found, source.documents))
  return coming
}

async function runRealm(
  service: Service,
  caller: Caller,
  source: SourceState,
  { desired, calledNow }: Wanted,
  coming: readonly LiveState[],
  digest: string,
  step: Step,
): Promise<RealmOutcome> {
  for (let attempt = 1; ; attempt++) {
    const input = await service.snapshot(caller, calledNow, (context) => observe(context, source.name, desired))
    const made = planned(desired, input, source.documents, desired.name === MASTER ? coming : [])
    try {
      return await step(made, digest)
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
  return { plan: { realm, creates: false, actions: [], notes: [], knows: [], marked: 0 }, consequences: [] }
}

/** By realm, everything that decides what a run does: the documents that state it, and Regent's version. */
function digestsOf(service: Service, source: SourceState): ReadonlyMap<string, string> {
  const digest = (documents: readonly Document[]) =>
    service.vault.digest(
      createHash('sha256')
        .update(JSON.stringify([version, source.unknownFields, documents.map(digestOf)]))
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
