// What is said of a resource after a run. Pure: the same run says the same, so that nothing is written then.

import { describeObject } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { Waits } from '../dependencies.ts'
import type { Desired, Fault, Member, RealmOf } from '../desired.ts'
import { APPROVED, type Condition, REQUESTED_AT, type Run, type Status } from '../resource.ts'
import type { Result } from './result.ts'
import { revisionOf } from './states.ts'

/** How a realm stands: how its last run ended, or why there was none. */
export type Standing = { readonly at: Date } & (
  | { readonly result: Result }
  | { readonly failure: string }
  | { readonly waits: Waits }
)

/** How a realm stands after two runs, the first of which nobody was told of: what that one did is not lost by one that had nothing to do. */
export function together(untold: Standing, now: Standing): Standing {
  if (!('result' in untold && 'result' in now)) return now
  const [{ result: first }, { result: second }] = [untold, now]
  if (first.how !== 'applied' || second.how !== 'applied' || !acts(first) || acts(second)) return now
  return { at: untold.at, result: { ...second, plan: first.plan } }
}

/** The condition Ready, and which other one says the same. */
export type Said = Pick<Condition, 'status' | 'reason' | 'message'> & { readonly also?: 'Reconciling' | 'Stalled' }

/** How the realm of a resource stands, and the time. */
export interface RealmStanding {
  readonly realm: RealmOf
  readonly standing: Standing
  readonly drifts: readonly Drift[]
  readonly now: Date
}

/** The status of a resource of the realm, as it was looked at; `prior`: what is said of it by now. */
export function statusOf(member: Member, prior: Status, { realm, standing, drifts, now }: RealmStanding): Status {
  const { stated, file } = member
  const said = saidOf(member, realm, standing)
  const isHolder = file === realm.holder?.file
  const own = drifts.filter((drift) => drift.file === file)
  const revision = stated && revisionOf(isHolder ? realm.members.filter((one) => one.stated) : [member])
  const isApplied = said.status === 'True' && revision !== undefined
  return {
    ...common(member, prior, { realm: realm.name, said, drifts: own, now }),
    // What waits has handled no request yet.
    ...keep('lastHandledReconcileAt', 'waits' in standing ? prior.lastHandledReconcileAt : requestOf(member)),
    ...keep('lastAppliedRevision', isApplied ? revision : prior.lastAppliedRevision),
    ...keep('lastAttemptedRevision', revision ?? prior.lastAttemptedRevision),
    drift: new Set(own.map(({ kind, key }) => `${kind} ${key.join()}`)).size,
    ...(isHolder && ofRuns(prior, standing, { revision, said })),
  }
}

/** The status of a resource that belongs to no realm. */
export function statusOfOther(member: Desired['others'][number], prior: Status, now: Date): Status {
  const { lastAppliedRevision, lastAttemptedRevision } = prior
  return {
    ...common(member, prior, { said: saidOfFault(member.fault), drifts: [], now }),
    ...keep('lastHandledReconcileAt', requestOf(member)),
    ...keep('lastAppliedRevision', lastAppliedRevision),
    ...keep('lastAttemptedRevision', lastAttemptedRevision),
  }
}

/** What was asked for last. */
export const requestOf = ({ resource }: Member) => resource.metadata.annotations?.[REQUESTED_AT]

/** What the status of every resource is made of. */
interface Findings {
  /** The realm, or the realms, that it belongs to. */
  readonly realm?: string | undefined
  readonly said: Said
  readonly drifts: readonly Drift[]
  readonly now: Date
}

/** What is said of every resource. */
export function common({ resource }: Member, prior: Status, { realm, said, drifts, now }: Findings): Status {
  const { generation } = resource.metadata
  const at = moment(now)
  const condition = (type: Condition['type'], one: Omit<Said, 'also'>): Condition => {
    const { status, reason, message } = one
    const before = prior.conditions?.find((other) => other.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : at
    return { type, status, reason, message, lastTransitionTime, ...keep('observedGeneration', generation) }
  }
  const { also, ...ready } = said
  return {
    ...keep('observedGeneration', generation),
    conditions: [
      condition('Ready', ready),
      // These say something while they are there.
      ...(also ? [condition(also, { ...ready, status: 'True' })] : []),
      ...(drifts.length
        ? [condition('Drifted', { status: 'True', reason: 'Changed', message: driftTold(drifts) })]
        : []),
    ],
    ...keep('realm', realm),
  }
}

/** The member, if it has a value. */
export const keep = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [name in K]?: V }

