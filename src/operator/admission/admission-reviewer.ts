// Admission: what a resource would do, found out before it is taken. The run itself is planned and rolled back.
import { isDeepStrictEqual } from 'node:util'
import type { Deadline } from '../../lib/timing/deadline.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { astrayIn, desired, type Fault, type Member, type Picture } from '../desired.ts'
import { readKnown } from '../known.ts'
import type { OperatorOptions } from '../operator.ts'
import { watchCluster } from '../picture.ts'
import { isDisabled, nameOf, RECONCILE, type Resource } from '../resource.ts'
import { tryRealm } from '../run.ts'
import { adviceOn } from './advice.ts'

/** What is about to be written. */
export interface Change {
  readonly resource: Resource
  /** What is there now; absent: nothing. */
  readonly before?: Resource | undefined
}

/** What is said of it. */
export interface Verdict {
  /** Why it is refused, with the path of its field. */
  readonly refused?: string
  /** What whoever writes it should know. */
  readonly warnings: readonly string[]
}

/** Who says it, with a picture of the cluster that is kept until the signal comes. */
export interface Reviewer {
  /** Writes nothing. Throws where it cannot be told, and when the signal or the deadline comes. */
  review(change: Change, signal: AbortSignal, deadline: Deadline): Promise<Verdict>
}

const NOTHING: Verdict = { warnings: [] }

/** What may still come: the resource waits for it, and says so in its status. */
const AWAITED: readonly string[] = ['RealmNotFound', 'SecretNotFound']

/** Options of `reviewer`. */
type ReviewOptions = Omit<OperatorOptions, 'say' | 'git'>
/** The state of the cluster that a review compares with. */
type ClusterState = Omit<Picture, 'holderOf'>

/** Reviews what is written, in every server: also in those that do not apply resources. */
export function reviewer(service: Service, options: ReviewOptions, signal: AbortSignal): Reviewer {
  const { cluster, counts, failed } = options
  const look = (until: AbortSignal) => watchCluster(cluster, { changed: () => {}, failed }, until)
  const kept = look(signal)

  const readAnew = async (until: AbortSignal) => {
    const ending = new AbortController()
    const fresh = look(AbortSignal.any([ending.signal, until]))
    try {
      await raceAbort(fresh.seen, until)
      return fresh.now()
    } finally {
      ending.abort()
    }
  }

  return {
    async review({ resource, before }, until, deadline) {
      if (resource.metadata.deletionTimestamp || !counts(resource.metadata.namespace!)) return NOTHING
      if (before && saysTheSame(resource, before)) return NOTHING
      await raceAbort(kept.seen, until)
      const verdictIn = (there: ClusterState) => verdictOn(service, options, { resource, there, deadline })
      const verdict = await verdictIn(kept.now())
      // What it refers to may have been written just now, and not have been seen: nobody is refused for that.
      return verdict.refused === undefined ? verdict : verdictIn(await readAnew(until))
    },
  }
}

/** A resource that is reviewed, what else there is, and by when it must be done. */
interface ReviewInput {
  readonly resource: Resource
  readonly there: ClusterState
  readonly deadline: Deadline
}

/** Plans the realm that the resource belongs to as if it were there. Throws where it cannot be told. */
async function verdictOn(
  service: Service,
  { limitOf, counts }: ReviewOptions,
  { resource, there, deadline }: ReviewInput,
): Promise<Verdict> {
  const { holderOf, namespacesIn } = await readKnown(service, counts)
  const before = there.resources.filter(({ metadata }) => counts(metadata.namespace!))
  const others = before.filter((one) => nameOf(one) !== nameOf(resource))
  const now = desired({ ...there, resources: [...others, resource], holderOf })
  const isIt = (one: Member) => one.resource === resource
  const stray = now.others.find(isIt)
  if (stray) return verdictOf(stray.fault)
  const realm = [...now.realms.values()].find(({ members }) => members.some(isIt))!
  const { name, holder, members } = realm
  if (holder?.leaves) return NOTHING
  const isHolder = holder !== undefined && holderOf(name) === holder.namespace
  const options = { limitOf, isHolder, before: namespacesIn(name), astray: astrayIn(now), gitSources: [], deadline }
  try {
    const made = await tryRealm(service, realm, options)
    const own = members.find(isIt)!
    const fault = made.faults.get(own.file)
    if (fault) return verdictOf(fault)
    const astrayBefore = new Set(desired({ ...there, resources: before, holderOf }).others.map(({ file }) => file))
    const leftOut = now.others.filter(({ file }) => !astrayBefore.has(file))
    return { warnings: adviceOn(own, made, [...members, ...leftOut]) }
  } catch (error) {
    // Of no resource in particular: the realm as a whole says so in its status.
    if (!(error instanceof ServiceError)) throw error
    return { warnings: [`the realm ${name} cannot be applied now: ${error.message}`] }
  }
}

function verdictOf({ reason, message, meant }: Fault): Verdict {
  if (meant) return NOTHING
  return AWAITED.includes(reason) ? { warnings: [message] } : { refused: message, warnings: [] }
}

/** Whether only what states nothing is another: finalizers, or the approval of a plan. */
function saysTheSame(one: Resource, other: Resource): boolean {
  return isDeepStrictEqual(one.spec, other.spec) && isDisabled(one, RECONCILE) === isDisabled(other, RECONCILE)
}
