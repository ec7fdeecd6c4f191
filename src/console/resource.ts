// Data of the API that a page shows, read again when it changes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { CallError, call } from './api.ts'
import { onChange, type Topic } from './live.ts'

/** Data and its state. While it is read again, the previous data and error remain. */
export interface RemoteData<T> {
  readonly data: T | undefined
  readonly error: CallError | undefined
  readonly isLoading: boolean
  reload(): void
}

/** The changes after which data is read again: of these topics, in this realm if there is one. */
export interface ResourceOptions {
  readonly topics?: readonly Topic[]
  readonly realm?: string
}

interface ResourceState<T> {
  readonly path: string | undefined
  readonly data?: T
  readonly error?: CallError
  readonly isLoading: boolean
}

/** Reads a path of the API; without one, nothing. */
export function useResource<T>(path: string | undefined, { topics = [], realm }: ResourceOptions = {}): RemoteData<T> {
  const [state, setState] = useState<ResourceState<T>>({ path, isLoading: path !== undefined })
  const load = useRef(() => {})
  const observed = topics.join()
  useEffect(() => {
    if (path === undefined) return setState({ path, isLoading: false })
    const controller = new AbortController()
    let isLoading = false
    let isOutdated = false
    const read = async () => {
      if (isLoading) {
        isOutdated = true
        return
      }
      isLoading = true
      do {
        isOutdated = false
        setState((before) => (before.path === path ? { ...before, isLoading: true } : { path, isLoading: true }))
        const result = await call<T>(path, { signal: controller.signal }).then(
          (data) => ({ data }),
          (error: unknown) => ({ error: error instanceof CallError ? error : new CallError(0, String(error)) }),
        )
        if (controller.signal.aborted) return
        setState((before) => ({
          path,
          isLoading: false,
          ...(before.data !== undefined && before.path === path && { data: before.data }),
          ...result,
        }))
      } while (isOutdated)
      isLoading = false
    }
    load.current = () => void read()
    void read()
    const stop = onChange((change) => {
      const isObserved = change.topic === 'everything' || observed.split(',').includes(change.topic)
      if (isObserved && (realm === undefined || change.realm === undefined || change.realm === realm)) void read()
    })
    return () => {
      stop()
      controller.abort()
    }
  }, [path, observed, realm])
  const current = state.path === path ? state : { isLoading: path !== undefined }
  return {
    data: 'data' in current ? current.data : undefined,
    error: 'error' in current ? current.error : undefined,
    isLoading: current.isLoading,
    reload: () => load.current(),
  }
}

/** Elements that are read at once. */
const PAGE = 100

/** A list that is read page by page. */
export interface PagedData<T> extends RemoteData<readonly T[]> {
  readonly hasMore: boolean
  showMore(): void
}

/** Returns the query that selects the page after some elements. */
export type PageQuery<T> = (items: readonly T[], max: number) => string

const byNumber: PageQuery<unknown> = ({ length }, max) => `first=${length}&max=${max}`

/** Reads the first page of a list, and further ones on demand. `path` has a query. */
export function usePages<T>(path: string, realm?: string, toQuery: PageQuery<T> = byNumber): PagedData<T> {
  const first = useResource<readonly T[]>(`${path}&${toQuery([], PAGE)}`, {
    topics: ['revisions'],
    ...(realm !== undefined && { realm }),
  })
  const [further, setFurther] = useState<{
    readonly path: string
    readonly items: readonly T[]
    readonly isLast: boolean
  }>()
  const followingPages = further?.path === path ? further : { path, items: [], isLast: false }
  const items = first.data && [...first.data, ...followingPages.items]
  const showMore = async () => {
    const next = await call<readonly T[]>(`${path}&${toQuery(items ?? [], PAGE)}`)
    setFurther({ path, items: [...followingPages.items, ...next], isLast: next.length < PAGE })
  }
  const hasMore = (first.data?.length ?? 0) === PAGE && !followingPages.isLast
  return { ...first, data: items, hasMore, showMore: () => void showMore().catch(first.reload) }
}
