// Keeps what there is of one kind of resources: a list, and a watch that goes on from it, also after it was interrupted.
import { setTimeout as after } from 'node:timers/promises'
import { backOff } from '../lib/back-off.ts'
import { type Cluster, ClusterError } from './cluster.ts'
import type { Resource } from './resource.ts'

/** What is kept of one kind, by namespace and name. */
export interface Kept {
  readonly resources: ReadonlyMap<string, Resource>
  /** Resolves when everything that there is was seen once, or nobody looks any more. */
  readonly seen: Promise<void>
  /** Keeps what the API server answered to a write, so that nobody works with what was there before. */
  put(resource: Resource): void
}

/** Who wants to know. */
export interface Told {
  /** Something is not as it was, or is known again after it could not be asked for. */
  changed(): void
  /** The API server cannot be asked: it is asked again. Told once as long as it is for the same reason. */
  failed(error: unknown): void
  /** There is no such kind: what was seen of it before stays, and it is looked for again. */
  readonly absent?: (() => void) | undefined
}

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly Resource[] | null
}

interface Event {
  readonly type: string
  /** Of an ERROR, what the API server says instead. */
  readonly object: Resource & { readonly code?: number; readonly message?: string }
}

const PAGE = 500
/** Milliseconds until it is asked again, at first and at most. */
const [FIRST, LONGEST] = [250, 10_000]
/** Seconds after which a watch is begun anew, from where it was: so they do not all end together. */
const lifetime = () => 240 + Math.round(Math.random() * 120)

/**
 * Watches the resources at the path until it is told to end. `fields`: further parameters, such as a selector. What is not
 * served, since its definition is not there, is taken for none, and looked for again.
 */
export function watchKind(cluster: Cluster, path: string, fields: string, told: Told, signal: AbortSignal): Kept {
  const resources = new Map<string, Resource>()
  const { promise: seen, resolve: allSeen } = Promise.withResolvers<void>()
  const keyOf = ({ metadata: { namespace, name } }: Resource) => `${namespace ?? ''}/${name}`
  const keep = (now: Resource) => {
    resources.set(keyOf(now), now)
    told.changed()
  }
  /** What was written may be known before the watch tells of what was there until then. */
  const advance = (now: Resource) => {
    const before = resources.get(keyOf(now))
    if (before?.metadata.uid !== now.metadata.uid || isLater(now, before)) keep(now)
  }
  const remove = (key: string) => {
    resources.delete(key)
    told.changed()
  }

  const list = async (): Promise<string> => {
    const all: Resource[] = []
    const known = new Map(resources)
    for (let rest = ''; ; ) {
      const page = await cluster.ask<List>('GET', `${path}?limit=${PAGE}&${fields}${rest}`)
      all.push(...(page.items ?? []))
      const { resourceVersion, continue: more } = page.metadata
      if (!more) {
        const there = new Set(all.map(keyOf))
        for (const key of [...resources.keys()]) if (!there.has(key)) remove(key)
        for (const one of all) {
          const now = resources.get(keyOf(one))
          // It may also be what was there earlier, where the cluster was restored; but what was written meanwhile is later.
          if (now !== known.get(keyOf(one))) advance(one)
          else if (!isSame(one, now)) keep(one)
        }
        told.changed()
        allSeen()
        return resourceVersion
      }
      rest = `&continue=${encodeURIComponent(more)}`
    }
  }

  /**
   * Goes on until the watch ends or breaks off; gives where to go on, if it has told anything. Throws where it is refused, or over
   * at once.
   */
  const follow = async (from: string): Promise<string | undefined> => {
    let version = from
    let hasTold = false
    const begun = performance.now()
    const isOverAtOnce = () => !hasTold && performance.now() - begun < LONGEST
    let refused: ClusterError | undefined
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${lifetime()}&resourceVersion=${version}&${fields}`
    const line = (text: string) => {
      const { type, object } = eventIn(text)
      if (type === 'ERROR') {
        refused = new ClusterError(object.code ?? 500, object.message ?? 'the watch has failed')
        return
      }
      hasTold = true
      version = object.metadata.resourceVersion
      if (type === 'DELETED') remove(keyOf(object))
      else if (type !== 'BOOKMARK') advance(object)
    }
    await cluster.lines(`${path}?${query}`, line, signal).catch((error: unknown) => {
      if (isOverAtOnce()) throw error
    })
    if (refused) throw refused
    if (isOverAtOnce()) throw new Error(`${path}: the watch was over at once`)
    return hasTold ? version : undefined
  }

  const run = async () => {
    let version: string | undefined
    let failures = 0
    let reason: string | undefined
    while (!signal.aborted) {
      try {
        version ??= await list()
        version = await follow(version)
        failures = 0
        reason = undefined
      } catch (error) {
        if (signal.aborted) return
        failures++
        const status = error instanceof ClusterError ? error.status : 500
        // Who does not answer may have another state when it does; who only refuses has the same.
        if ([404, 410].includes(status) || status >= 500) version = undefined
        if (status === 404) allSeen()
        // What is over with the next try nobody need know.
        if (failures > 1 && String(error) !== reason) {
          reason = String(error)
          if (status === 404) told.absent?.()
          else told.failed(error)
        }
      }
      await after(backOff(failures || 1, FIRST, LONGEST), undefined, { signal }).catch(() => undefined)
    }
  }
  void run().finally(allSeen)
  const put = (now: Resource) => {
    // The watch may have been faster with what came later, or with that it is gone.
    const before = resources.get(keyOf(now))
    if (before?.metadata.uid === now.metadata.uid && isLater(now, before)) keep(now)
  }
  return { resources, seen, put }
}

function eventIn(line: string): Event {
  try {
    return JSON.parse(line) as Event
  } catch {
    throw new Error('a watch broke off within a line')
  }
}

const isLater = (now: Resource, before: Resource) =>
  BigInt(now.metadata.resourceVersion) > BigInt(before.metadata.resourceVersion)

const isSame = ({ metadata }: Resource, before: Resource | undefined) =>
  metadata.uid === before?.metadata.uid && metadata.resourceVersion === before.metadata.resourceVersion
