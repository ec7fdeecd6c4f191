// Which namespaces may state something in a realm, and which administrative power that may give.
import type { AdminRole } from '../../kinds/admin-roles.ts'
import type { SourcePermissions } from '../../service/context/admin-permissions.ts'
import type { Resource } from '../resource.ts'

/** A namespace that a realm admits: by name, or by labels. */
interface Admitted {
  readonly name?: string
  readonly selector?: Selector
  readonly roles?: readonly AdminRole[]
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[]
}

type Labels = Readonly<Record<string, string>>

/**
 * The roles that what is stated in the namespace may give at most; undefined where the realm does not admit it. `roles`
 * undefined: all of them, in the namespace of the realm itself.
 */
export function admitted(
  realm: Resource,
  namespace: string,
  labels: Labels,
): { roles?: readonly AdminRole[] } | undefined {
  if (realm.metadata.namespace === namespace) return {}
  const all = (realm.spec?.allowedNamespaces ?? []) as readonly Admitted[]
  const fitting = all.filter(({ name, selector }) =>
    name === undefined ? selector !== undefined && selects(selector, labels) : name === namespace,
  )
  return fitting.length ? { roles: [...new Set(fitting.flatMap(({ roles = [] }) => roles))] } : undefined
}

/** What both of two limits let touch and give. */
export function underBoth(one: SourcePermissions, other: SourcePermissions = {}): SourcePermissions {
  const both = <T>(these: readonly T[] | undefined, those: readonly T[] | undefined) =>
    these && those ? these.filter((each) => those.includes(each)) : (these ?? those)
  const [realms, roles] = [both(one.realms, other.realms), both(one.roles, other.roles)]
  return { ...(realms && { realms }), ...(roles && { roles }) }
}

/** Whether the labels are as the selector says; one that says nothing selects all. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key in labels
      if (operator === 'DoesNotExist') return !(key in labels)
      const isOne = key in labels && values.includes(labels[key]!)
      return operator === 'In' ? isOne : !isOne
    })
  )
}
