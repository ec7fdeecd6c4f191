// Decides which namespaces may declare objects of a realm, which objects, and which roles they may grant.
import { type SourcePermissions, toTenantPermissions } from '../../service/context/source-permissions.ts'
import type { Resource } from '../cluster/resource.ts'
import { isObservingRealm } from './declaring-resource.ts'

/** An element of `spec.allowedNamespaces` of a Realm, which selects namespaces by name or by labels. */
interface AllowedNamespace {
  readonly name?: string
  readonly selector?: LabelSelector
  readonly kinds?: readonly string[]
  readonly names?: readonly string[]
  readonly roles?: readonly string[]
}

/** A label selector of Kubernetes. */
interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[]
}

type Labels = Readonly<Record<string, string>>

/**
 * Returns the permissions of the resources in a namespace in a realm: those of a tenant, or none in the namespace of the realm itself,
 * which may declare all. Undefined if the realm does not allow the namespace.
 */
export function findNamespacePermissions(
  realm: Resource,
  namespace: string,
  labels: Labels,
): Pick<SourcePermissions, 'tenant'> | undefined {
  if (realm.metadata.namespace === namespace && !isObservingRealm(realm)) return {}
  const allowedNamespaces = (realm.spec?.allowedNamespaces ?? []) as readonly AllowedNamespace[]
  const matching = allowedNamespaces.filter(({ name, selector }) =>
    name === undefined ? selector !== undefined && matchesSelector(selector, labels) : name === namespace,
  )
  return matching.length ? { tenant: [toTenantPermissions(matching)] } : undefined
}

/** Whether the labels match the selector. An empty selector matches all labels. */
function matchesSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key in labels
      if (operator === 'DoesNotExist') return !(key in labels)
      const isIncluded = key in labels && values.includes(labels[key]!)
      return operator === 'In' ? isIncluded : !isIncluded
    })
  )
}
