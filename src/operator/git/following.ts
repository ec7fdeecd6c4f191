// RealmSources as they come and go: each is followed like a source of the server's settings, and says how it stands.
import { limited } from '../../lib/limited.ts'
import { isFenced, isRefusal } from '../../reconcile/following/failures.ts'
import type { Followed, Stands } from '../../reconcile/following/followed.ts'
import { SourceError } from '../../reconcile/sources/file.ts'
import { confirmLease, type Lease } from '../../service/leases.ts'
import { approve } from '../../service/plans.ts'
import { type Service, SYSTEM } from '../../service/service.ts'
import { appliedBy, sourcesOf } from '../../service/sources.ts'
import { approverOf } from '../approver.ts'
import { requestOf } from '../conditions.ts'
import type { Fault } from '../desired.ts'
import type { Drifts } from '../drifts.ts'
import type { Known } from '../known.ts'
import { type Next, queue, retried, waitAfter } from '../queue.ts'
import { APPROVED } from '../resource.ts'
import type { Teller } from '../telling.ts'
import { isOvertaken } from '../write.ts'
import { endSource } from './ending.ts'
import { type Entry, grantsTold, openEntry, printOf, type Usual } from './entry.ts'
import type { Grounds } from './grants.ts'
import type { GitSource } from './stated.ts'
import { type Found, statusOfSource, waitingIn } from './status.ts'
import { teams, words } from './teams.ts'

/** What is followed, and who hears of it. */
export interface GitOptions {
  readonly usual: Usual
  readonly lease: Lease
  readonly known: Known
  readonly drifts: Drifts
  readonly tell: Teller
  /** What decides which realms sources may touch, as it is now. */
  readonly grounds: () => Grounds
  /** A source has changed something in the realm. */
  readonly applied: (realm: string) => void
  readonly say: (line: string) => void
  readonly failed: (error: unknown) => void
}

/** RealmSources that are followed. */
export interface GitFollowing {
  /** These are there now. */
  look(sources: readonly GitSource[]): void
  /** Something else has changed the realm: what was refused there may be right now. */
  changed(realm: string): void
  /** There is more or less drift in the realm. */
  drifted(realm: string): void
  end(): Promise<void>
}

/** Repositories that are opened at a time. */
const AT_ONCE = 8
/** How often it is looked whether a deletion that waits for somebody can be done: milliseconds. */
const LOOK_AGAIN = 600_000

