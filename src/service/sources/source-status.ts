// How sources are doing, and what people want of them: suspended, resumed, read at once, called otherwise.
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  countNotReadySources,
  renameSource,
  type SourceStateRow,
  type SourceSuspension,
  selectSourceStates,
  suspendSource,
  upsertSourceStatus,
} from '../../store/sources/source-states.ts'
import { failure } from '../context/errors.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import { type Caller, type Service, SYSTEM } from '../context/service.ts'
import type { Lease } from '../context/store-types.ts'

/** One attempt to apply a source. */
export interface SourceAttempt {
  readonly revision: string | undefined
  readonly at: string
  /** What was wrong; absent: it was applied. */
  readonly message?: string
}

/** Something that is so, or not, in the manner of Kubernetes. */
export interface SourceCondition {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  /** Since when. */
  readonly since: string
}

/** Something that is wrong in a document, and where. */
export interface SourceProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** How a source is doing, as far as it was tried. */
export interface SourceStatus {
  readonly attempted?: SourceAttempt
  readonly applied?: SourceAttempt
  /** What it states now is live. */
  readonly ready?: SourceCondition
  /** It will be tried again by itself. */
  readonly reconciling?: SourceCondition
  /** Nothing but another statement, or a person, helps. */
  readonly stalled?: SourceCondition
  /** What is wrong in its documents, at the commit that was attempted: the first of it. */
  readonly problems?: readonly SourceProblem[]
  /** When it is tried again by itself. */
  readonly nextTryAt?: string
  /** The last attempts, newest first. */
  readonly attempts?: readonly SourceAttempt[]
}

/** A source, as people see it. */
export interface SourceState {
  readonly name: string
  readonly realms: readonly string[]
  readonly suspended: SourceSuspension | null
  readonly status: SourceStatus
}

/** How an attempt ended. */
export type SourceOutcome = 'Applied' | 'Refused' | 'Retrying' | 'RolledBack' | 'PendingApproval' | 'WaitsForSources'

/** An attempt that has ended. */
export interface FinishedAttempt {
  readonly outcome: SourceOutcome
  readonly revision: string | undefined
  readonly message?: string
  readonly problems?: readonly SourceProblem[] | undefined
  readonly at: string
  readonly nextTryAt?: string | undefined
}

/** Attempts that are kept. */
const ATTEMPTS = 5

/**
 * What becomes of a status by an attempt; undefined where it says nothing new: the same revision, the same ending, the
 * same message, and no other time of the next try.
 */
export function updateStatus(
  before: SourceStatus,
  { outcome: ending, revision, message = '', problems, at, nextTryAt }: FinishedAttempt,
): SourceStatus | undefined {
  const same = before.ready?.reason === ending && before.ready.message === message
  if (same && before.attempted?.revision === revision)
    return before.nextTryAt === nextTryAt ? undefined : { ...before, ...(nextTryAt && { nextTryAt }) }
  const good = ending === 'Applied'
  const condition = (was: SourceCondition | undefined, holds: boolean): SourceCondition => {
    const status = holds ? 'True' : 'False'
    return { status, reason: ending, message, since: was?.status === status ? was.since : at }
  }
  const attempt = { revision, at, ...(!good && { message: message || ending }) }
  const retried = ending === 'Retrying' || ending === 'WaitsForSources'
  return {
    attempted: attempt,
    ...(good ? { applied: attempt } : before.applied && { applied: before.applied }),
    ready: condition(before.ready, good),
    reconciling: condition(before.reconciling, retried),
    stalled: condition(before.stalled, !good && !retried),
    ...(problems && { problems }),
    ...(nextTryAt && { nextTryAt }),
    attempts: [attempt, ...(before.attempts ?? [])].slice(0, ATTEMPTS),
  }
}

