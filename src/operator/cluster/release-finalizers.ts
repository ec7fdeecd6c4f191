// Removes the finalizers of Regent's resources, so that they and their namespaces can be deleted without the operator.
import { kinds } from '../../kinds/index.ts'
import { API_VERSION } from '../../kinds/resource-kinds.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import { listResources } from './list-resources.ts'
import { FINALIZER, type Resource } from './resource.ts'
import { getResourceNames, realmSourceNames } from './resource-names.ts'
import { isConflict, ResourceWriter } from './resource-writer.ts'
import { toListRequests, type WatchScope } from './watch-scope.ts'

/** Attempts to remove the finalizers of resources that change meanwhile. */
const MAX_ATTEMPTS = 5

/** The released resources of a kind. */
export interface ReleasedKind {
  readonly kind: string
  readonly count: number
}

/**
 * Removes the finalizers of the resources of a class in some namespaces, or in all. Their objects stay live, and unmanaged. An operator that applies
 * a namespace adds them again.
 *
 * @throws ClusterError if the API server refuses a request
 */
export async function releaseFinalizers(
  client: ClusterClient,
  scope: Pick<WatchScope, 'namespaces' | 'className'>,
): Promise<ReleasedKind[]> {
  const names = [...Object.values(kinds).map(getResourceNames), realmSourceNames]
  const released: ReleasedKind[] = []
  for (const { kind, plural } of names)
    released.push({ kind, count: await releaseKind(client, { kind, plural, scope }) })
  return released.filter(({ count }) => count > 0)
}

/** Removes the finalizers of the resources of a kind, and returns their number. A kind that is not installed has none. */
async function releaseKind(
  client: ClusterClient,
  { kind, plural, scope }: { readonly kind: string; readonly plural: string; readonly scope: WatchScope },
): Promise<number> {
  const writer = new ResourceWriter(client, () => {})
  const released = new Set<string>()
  for (let attempt = 1; ; attempt++) {
    const remaining = (await listInstalled(client, plural, scope)).filter(({ metadata }) =>
      metadata.finalizers?.includes(FINALIZER),
    )
    const results = await Promise.allSettled(
      // Elements of lists have no kind.
      remaining.map((resource) => writer.removeFinalizer({ ...resource, apiVersion: API_VERSION, kind })),
    )
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    for (const [at, { metadata }] of remaining.entries())
      if (results[at]!.status === 'fulfilled') released.add(metadata.uid)
    if (!failures.length) return released.size
    if (attempt === MAX_ATTEMPTS || failures.some((failure) => !isConflict(failure))) throw failures[0]
  }
}

async function listInstalled(client: ClusterClient, plural: string, scope: WatchScope): Promise<Resource[]> {
  const requests = toListRequests({ group: `/apis/${API_VERSION}`, plural }, scope)
  try {
    const lists = await Promise.all(
      requests.map(({ path, selector }) => listResources<Resource>(client, path, selector)),
    )
    return lists.flatMap(({ items }) => items)
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return []
    throw error
  }
}
