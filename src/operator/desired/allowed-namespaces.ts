// Decides which namespaces may declare objects of a realm, and which admin roles they may grant.
import type { AdminRole } from '../../kinds/admin-roles.ts'
import type { SourcePermissions } from '../../service/context/admin-permissions.ts'
import type { Resource } from '../cluster/resource.ts'

/** An element of `spec.allowedNamespaces` of a Realm, which selects namespaces by name or by labels. */
interface AllowedNamespace {
  readonly name?: string
  readonly selector?: LabelSelector
  readonly roles?: readonly AdminRole[]
}

/** A label selector of Kubernetes. */
interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[]
}

type Labels = Readonly<Record<string, string>>

/**
 * Returns the admin roles that resources in a namespace may grant in a realm, without `roles` in the namespace of the realm itself,
 * which may grant all. Undefined if the realm does not allow the namespace.
 */
export function findNamespacePermissions(
  realm: Resource,
  namespace: string,
  labels: Labels,
): Pick<SourcePermissions, 'roles'> | undefined {
  if (realm.metadata.namespace === namespace) return {}
  const allowedNamespaces = (realm.spec?.allowedNamespaces ?? []) as readonly AllowedNamespace[]
  const matching = allowedNamespaces.filter(({ name, selector }) =>
    name === undefined ? selector !== undefined && matchesSelector(selector, labels) : name === namespace,
  )
  return matching.length ? { roles: [...new Set(matching.flatMap(({ roles = [] }) => roles))] } : undefined
}

/** Returns the realms and roles that both permissions contain. An absent list contains everything. */
export function intersectPermissions(first: SourcePermissions, second: SourcePermissions = {}): SourcePermissions {
  const realms = intersect(first.realms, second.realms)
  const roles = intersect(first.roles, second.roles)
  return { ...(realms && { realms }), ...(roles && { roles }) }
}

function intersect<T>(first: readonly T[] | undefined, second: readonly T[] | undefined): readonly T[] | undefined {
  return first && second ? first.filter((element) => second.includes(element)) : (first ?? second)
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