/** Sources that are known, of these names. One statement. */
export async function findSourceStates(service: Service, names?: readonly string[]): Promise<SourceState[]> {
  return (await service.query((tx) => selectSourceStates(tx, names))).map(toSourceState)
}

/** The sources whose realms the caller may administer, all of them: what is told of one is told of any. To whom all is open, all. */
export function listSourceStates(service: Service, caller: Caller): Promise<SourceState[]> {
  return service.read(caller, MASTER, async ({ tx, permissions: power }) =>
    (await selectSourceStates(tx))
      .filter(({ realms }) =>
        (realms.length ? realms : [MASTER]).every((one) => hasPermission(power, one, 'administer-realm')),
      )
      .map(toSourceState),
  )
}

/** Keeps how a source is doing, while the lease is this process's. One statement. */
export function saveSourceStatus(service: Service, lease: Lease, source: string, status: SourceStatus): Promise<void> {
  return service.query((tx) => upsertSourceStatus(tx, source, { status, lease }))
}

/** Suspends a source: it is not read until it is resumed. Throws forbidden, not_found. */
export async function suspendSourceFor(service: Service, caller: Caller, source: string): Promise<void> {
  await requireSource(service, caller, source)
  const suspended = { by: caller.actor.user ?? caller.actor.kind, at: service.clock().toISOString() }
  await service.query((tx) => suspendSource(tx, source, suspended))
}

/** Resumes a source in all realms, also one that a rollback suspended. Throws forbidden, not_found. */
export async function resumeSourceEverywhere(service: Service, caller: Caller, source: string): Promise<void> {
  await requireSource(service, caller, source)
  await service.query((tx) => suspendSource(tx, source, undefined))
}

/** Has a source read and applied now, by whoever follows it. Throws forbidden, not_found; conflict where nobody would. */
export async function requestReconciliation(service: Service, caller: Caller, source: string): Promise<void> {
  const { suspended, status } = await requireSource(service, caller, source)
  if (suspended)
    throw failure('conflict', `${source} is suspended by ${suspended.by}: "regent source resume" lets it go on`)
  if (!status.attempted)
    throw failure('conflict', `no server follows the source ${source}: apply it by hand with "regent apply"`)
  await wakeSources(service, [source])
}

/** Wakes who follows these sources: they are to be read. One statement each. */
export async function wakeSources(service: Service, names: readonly string[]): Promise<void> {
  for (const name of names) await service.query((tx) => service.notify({ tx }, { topic: 'source', name }))
}

/** Calls a source otherwise: what it owns stays its own. Throws forbidden, not_found, conflict where the name is taken. */
export async function renameSourceTo(service: Service, caller: Caller, source: string, name: string): Promise<void> {
  await requireSource(service, caller, source)
  await service.write(SYSTEM, MASTER, async ({ tx }) => {
    const [taken] = await selectSourceStates(tx, [name])
    if (taken?.realms.length)
      throw failure('conflict', `there is a source ${name} already: "regent source list" shows it`)
    const [by, at] = [caller.actor.user ?? caller.actor.kind, service.clock().toISOString()]
    if (!(await renameSource(tx, source, { by, at, renamedTo: name }))) throw sourceNotFound(source)
  })
}

/** How many sources are not ready. One statement. */
export function countSourcesNotReady(service: Service): Promise<number> {
  return service.query(countNotReadySources)
}

/** Whoever says what becomes of a source must be let into all realms that it has applied to. */
async function requireSource(service: Service, caller: Caller, source: string): Promise<SourceState> {
  const [known] = await findSourceStates(service, [source])
  await service.requirePermission(caller, 'administer-realm', known?.realms.length ? known.realms : [MASTER])
  if (!known) throw sourceNotFound(source)
  return known
}

const sourceNotFound = (source: string) =>
  failure('not_found', `there is no source ${source}: "regent source list" shows those that there are`)

function toSourceState({ name, realms, suspended, status }: SourceStateRow): SourceState {
  return { name, realms, suspended, status }
}
