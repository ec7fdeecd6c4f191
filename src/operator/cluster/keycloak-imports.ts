// Imports of Keycloak's operator, watched in one of their versions as long as the cluster knows them.
import type { Cluster } from './cluster.ts'
import type { Resource } from './resource.ts'
import { type Kept, ResourceWatch, type Told } from './watch.ts'

/** What defines them. Nobody has to look again and again whether it is there: that is watched too. */
const DEFINITION = 'keycloakrealmimports.k8s.keycloak.org'
/** Versions that Regent reads, the best one first: they say the same. */
const VERSIONS = ['v2beta1', 'v2alpha1']

interface Served {
  readonly version: string
  readonly kept: Kept
  readonly ending: AbortController
}

/** Watches them until it is told to end. There are none while nothing defines them. */
export function watchImports(cluster: Cluster, told: Told, signal: AbortSignal): Pick<Kept, 'resources' | 'seen'> {
  let served: Served | undefined
  const follow = (definition: Resource | undefined) => {
    const versions = versionsOf(definition)
    const version = served && versions.includes(served.version) ? served.version : versions[0]
    if (version === served?.version) return
    served?.ending.abort()
    served = version === undefined ? undefined : watched(version)
    told.changed()
  }
  const watched = (version: string): Served => {
    const ending = new AbortController()
    const path = `/apis/k8s.keycloak.org/${version}/keycloakrealmimports`
    return {
      version,
      kept: new ResourceWatch(cluster, { path, told, signal: AbortSignal.any([signal, ending.signal]) }),
      ending,
    }
  }
  const definitions: Kept = new ResourceWatch(cluster, {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    fields: `fieldSelector=${encodeURIComponent(`metadata.name=${DEFINITION}`)}`,
    told: { ...told, changed: () => follow([...definitions.resources.values()][0]) },
    signal,
  })
  return {
    get resources() {
      return served?.kept.resources ?? new Map()
    },
    seen: definitions.seen.then(() => served?.kept.seen),
  }
}

/** A definition, as far as it says what is served. */
interface Definition {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Those that the API server answers. */
function versionsOf(definition: Resource | undefined): string[] {
  if (!definition) return []
  const { spec, status } = definition as unknown as Definition
  const isThere = status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True')
  return VERSIONS.filter((version) => isThere && spec.versions.some((one) => one.served && one.name === version))
}
