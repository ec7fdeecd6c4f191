// One turn of a realm: what it waits for, its run, and the approval that it has.
import { createDeadline, type Deadline } from '../lib/timing/deadline.ts'
import { parseDuration } from '../realm-file/resources/duration.ts'
import { failure } from '../service/context/errors.ts'
import type { Service } from '../service/context/service.ts'
import { recordApproval } from '../service/sources/saved-plans.ts'
import { approverOf } from './approver.ts'
import type { Waits } from './dependencies.ts'
import type { RealmOf } from './desired.ts'
import { APPROVED } from './resource.ts'
import { type RunOptions, runRealm } from './run.ts'
import type { Result } from './status/result.ts'

/** How a turn ended: with a run, or with what it waits for. */
export type Turned = { readonly result: Result } | { readonly waits: Waits }

/** Runs the realm, unless it waits. Throws what is nobody's fault. */
export async function turnOf(
  service: Service,
  realm: RealmOf,
  { waits, ...others }: Omit<RunOptions, 'deadline'> & { readonly waits: Waits | undefined },
): Promise<Turned> {
  if (waits) return { waits }
  const { holder } = realm
  const options = { ...others, deadline: deadlineOf(realm) }
  const result = await runRealm(service, realm, options)
  const { pendingApproval } = result
  if (!pendingApproval || !holder || holder.resource.metadata.annotations?.[APPROVED] !== pendingApproval.plan)
    return { result }
  await recordApproval(
    service,
    { actor: approverOf(holder.resource) },
    { plan: pendingApproval.plan, withCredentials: false },
  )
  return { result: await runRealm(service, realm, options) }
}

/** By when a run that begins now must have ended; a realm that says nothing of it may take its time. */
function deadlineOf({ holder }: RealmOf): Deadline | undefined {
  const timeout = holder?.resource.spec?.timeout
  if (typeof timeout !== 'string') return undefined
  const message = `the run has taken longer than spec.timeout of ${holder!.file}, ${timeout}, and was broken off: nothing of it is kept`
  return createDeadline(parseDuration(timeout) * 1000, failure('timeout', message))
}