function saidOf(member: Member, realm: RealmOf, standing: Standing): Said {
  const what = member.leaves ? 'its object goes when this is over: ' : ''
  if ('failure' in standing)
    return { status: 'False', reason: 'Failed', message: what + standing.failure, also: 'Reconciling' }
  if ('waits' in standing) {
    const { reason, message, how } = standing.waits
    const also = how === 'meant' ? {} : { also: how ? ('Stalled' as const) : ('Reconciling' as const) }
    return { status: 'False', reason, message: what + message, ...also }
  }
  const { how, faults, unwritten, plan, pendingApproval } = standing.result
  const fault = faults.get(member.file) ?? unwritten?.get(member.file)
  if (fault) return saidOfFault(fault)
  if (realm.holder?.leaves && member.file !== realm.holder.file)
    return saidOfFault({ reason: 'RealmNotFound', message: `${realm.holder.file} was deleted` })
  if (pendingApproval) {
    const why = pendingApproval.guards.map((one) => one.message).join('; ')
    const message = `The plan ${pendingApproval.plan} is pending approval, since it ${why}. Approve it: ${approving(realm, pendingApproval.plan)}`
    return { status: 'False', reason: 'PendingApproval', message, also: 'Stalled' }
  }
  if (how === 'suspended')
    return {
      status: 'False',
      reason: 'RolledBack',
      message: 'The realm was rolled back to an earlier revision. Resume with "regent source resume".',
      also: 'Stalled',
    }
  const { create, update, delete: gone } = plan
  if (how === 'planned' && create + update + gone)
    return {
      status: 'False',
      reason: 'Planned',
      message: `mode is plan: would create ${create}, change ${update} and delete ${gone} objects of the realm`,
      also: 'Stalled',
    }
  return { status: 'True', reason: 'Applied', message: 'It is live as it is stated.' }
}

/** What a person types who approves the plan. */
function approving({ holder }: RealmOf, plan: string): string {
  if (!holder) return `regent approve ${plan}`
  const { kind, metadata } = holder.resource
  const resource = `${kind.toLowerCase()} ${metadata.name}`
  return `kubectl annotate --overwrite -n ${metadata.namespace} ${resource} ${APPROVED}=${plan}`
}

/** What is said of what cannot count. */
export function saidOfFault({ reason, message, meant, unheld }: Fault): Said {
  return { status: 'False', reason, message, ...(!meant && { also: unheld ? 'Reconciling' : 'Stalled' }) }
}

/** Places that are told one by one. */
const TOLD = 5

function driftTold(drifts: readonly Drift[]): string {
  const places = drifts.slice(0, TOLD).map(({ kind, key, path, by }) => {
    const what =
      path === undefined ? `${describeObject(kind, key)} is gone` : `${describeObject(kind, key)}: ${path} was changed`
    return by ? `${what} by ${by.name}` : what
  })
  const more = drifts.length > TOLD ? `, and ${drifts.length - TOLD} more` : ''
  return places.join('; ') + more
}

/** As Kubernetes writes times. */
export const moment = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z')

const acts = ({ plan }: Result) => plan.create + plan.update + plan.delete > 0

const RUNS = 5

/** What a realm remembers of its runs; one that had nothing to do leaves nothing. */
function ofRuns(
  prior: Status,
  standing: Standing,
  { revision, said }: { readonly revision: string | undefined; readonly said: Said },
): Partial<Status> {
  const { plan, inventory, history = [] } = prior
  const before = { ...keep('plan', plan), ...keep('inventory', inventory) }
  const time = moment(standing.at)
  const line = (outcome: Run['outcome'], message?: string): Run => ({
    revision: revision ?? '',
    time,
    outcome,
    ...keep('message', message),
  })
  const remembered = (one: Run) => {
    const [last] = history
    const isSame = last?.revision === one.revision && last.outcome === one.outcome && last.message === one.message
    return isSame && (one.outcome !== 'Applied' || last.time === one.time) ? history : [one, ...history].slice(0, RUNS)
  }
  if (!('result' in standing)) {
    const failed = 'failure' in standing ? remembered(line('Failed', standing.failure)) : history
    return { ...before, ...(failed.length && { history: failed }) }
  }
  const { result } = standing
  if (!acts(result) && !result.pendingApproval) {
    const first = plan ? {} : { plan: result.plan }
    const own = said.status === 'False' ? remembered(line('Failed', said.message)) : history
    return { ...before, ...first, inventory: { objects: result.objects }, ...(own.length && { history: own }) }
  }
  const outcome = result.how === 'applied' ? 'Applied' : 'Planned'
  const told = result.how === 'applied' ? undefined : said.message
  return {
    plan: { ...keep('id', result.pendingApproval?.plan), ...result.plan },
    inventory: { objects: result.objects },
    history: remembered(line(outcome, told)),
  }
}
