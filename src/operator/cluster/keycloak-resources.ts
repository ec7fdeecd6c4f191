// Watches the resources of Keycloak's operator for realms and clients, in a version that the cluster serves, while their definition exists.
import type { ClusterClient } from './cluster-client.ts'
import { Informer, type InformerHandler, type ResourceCache } from './informer.ts'
import type { ApiObject } from './resource.ts'

const GROUP = 'k8s.keycloak.org'

/** The resources that Regent reads, by their kind. */
export const keycloakPlurals: Readonly<Record<string, string>> = {
  KeycloakRealmImport: 'keycloakrealmimports',
  KeycloakOIDCClient: 'keycloakoidcclients',
  KeycloakSAMLClient: 'keycloaksamlclients',
}

/** The versions that Regent reads, in order of preference. */
const VERSIONS = ['v2beta1', 'v2alpha1']

/** A CustomResourceDefinition. */
interface Definition extends ApiObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** The informer of one version. */
interface VersionInformer {
  readonly version: string
  readonly informer: Informer
  readonly abort: AbortController
}

/** Watches resources of Keycloak's operator until the signal is aborted. There are none until their CRD is installed, which is watched. */
export function watchKeycloakResources(
  client: ClusterClient,
  plural: string,
  { handler, signal }: { readonly handler: InformerHandler; readonly signal: AbortSignal },
): Pick<ResourceCache, 'resources' | 'synced'> {
  let current: VersionInformer | undefined
  const startInformer = (version: string): VersionInformer => {
    const abort = new AbortController()
    const path = `/apis/${GROUP}/${version}/${plural}`
    const informer = new Informer(client, { path, handler, signal: AbortSignal.any([signal, abort.signal]) })
    return { version, informer, abort }
  }
  const followDefinition = () => {
    const [definition] = definitions.resources.values()
    const versions = listServedVersions(definition)
    const version = current && versions.includes(current.version) ? current.version : versions[0]
    if (version === current?.version) return
    current?.abort.abort()
    current = version === undefined ? undefined : startInformer(version)
    handler.onChange()
  }
  const definitions: ResourceCache<Definition> = new Informer<Definition>(client, {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    selector: `fieldSelector=${encodeURIComponent(`metadata.name=${plural}.${GROUP}`)}`,
    handler: { ...handler, onChange: followDefinition },
    signal,
  })
  return {
    get resources() {
      return current?.informer.resources ?? new Map()
    },
    synced: definitions.synced.then(() => current?.informer.synced),
  }
}

/** Returns the versions that Regent reads and the API server serves. */
function listServedVersions(definition: Definition | undefined): string[] {
  if (!definition) return []
  const { spec, status } = definition
  const isEstablished = status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  return VERSIONS.filter(
    (version) => isEstablished && spec.versions.some(({ name, served }) => served && name === version),
  )
}
