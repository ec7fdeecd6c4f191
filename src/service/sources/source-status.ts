// The status of sources, and what administrators do with sources: suspend, resume, reconcile now, rename.
import type { Permission } from '../../kinds/admin-roles.ts'
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  countNotReadySources,
  type SourceStateRow,
  type SourceSuspension,
  selectSourceStates,
  renameSource as updateSourceName,
  suspendSource as updateSuspension,
  upsertSourceStatus,
} from '../../store/sources/source-states.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import { failure } from '../context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../context/service.ts'
import type { Lease } from '../context/store-types.ts'
import { enqueueNotification, type Notification } from '../messages/notifications.ts'

/** An attempt to apply a revision of a source. */
export interface SourceAttempt {
  readonly revision: string | undefined
  readonly at: string
  /** The reason of a failure. Absent: it succeeded. */
  readonly message?: string
}

/** A condition in the style of Kubernetes. */
export interface SourceCondition {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  /** The time of the last change of `status`. */
  readonly since: string
}

/** A problem in a document. */
export interface SourceProblem {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The status of a source, as far as there was an attempt. */
export interface SourceStatus {
  readonly attempted?: SourceAttempt
  readonly applied?: SourceAttempt
  /** Everything that it declares is live. */
  readonly ready?: SourceCondition
  /** It is retried without intervention. */
  readonly reconciling?: SourceCondition
  /** It is not retried before its documents change or an administrator intervenes. */
  readonly stalled?: SourceCondition
  /** The first problems of the attempted revision. */
  readonly problems?: readonly SourceProblem[]
  /** The time of the next attempt. */
  readonly nextTryAt?: string
  /** The last attempts, newest first. */
  readonly attempts?: readonly SourceAttempt[]
}

/** A source with its realms and its status. */
export interface SourceState {
  readonly name: string
  readonly realms: readonly string[]
  readonly suspended: SourceSuspension | null
  readonly status: SourceStatus
}

/** The outcome of an attempt: the reason of the conditions. */
export type SourceOutcome = 'Applied' | 'Refused' | 'Retrying' | 'RolledBack' | 'PendingApproval' | 'DependencyNotReady'

/** The reason of a namespace whose Kubernetes resources are not all ready. */
export const RESOURCES_NOT_READY = 'ResourcesNotReady'

/** A finished attempt to apply a source. */
export interface FinishedAttempt {
  readonly outcome: SourceOutcome
  readonly revision: string | undefined
  readonly message?: string
  readonly problems?: readonly SourceProblem[] | undefined
  readonly at: string
  readonly nextTryAt?: string | undefined
}

/** Maximum number of attempts in a status. */
const MAX_ATTEMPTS = 5

/**
 * Returns the status after an attempt; undefined if nothing has changed: neither revision, nor outcome, nor message, nor the time of the
 * next attempt.
 */
export function updateStatus(before: SourceStatus, finished: FinishedAttempt): SourceStatus | undefined {
  const { outcome, revision, message = '', problems, at, nextTryAt } = finished
  const hasSameOutcome = before.ready?.reason === outcome && before.ready.message === message
  if (hasSameOutcome && before.attempted?.revision === revision)
    return before.nextTryAt === nextTryAt ? undefined : { ...before, ...(nextTryAt && { nextTryAt }) }
  const isApplied = outcome === 'Applied'
  const isRetried = outcome === 'Retrying' || outcome === 'DependencyNotReady'
  const attempt = { revision, at, ...(!isApplied && { message: message || outcome }) }
  const toCondition = (previous: SourceCondition | undefined, isTrue: boolean): SourceCondition => {
    const status = isTrue ? 'True' : 'False'
    return { status, reason: outcome, message, since: previous?.status === status ? previous.since : at }
  }
  return {
    attempted: attempt,
    ...(isApplied ? { applied: attempt } : before.applied && { applied: before.applied }),
    ready: toCondition(before.ready, isApplied),
    reconciling: toCondition(before.reconciling, isRetried),
    stalled: toCondition(before.stalled, !isApplied && !isRetried),
    ...(problems && { problems }),
    ...(nextTryAt && { nextTryAt }),
    attempts: [attempt, ...(before.attempts ?? [])].slice(0, MAX_ATTEMPTS),
  }
}

/** Returns the states of the sources, or of those with these names that exist. One statement. */
export async function findSourceStates(service: Service, names?: readonly string[]): Promise<SourceState[]> {
  return (await service.query((tx) => selectSourceStates(tx, names))).map(toSourceState)
}

/** Returns the states of the sources that the caller may suspend in all of their realms. One statement, besides those of a read. */
export function listSourceStates(service: Service, caller: Caller): Promise<SourceState[]> {
  return service.read(caller, MASTER, async ({ tx, permissions }) => {
    const states = (await selectSourceStates(tx)).map(toSourceState)
    return states.filter((state) =>
      listAdministeredRealms(state).every((realm) => hasPermission(permissions, realm, 'suspend-sources')),
    )
  })
}

/**
 * Writes the status of a source, if this process still has the lease, and the notification that `notify` returns. One statement, besides
 * those of a notification.
 */
export async function saveSourceStatus(
  service: Service,
  lease: Lease,
  {
    source,
    status,
    notify,
  }: {
    readonly source: string
    readonly status: SourceStatus
    readonly notify?: ((state: SourceState) => Notification) | undefined
  },
): Promise<void> {
  if (!notify || !service.notificationReceivers.length)
    await service.query((tx) => upsertSourceStatus(tx, source, { status, lease }))
  else
    await service.writeRuntime(SYSTEM, MASTER, async (context) => {
      if (!(await upsertSourceStatus(context.tx, source, { status, lease }))) return
      const [state] = await selectSourceStates(context.tx, [source])
      await enqueueNotification(service, context, notify(toSourceState(state!)))
    })
}

/** Suspends a source: it is not read until it is resumed. Throws forbidden or not_found. */
export async function suspendSource(service: Service, caller: Caller, source: string): Promise<void> {
  await requireSource(service, caller, { source, permission: 'suspend-sources' })
  const suspension = { by: getAuthor(caller), at: service.clock().toISOString() }
  await service.query((tx) => updateSuspension(tx, source, suspension))
}

/** Resumes a source in all realms, also after a rollback. Throws forbidden or not_found. */
export async function resumeSource(service: Service, caller: Caller, source: string): Promise<void> {
  await requireSource(service, caller, { source, permission: 'suspend-sources' })
  await service.query((tx) => updateSuspension(tx, source, undefined))
}

/** Requests that a source is reconciled now. Throws forbidden or not_found; conflict if it is suspended or no server follows it. */
export async function requestReconciliation(service: Service, caller: Caller, source: string): Promise<void> {
  const { suspended, status } = await requireSource(service, caller, { source, permission: 'administer-realm' })
  if (suspended)
    throw failure(
      'conflict',
      `The source ${source} is suspended by ${suspended.by}. Resume it with "regent source resume".`,
    )
  if (!status.attempted)
    throw failure('conflict', `No server follows the source ${source}. Apply it with "regent apply".`)
  await wakeSources(service, [source])
}

/** Wakes the server that follows these sources, which reads them. One statement each. */
export async function wakeSources(service: Service, names: readonly string[]): Promise<void> {
  for (const name of names) await service.query((tx) => service.notify({ tx }, { topic: 'source', name }))
}

/** Renames a source, with everything that it manages. Throws forbidden or not_found; conflict if the name is taken. */
export async function renameSource(
  service: Service,
  caller: Caller,
  { source, newName }: { readonly source: string; readonly newName: string },
): Promise<void> {
  await requireSource(service, caller, { source, permission: 'administer-realm' })
  await service.write(SYSTEM, MASTER, async ({ tx }) => {
    const [existing] = await selectSourceStates(tx, [newName])
    if (existing?.realms.length)
      throw failure('conflict', `A source ${newName} exists already. "regent source list" shows it.`)
    const [by, at] = [getAuthor(caller), service.clock().toISOString()]
    if (!(await updateSourceName(tx, source, { by, at, renamedTo: newName }))) throw sourceNotFound(source)
  })
}

/** Returns the number of sources that are not ready. One statement. */
export function countSourcesNotReady(service: Service): Promise<number> {
  return service.query(countNotReadySources)
}

/** Returns a source. Throws forbidden unless the caller has the permission in all realms to which it has applied, or not_found. */
async function requireSource(
  service: Service,
  caller: Caller,
  { source, permission }: { readonly source: string; readonly permission: Permission },
): Promise<SourceState> {
  const [state] = await findSourceStates(service, [source])
  await service.requirePermission(caller, permission, listAdministeredRealms(state))
  if (!state) throw sourceNotFound(source)
  return state
}

/** Returns the realms in which a caller needs permissions to see or change a source. */
function listAdministeredRealms(state: SourceState | undefined): readonly string[] {
  return state?.realms.length ? state.realms : [MASTER]
}

const getAuthor = ({ actor }: Caller): string => actor.user ?? actor.kind

const sourceNotFound = (source: string) =>
  failure('not_found', `There is no source ${source}. "regent source list" lists the sources.`)

function toSourceState({ name, realms, suspended, status }: SourceStateRow): SourceState {
  return { name, realms, suspended, status }
}
