// Lists the resources of a kind page by page.
import type { ClusterClient } from './cluster-client.ts'
import type { ApiObject } from './resource.ts'

/** A page of resources, as the API server returns it. */
interface ResourcePage<R> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly R[] | null
}

/** Maximum resources of one page. */
const PAGE_SIZE = 500

/** Returns all resources at a path, and the version of the list. `selector`: a label or field selector, as a URL query. */
export async function listResources<R extends ApiObject>(
  client: ClusterClient,
  path: string,
  selector = '',
): Promise<{ readonly items: R[]; readonly resourceVersion: string }> {
  const listed: R[] = []
  for (let page = ''; ; ) {
    const query = `limit=${PAGE_SIZE}&${selector}${page}`
    const { items, metadata } = await client.request<ResourcePage<R>>('GET', `${path}?${query}`)
    listed.push(...(items ?? []))
    if (!metadata.continue) return { items: listed, resourceVersion: metadata.resourceVersion }
    page = `&continue=${encodeURIComponent(metadata.continue)}`
  }
}
