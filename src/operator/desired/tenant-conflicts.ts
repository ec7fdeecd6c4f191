// Conflicts between namespaces that declare the same object of a realm: only one of them declares it. Pure.
import { kinds } from '../../kinds/index.ts'
import { listResourceNames } from '../../kinds/resource-kinds.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import { listDeclaredObjects } from '../../reconcile/merge/desired-realm.ts'
import { describeSource } from '../../service/sources/describe-source.ts'
import type { DeclaringResource } from './declaring-resource.ts'
import type { ClusterRealm } from './desired-realms.ts'
import type { ResourceFault } from './resource-fault.ts'
import { toSourceName } from './source-name.ts'

/**
 * Returns the faults of resources that declare an object of another namespace, by file. The namespace of the realm has precedence, then
 * resources that were applied before, then older ones. `faults`: resources that cannot be applied in any case, and claim nothing.
 */
export function findTenantConflicts(
  realm: ClusterRealm,
  faults: ReadonlyMap<string, ResourceFault>,
): [file: string, fault: ResourceFault][] {
  const { name, owner, resources } = realm
  const hasTenants = resources.some(({ namespace }) => namespace !== owner?.namespace)
  if (!owner || !hasTenants) return []
  const claims = new Map<string, DeclaringResource>()
  const conflicts = new Map<string, ResourceFault>()
  for (const declaring of sortByPrecedence(resources, owner.namespace)) {
    const { declaration, file, namespace } = declaring
    if (!declaration || faults.has(file)) continue
    const objects = listDeclaredObjects(declaration.document)
    const claim = objects.find(({ kind, key }) => {
      const other = claims.get(formatAddress(kind, key))
      return other && other.namespace !== namespace
    })
    if (claim) {
      const { kind, key } = claim
      const [resource] = listResourceNames(kinds[kind])
      const other = claims.get(formatAddress(kind, key))!
      const subject = `${describeSource(toSourceName(namespace))} may not declare ${resource} in realm ${name}`
      const message = `${subject}: ${describeObject(kind, key)} is declared by ${other.file}`
      conflicts.set(file, { reason: 'NotAdmitted', message })
      continue
    }
    for (const { kind, key } of objects) {
      const address = formatAddress(kind, key)
      if (!claims.has(address)) claims.set(address, declaring)
    }
  }
  return [...conflicts]
}

function sortByPrecedence(resources: readonly DeclaringResource[], owner: string): DeclaringResource[] {
  const getSortKey = ({ namespace, resource, file }: DeclaringResource) => {
    const precedence = namespace === owner ? 0 : resource.status?.lastAppliedRevision === undefined ? 2 : 1
    return [precedence, resource.metadata.creationTimestamp, file].join()
  }
  const keyed = resources.map((declaring) => [getSortKey(declaring), declaring] as const)
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, declaring]) => declaring)
}