/** Follows them while the lease is this process's. */
export function followGit(service: Service, options: GitOptions): GitFollowing {
  const { usual, lease, known, drifts, tell, grounds, applied, say, failed } = options
  let wanted = new Map<string, GitSource>()
  const entries = new Map<string, Entry>()
  const stops = new Map<string, Promise<void>>()
  const opening = limited(AT_ONCE)

  const stands = (source: Followed, how: Stands) => {
    const entry = entries.get(source.name)
    if (!entry || entry.repository !== source) return
    if (how.rests) entry.source = wanted.get(source.name) ?? entry.source
    entry.found = how
    entry.handled = requestOf(entry.source)
    if (actsIn(how).length) delete entry.objects
    followApproval(entry)
    tellings.add(source.name)
  }
  const all = teams(service, lease, stands, say, failed)
  const again = (entry: Entry) => {
    if (entry.repository) all.of(entry.source.namespace).changed(entry.repository).catch(failed)
  }
  const followApproval = (entry: Entry) => {
    const { resource } = wanted.get(entry.source.name) ?? entry.source
    const asked = resource.metadata.annotations?.[APPROVED]
    const plans = waitingIn(stoodOf(entry)?.outcome)
    if (asked === undefined || asked === entry.approved || !plans.some(({ plan }) => plan === asked)) return
    entry.approved = asked
    approve(service, { actor: approverOf(resource) }, asked, false).then(() => again(entry), failed)
  }
  const stand = (entry: Entry, fault: Fault) => {
    entry.found = { fault }
    entry.handled = requestOf(entry.source)
    tellings.add(entry.source.name)
  }
  const newEntry = (source: GitSource): Entry => {
    const entry: Entry = {
      ...{ source, print: printOf(source), ending: new AbortController(), realms: [], requested: requestOf(source) },
    }
    entries.set(source.name, entry)
    return entry
  }
  /** Nothing of it runs any more when this is resolved. */
  const stop = (entry: Entry) => {
    const { name, namespace } = entry.source
    entries.delete(name)
    entry.ending.abort()
    const { repository } = entry
    if (!repository) return
    const stopped = all
      .of(namespace)
      .remove(repository)
      .then(() => repository.unwatch())
      .then(() => repository.close())
      .catch(failed)
    stops.set(name, stopped)
  }
  const open = async (entry: Entry) => {
    const { name } = entry.source
    try {
      const repository = await opening(() => openEntry(service, entry, usual, () => wanted.get(name), grounds))
      // Meanwhile it may have come to say something else.
      if (entries.get(name) !== entry) return await repository.close()
      entry.repository = repository
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      stand(entry, { reason: 'Invalid', message: words(error) })
    }
  }

  /** Follows what a namespace has, as it says it now. */
  const turn = async (namespace: string) => {
    const own = [...wanted.values()].filter((one) => one.namespace === namespace)
    for (const [name, entry] of [...entries]) {
      const source = wanted.get(name)
      if (entry.source.namespace === namespace && (!source || printOf(source) !== entry.print)) stop(entry)
    }
    if (!own.length) return all.end(namespace)
    const fresh = own.filter(({ name }) => !entries.has(name)).map(newEntry)
    for (const entry of fresh) {
      const { leaves, fault, name, resource } = entry.source
      if (leaves) ends.add(name)
      else if (fault) stand(entry, fault)
      else if (resource.status?.observedGeneration !== resource.metadata.generation) {
        entry.found = 'being read'
        tellings.add(name)
      }
    }
    const opened = await Promise.allSettled(fresh.filter(({ source }) => source.follows).map(open))
    const ready = fresh.flatMap(({ repository }) => repository ?? [])
    const follower = all.of(namespace)
    const poll = () => {
      for (const one of ready) if (entries.get(one.name)?.repository === one) one.poll(follower)
    }
    if (ready.length) follower.add(ready).then(poll).catch(failed)
    const broken = opened.find((one) => one.status === 'rejected')
    if (!broken) return
    for (const entry of fresh) if (entry.source.follows && !entry.repository && !isFault(entry.found)) stop(entry)
    throw broken.reason
  }

  /** Ends a source whose resource was deleted. */
  const end = async (name: string, failures: number): Promise<Next> => {
    const entry = entries.get(name)
    if (!entry?.source.leaves) return { failed: false }
    await stops.get(name)
    try {
      const fault = await endSource(service, entry.source, lease, grounds())
      if (fault) {
        stand(entry, fault)
        return { wait: LOOK_AGAIN, failed: false }
      }
      known.putGit(name, [])
      await tell.release(entry.source)
      return { failed: false }
    } catch (error) {
      // Somebody else has the lease, and says how it stands.
      if (isFenced(error)) return { failed: false }
      if (isRefusal(error)) stand(entry, { reason: 'StillNeeded', message: words(error) })
      else {
        if (!isOvertaken(error)) failed(error)
        entry.found = { failure: `what it states goes when this is over: ${words(error)}` }
        tellings.add(name)
      }
      return { wait: waitAfter(failures), failed: true }
    }
  }

  /** Says how it stands; what it owns is counted where that may be another number. */
  const telling = async (name: string) => {
    const entry = entries.get(name)
    if (!entry?.found) return
    const { source, found } = entry
    const counted = entry.objects === undefined && stoodOf(entry)?.outcome ? count(entry) : undefined
    const failure = await counted?.then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    // Where the store does not answer, that is what there is to say.
    const isOver = await confirmLease(service, lease).then(() => false, isFenced)
    if (isOver) return
    const own = entry.realms.flatMap((realm) => drifts.of(realm))
    await tell.say(source, (prior) => statusOfSource({ ...entry, found }, prior, own, service.clock()))
    if (failure) throw failure.error
  }
  const count = async (entry: Entry) => {
    const { name } = entry.source
    const stood = stoodOf(entry)
    entry.applied = (await appliedBy(service, [name])).applied
    known.putGit(name, entry.applied)
    // What it has made is its own from now on: nothing else may it touch.
    if (entry.grants !== undefined) entry.grants = grantsTold(entry, grounds())
    const owned = await Promise.all(entry.applied.map(({ realm }) => service.read(SYSTEM, realm, sourcesOf)))
    entry.objects = owned.flat().reduce((sum, { source, objects }) => sum + (source === name ? objects : 0), 0)
    for (const realm of stood ? actsIn(stood) : []) applied(realm)
  }
  const turns = queue(retried(async (namespace) => void (await turn(namespace)), failed))
  const ends = queue(end)
  const tellings = queue(retried(telling, (error) => void (isOvertaken(error) || failed(error))))
  const unsubscribe = service.subscribe(({ topic, name }) => {
    const entry = topic === 'source' && name !== undefined ? entries.get(name) : undefined
    if (entry?.source.leaves) ends.add(name!)
    else if (entry?.repository) all.of(entry.source.namespace).woken(name!).catch(failed)
  })

  return {
    look(sources) {
      wanted = new Map(sources.map((one) => [one.name, one]))
      for (const entry of entries.values()) if (!wanted.has(entry.source.name)) turns.add(entry.source.namespace)
      for (const source of sources) {
        const entry = entries.get(source.name)
        if (entry?.print !== printOf(source)) {
          turns.add(source.namespace)
          continue
        }
        if (requestOf(source) !== entry.requested) {
          entry.requested = requestOf(source)
          if (source.leaves) ends.add(source.name)
          else if (source.fault) {
            entry.source = source
            stand(entry, source.fault)
          } else again(entry)
        }
        followApproval(entry)
        const grants = entry.grants === undefined ? undefined : grantsTold(entry, grounds())
        if (grants !== entry.grants) {
          entry.grants = grants!
          again(entry)
        }
        if (!tell.knows(source.resource)) tellings.add(source.name)
      }
    },
    changed(realm) {
      for (const entry of entries.values()) {
        if (entry.source.leaves) ends.add(entry.source.name)
        const isRefused = stoodOf(entry)?.status.ready?.reason === 'Refused'
        if (isRefused && entry.realms.includes(realm)) again(entry)
      }
    },
    drifted(realm) {
      for (const { source, realms } of entries.values()) if (realms.includes(realm)) tellings.add(source.name)
    },
    async end() {
      unsubscribe()
      await turns.close()
      const closed = all.close()
      for (const entry of [...entries.values()]) entry.ending.abort()
      await Promise.all([closed, ends.close(), tellings.close()])
      await Promise.all(
        [...entries.values()].map(async ({ repository }) => {
          await repository?.unwatch()
          await repository?.close()
        }),
      )
      await Promise.all(stops.values())
    },
  }
}

const isFault = (found: Found | undefined) => typeof found === 'object' && 'fault' in found

/** How it stood after it was tried; undefined where it was not. */
function stoodOf({ found }: Entry): Stands | undefined {
  return typeof found === 'object' && 'status' in found ? found : undefined
}

/** The realms in which a run has done something. */
function actsIn({ outcome }: Stands): string[] {
  const acting = (outcome?.realms ?? []).filter(
    ({ plan, guarded, held }) => !guarded && !held && (plan.creates || plan.actions.length > 0),
  )
  return acting.map(({ plan }) => plan.realm)
}
