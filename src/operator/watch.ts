// Keeps what there is of one kind of resources: a list, and a watch that goes on from it, also after it was interrupted.
import { setTimeout as after } from 'node:timers/promises'
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
  /** Something is not as it was. */
  changed(before: Resource | undefined, now: Resource | undefined): void
  /** The API server cannot be asked: it is asked again. */
  failed(error: unknown): void
}

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly Resource[] | null
}

const PAGE = 500
/** Milliseconds. */
const [FIRST, LONGEST] = [250, 30_000]
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
  const set = (now: Resource) => {
    const before = resources.get(keyOf(now))
    if (before?.metadata.resourceVersion === now.metadata.resourceVersion) return
    resources.set(keyOf(now), now)
    told.changed(before, now)
  }
  const remove = (key: string) => {
    const before = resources.get(key)
    resources.delete(key)
    told.changed(before, undefined)
  }

  const list = async (): Promise<string> => {
    const all: Resource[] = []
    for (let rest = ''; ; ) {
      const page = await cluster.ask<List>('GET', `${path}?limit=${PAGE}&${fields}${rest}`)
      all.push(...(page.items ?? []))
      const { resourceVersion, continue: more } = page.metadata
      if (!more) {
        const there = new Set(all.map(keyOf))
        for (const key of [...resources.keys()]) if (!there.has(key)) remove(key)
        for (const one of all) set(one)
        return resourceVersion
      }
      rest = `&continue=${encodeURIComponent(more)}`
    }
  }

  /** Goes on until the watch ends; gives where to go on. Throws ClusterError 410 where that is forgotten. */
  const follow = async (from: string): Promise<string> => {
    let version = from
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${lifetime()}&resourceVersion=${version}&${fields}`
    let broken: ClusterError | undefined
    const line = (text: string) => {
      const { type, object } = JSON.parse(text) as {
        type: string
        object: Resource & { code?: number; message?: string }
      }
      if (type === 'ERROR') {
        broken = new ClusterError(object.code ?? 500, object.message ?? 'the watch has failed')
        return
      }
      version = object.metadata.resourceVersion
      if (type === 'DELETED') remove(keyOf(object))
      else if (type !== 'BOOKMARK') set(object)
    }
    try {
      await cluster.lines(`${path}?${query}`, line, signal)
    } catch (error) {
      // Where it breaks off, it goes on.
      if (version === from) throw error
    }
    if (broken) throw broken
    return version
  }

  const run = async () => {
    let version: string | undefined
    for (let failures = 0; !signal.aborted; ) {
      try {
        version ??= await list()
        allSeen()
        version = await follow(version)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        const status = error instanceof ClusterError ? error.status : undefined
        if (status === 410) version = undefined
        else if (status === 404) allSeen()
        else told.failed(error)
        // What was defined just now is served a moment later.
        const longest = Math.min(LONGEST, FIRST * 2 ** failures++)
        await after(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
      }
    }
  }
  void run().finally(allSeen)
  const put = (now: Resource) => {
    const before = resources.get(keyOf(now))
    // The watch may have been faster: with what came later, or that it is gone.
    const isNew = before && BigInt(now.metadata.resourceVersion) > BigInt(before.metadata.resourceVersion)
    if (isNew && before.metadata.uid === now.metadata.uid) set(now)
  }
  return { resources, seen, put }
}
