// Says in the cluster how resources stand, lets go of those whose objects are gone, and tells what has happened to them.
import { messageOf } from '../lib/message-of.ts'
import type { Drift } from '../reconcile/drift.ts'
import { type Standing, statusOf, statusOfOther } from './conditions.ts'
import type { Desired, Fault, Member, RealmOf } from './desired.ts'
import { eventsBetween } from './events.ts'
import type { LivePicture } from './picture.ts'
import { FINALIZER, isOurs, type Resource, type Status } from './resource.ts'
import type { Writer } from './write.ts'

/** How a realm stood, and what it was made of then: what was found out is said of that, and of nothing newer. */
export interface Stood {
  readonly realm: RealmOf
  readonly standing: Standing
}

/** Says how resources stand. What is said already is not written again. Throws what the API server refuses, after all were told. */
export interface Teller {
  /**
   * Keeps what the realm states from vanishing without a word. Gives what could not be kept so, by what it is called: it may be gone
   * already, and the picture late, or the API server refuses it now.
   */
  hold(realm: RealmOf): Promise<ReadonlyMap<string, Fault>>
  realm(stood: Stood, drifts: readonly Drift[]): Promise<void>
  /** Resources that belong to no realm. */
  others(members: Desired['others']): Promise<void>
  /** One resource, of which this is said. */
  say(member: Member, statusFor: (prior: Status) => Status): Promise<void>
  /** Lets go of one. */
  release(member: Member): Promise<void>
  /** Whether this version of the resource was compared with what is to be said of it; others than ours need not be. */
  knows(resource: Resource): boolean
}

/** Tells of what is in the picture. */
export function teller(picture: LivePicture, write: Writer, clock: () => Date): Teller {
  const compared = new WeakSet<Resource>()
  /** By uid, of resources whose status is not ours: events alone tell how they stand, again in each process. */
  const unwritten = new Map<string, Status>()

  /** What is written is compared with what is there by now, but speaks of the generation, and of the request, that was looked at. */
  const say = async ({ resource }: Member, statusFor: (prior: Status) => Status) => {
    const latest = picture.latest(resource)
    if (!latest) return
    const { uid } = latest.metadata
    const prior = (isOurs(latest) ? latest.status : unwritten.get(uid)) ?? {}
    const status = statusFor(prior)
    if (isOurs(latest)) await write.say(latest, status)
    else unwritten.set(uid, status)
    for (const event of eventsBetween(prior, status)) await write.tell(latest, event)
    compared.add(latest)
  }
  const release = async ({ resource }: Member) => {
    const latest = picture.latest(resource)
    if (!latest) return
    await write.release(latest)
    compared.add(latest)
  }
  const each = async <T>(members: readonly T[], tell: (member: T) => Promise<void>) => {
    const told = await Promise.allSettled(members.map(tell))
    const refused = told.find((one) => one.status === 'rejected')
    if (refused) throw refused.reason
  }

  return {
    async hold({ members }) {
      const held = async ({ resource, file }: Member): Promise<[file: string, fault: Fault][]> => {
        const latest = picture.latest(resource)
        try {
          return latest && (await write.hold(latest)) ? [] : [[file, notHeld('it is gone')]]
        } catch (error) {
          return [[file, notHeld(messageOf(error))]]
        }
      }
      const stating = members.filter(({ resource, stated }) => stated && isOurs(resource))
      return new Map((await Promise.all(stating.map(held))).flat())
    },
    realm({ realm, standing }, drifts) {
      const isDone = ({ file }: Member) =>
        'result' in standing && standing.result.how === 'applied' && !standing.result.faults.has(file)
      // What was never applied leaves nothing behind, and need not wait for what is not done now.
      const isNothing = ({ resource }: Member) =>
        resource.status?.lastAppliedRevision === undefined &&
        ('waits' in standing || ('result' in standing && standing.result.how !== 'applied'))
      return each(realm.members, (member) =>
        member.leaves && (isDone(member) || isNothing(member))
          ? release(member)
          : say(member, (prior) => statusOf(member, prior, realm, standing, drifts, clock())),
      )
    },
    others: (members) =>
      each(members, (member) =>
        // There is nothing that it could leave behind.
        member.leaves ? release(member) : say(member, (prior) => statusOfOther(member, prior, member.fault, clock())),
      ),
    say,
    release,
    knows: (resource) => compared.has(resource) || picture.latest(resource) === undefined,
  }
}

/** What is applied without a finalizer may vanish, and nobody would take away what it has stated. */
function notHeld(why: string): Fault {
  const message = `it is not applied as long as it cannot have the finalizer ${FINALIZER}: ${why}`
  return { reason: 'NotHeld', message, unheld: true }
}
