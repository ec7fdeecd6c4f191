// What is said of a RealmSource, made of what is kept of every source. Pure.
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { ReportedSourceStatus } from '../../reconcile/following/followed-source.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import type { SourceStatus } from '../../service/sources/source-status.ts'
import type { Fault } from '../desired.ts'
import { APPROVED, type Run, type Status } from '../resource.ts'
import { common, keep, moment, type Said, saidOfFault } from '../status/conditions.ts'
import type { GitSource } from './stated.ts'

/** What was found out: how it stands, why it cannot be followed or ended, or nothing yet. */
export type Found = ReportedSourceStatus | { readonly fault: Fault } | { readonly failure: string } | 'being read'

/** How a RealmSource stands. */
export interface Standing {
  /** As it was when it was looked at. */
  readonly source: GitSource
  /** The request that was followed then. */
  readonly handled?: string | undefined
  readonly found: Found
  readonly realms: readonly string[]
  /** How many objects it owns; absent: nobody has counted them yet. */
  readonly objects?: number
}

/** The status of the resource; `prior`: what is said of it by now. */
export function statusOfSource(
  standing: Standing,
  prior: Status,
  { drifts, now }: { readonly drifts: readonly Drift[]; readonly now: Date },
): Status {
  const { source, found, realms, objects, handled = prior.lastHandledReconcileAt } = standing
  const own = drifts.filter((drift) => drift.source === source.name)
  const realm = realms.length ? [...realms].sort().join(', ') : prior.realm
  const ofAll = (said: Said): Status => ({
    ...common(source, prior, { realm, said, drifts: own, now }),
    drift: new Set(own.map(({ realm, kind, key }) => `${realm} ${kind} ${key.join()}`)).size,
  })
  if (found === 'being read' || !('status' in found)) {
    const said = saidBesides(found)
    const { lastAppliedRevision, lastAttemptedRevision, plan, inventory, history } = prior
    return {
      ...ofAll(said),
      ...keep('lastHandledReconcileAt', handled),
      ...{
        ...keep('lastAppliedRevision', lastAppliedRevision),
        ...keep('lastAttemptedRevision', lastAttemptedRevision),
      },
      ...{ ...keep('plan', plan), ...keep('inventory', inventory), ...keep('history', history) },
    }
  }
  const { status, outcome, isSuspended: rests } = found
  const waits = status.ready?.reason === 'DependencyNotReady'
  const history = (status.attempts ?? []).map(
    ({ revision = '', at, message }): Run => ({
      ...{ revision, time: moment(new Date(at)), outcome: message === undefined ? 'Applied' : 'Failed' },
      ...keep('message', message),
    }),
  )
  return {
    ...ofAll(rests ? saidOfRest(source) : saidOf(source, status, outcome)),
    ...keep('lastHandledReconcileAt', waits ? prior.lastHandledReconcileAt : handled),
    ...keep('lastAppliedRevision', status.applied?.revision),
    ...keep('lastAttemptedRevision', status.attempted?.revision),
    ...keep('plan', planOf(outcome) ?? prior.plan ?? (outcome && { create: 0, update: 0, delete: 0 })),
    ...keep('inventory', objects === undefined ? prior.inventory : { objects }),
    ...(history.length && { history }),
  }
}

function saidBesides(found: Exclude<Found, ReportedSourceStatus>): Said {
  if (found === 'being read')
    return { status: 'Unknown', reason: 'BeingRead', message: 'It is being read.', also: 'Reconciling' }
  if ('fault' in found) return saidOfFault(found.fault)
  return { status: 'False', reason: 'Failed', message: found.failure, also: 'Reconciling' }
}

function saidOfRest({ name, file, follows }: GitSource): Said {
  const until = follows?.spec.suspend ? 'spec.suspend is false' : `"regent source resume ${name}"`
  const message = `${file} is suspended: it is not read until ${until}, and what was applied stays`
  return { status: 'False', reason: 'Suspended', message }
}

function saidOf({ resource }: GitSource, { ready, attempted }: SourceStatus, outcome: RunOutcome | undefined): Said {
  const message = ready?.message.replaceAll('\n', '; ') ?? ''
  const [pendingApproval] = waitingIn(outcome)
  switch (ready?.reason) {
    case 'Applied':
      return { status: 'True', reason: 'Applied', message: 'It is live as it is stated.' }
    case 'Retrying':
      return { status: 'False', reason: 'Failed', message, also: 'Reconciling' }
    case 'DependencyNotReady':
      return { status: 'False', reason: 'DependencyNotReady', message, also: 'Reconciling' }
    case 'PendingApproval': {
      if (!pendingApproval) return { status: 'False', reason: ready.reason, message, also: 'Stalled' }
      const why = pendingApproval.guards.map((one) => one.message).join('; ')
      const how = `kubectl annotate realmsource ${resource.metadata.name} ${APPROVED}=${pendingApproval.plan} --overwrite`
      const told = `The plan ${pendingApproval.plan} is pending approval, since it ${why}. Approve it: ${how}`
      return { status: 'False', reason: ready.reason, message: told, also: 'Stalled' }
    }
    case 'RolledBack':
      return {
        status: 'False',
        reason: 'RolledBack',
        message: `${message}: "regent source resume" lets it go on`,
        also: 'Stalled',
      }
    default: {
      const what = attempted?.revision ? `the commit ${attempted.revision} was not applied: ` : ''
      return { status: 'False', reason: 'Invalid', message: what + message, also: 'Stalled' }
    }
  }
}

/** What waits for an approval, realm by realm. */
export const waitingIn = (outcome: RunOutcome | undefined) =>
  (outcome?.realms ?? []).flatMap(({ pendingApproval }) => (pendingApproval ? [pendingApproval] : []))

/** What a run did, or would do; undefined where that is nothing. */
function planOf(outcome: RunOutcome | undefined): Status['plan'] {
  const all = (outcome?.realms ?? []).flatMap(({ plan }) => [
    ...plan.actions.map(({ operation }) => operation),
    ...(plan.creates ? ['create'] : []),
  ])
  if (!all.length) return undefined
  const count = (wanted: string) => all.filter((operation) => operation === wanted).length
  const id = waitingIn(outcome)[0]?.plan
  return { ...keep('id', id), create: count('create'), update: count('update'), delete: count('delete') }
}
