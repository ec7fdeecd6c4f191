// Writes the status of resources, removes finalizers of those whose objects are gone, and writes events about what has changed.
import { getErrorMessage } from '../../lib/error-message.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { Desired, Fault, Member, RealmOf } from '../desired.ts'
import type { LivePicture } from '../picture.ts'
import { FINALIZER, isOurs, type Resource, type Status } from '../resource.ts'
import type { ResourceWriter } from '../resource-writer.ts'
import { type Standing, statusOf, statusOfOther } from './conditions.ts'
import { eventsBetween } from './events.ts'

/** How a realm stood, and what it was made of then: what was found out is said of that, and of nothing newer. */
export interface Stood {
  readonly realm: RealmOf
  readonly standing: Standing
}

/**
 * Writes the status of resources as they are in the cluster by now. A status that is there already is not written again. Throws what
 * the API server refuses, after all others were written.
 */
export class StatusWriter {
  readonly #picture: LivePicture
  readonly #writer: ResourceWriter
  readonly #clock: () => Date
  /** Versions of resources whose status was compared with what is to be written. */
  readonly #compared = new WeakSet<Resource>()
  /** By uid, of resources whose status is not ours: only events are written, again in each process. */
  readonly #unwritten = new Map<string, Status>()

  constructor(picture: LivePicture, writer: ResourceWriter, clock: () => Date) {
    this.#picture = picture
    this.#writer = writer
    this.#clock = clock
  }

  /**
   * Adds finalizers to what the realm declares, so that it does not vanish unnoticed. Returns the faults of those that have none, by
   * file: the resource may be gone already, and the picture late, or the API server refuses it now.
   */
  async hold({ members }: RealmOf): Promise<ReadonlyMap<string, Fault>> {
    const declared = members.filter(({ resource, stated }) => stated && isOurs(resource))
    const faults = await Promise.all(declared.map(async (member) => [member.file, await this.#hold(member)] as const))
    return new Map(faults.flatMap(([file, fault]) => (fault ? [[file, fault] as const] : [])))
  }

  /** Writes the status of all resources of a realm, or removes their finalizers where nothing of them is left. */
  writeRealm(stood: Stood, drifts: readonly Drift[]): Promise<void> {
    const { realm, standing } = stood
    return each(realm.members, (member) =>
      member.leaves && mayLeave(member, standing)
        ? this.release(member)
        : this.write(member, (prior) => statusOf(member, prior, { realm, standing, drifts, now: this.#clock() })),
    )
  }

  /** Writes the status of resources that belong to no realm. A deleted one leaves nothing behind. */
  writeOthers(members: Desired['others']): Promise<void> {
    return each(members, (member) =>
      member.leaves ? this.release(member) : this.write(member, (prior) => statusOfOther(member, prior, this.#clock())),
    )
  }

  /**
   * Writes the status of one resource. `statusFor` makes it of the status that is there; it is about the generation, and the request,
   * that was looked at.
   */
  async write({ resource }: Member, statusFor: (prior: Status) => Status): Promise<void> {
    const latest = this.#picture.latest(resource)
    if (!latest) return
    const { uid } = latest.metadata
    const prior = (isOurs(latest) ? latest.status : this.#unwritten.get(uid)) ?? {}
    const status = statusFor(prior)
    if (isOurs(latest)) await this.#writer.writeStatus(latest, status)
    else this.#unwritten.set(uid, status)
    for (const event of eventsBetween(prior, status)) await this.#writer.writeEvent(latest, event)
    this.#compared.add(latest)
  }

  /** Removes the finalizer of a resource. */
  async release({ resource }: Member): Promise<void> {
    const latest = this.#picture.latest(resource)
    if (!latest) return
    await this.#writer.removeFinalizer(latest)
    this.#compared.add(latest)
  }

  /** Whether this version of the resource was compared with what is to be written, or is gone. */
  isCompared(resource: Resource): boolean {
    return this.#compared.has(resource) || this.#picture.latest(resource) === undefined
  }

  /** Adds the finalizer to a resource; returns why it has none. */
  async #hold({ resource }: Member): Promise<Fault | undefined> {
    const latest = this.#picture.latest(resource)
    try {
      return latest && (await this.#writer.addFinalizer(latest)) ? undefined : notHeld('it is gone')
    } catch (error) {
      return notHeld(getErrorMessage(error))
    }
  }
}

/** Writes all; throws the first error then. */
async function each<T>(members: readonly T[], write: (member: T) => Promise<void>): Promise<void> {
  const written = await Promise.allSettled(members.map(write))
  const refused = written.find((one) => one.status === 'rejected')
  if (refused) throw refused.reason
}

/** Whether nothing is left of a deleted resource: its objects are gone, or it was never applied and need not wait for what is not done. */
function mayLeave({ file, resource }: Member, standing: Standing): boolean {
  const isApplied = 'result' in standing && standing.result.how === 'applied'
  if (isApplied) return !standing.result.faults.has(file)
  return resource.status?.lastAppliedRevision === undefined && !('failure' in standing)
}

/** What is applied without a finalizer may vanish, and nobody would remove what it has declared. */
function notHeld(why: string): Fault {
  const message = `it is not applied as long as it cannot have the finalizer ${FINALIZER}: ${why}`
  return { reason: 'NotHeld', message, unheld: true }
}
