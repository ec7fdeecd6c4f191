// The permissions that Realms of the cluster give to sources of other namespaces, for requests that name such a source. Pure.
import { type SourcePermissions, toTenantPermissions } from '../../service/context/source-permissions.ts'
import { findNamespacePermissions } from './allowed-namespaces.ts'
import type { ClusterRealm } from './desired-realms.ts'
import { parseSourceName } from './source-name.ts'

/** Returns the permissions of a source in Kubernetes in the realms of other namespaces; undefined for other sources. */
export function findClusterPermissions(
  source: string,
  realms: Iterable<ClusterRealm>,
  getNamespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): SourcePermissions | undefined {
  const namespace = parseSourceName(source)?.namespace
  if (namespace === undefined) return undefined
  const labels = getNamespaceLabels(namespace)
  const tenant = [...realms].flatMap(({ name, owner }) => {
    if (!owner) return []
    const { tenant = [] } = findNamespacePermissions(owner.resource, namespace, labels) ?? NOT_ADMITTED
    return tenant.map((permissions) => ({ ...permissions, realm: name }))
  })
  return { ...(tenant.length && { tenant }) }
}

const NOT_ADMITTED: SourcePermissions = { tenant: [toTenantPermissions([])] }
