// The permissions of a git source in each realm: those of the other resources of its namespace.
import type { Document } from '../../realm-file/yaml/document.ts'
import { DocumentError, type DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { getRealmName } from '../../reconcile/merge/merge-sources.ts'
import { intersectSourcePermissions, type SourcePermissions } from '../../service/context/source-permissions.ts'
import { findNamespacePermissions } from '../desired/allowed-namespaces.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { toSourceName } from '../desired/source-name.ts'

/** The state of the cluster and of the store that permissions of sources are computed from. */
export interface PermissionInputs {
  readonly realms: ReadonlyMap<string, ClusterRealm>
  readonly getNamespaceLabels: (namespace: string) => Readonly<Record<string, string>>
  /** Finds the namespace that created the realm, by a resource or a git source. */
  readonly findOwnerNamespace: (realm: string) => string | undefined
  /** Finds the permissions of a source in the settings of the server. */
  readonly findSourcePermissions: (source: string) => SourcePermissions | undefined
  /** Whether the server's settings permit a namespace to adopt or observe an existing realm. */
  readonly isAdoptable: (namespace: string, realm: string) => boolean
}

/** The permissions of a namespace in one realm, or the reason why it may not declare it. */
export type RealmPermissions = { readonly permissions: SourcePermissions } | { readonly refusal: string }

/** Returns the permissions of a namespace in a realm. `exists`: the realm is in the store. */
export function getRealmPermissions(
  namespace: string,
  { name, exists }: { readonly name: string; readonly exists: boolean },
  { realms, getNamespaceLabels, findOwnerNamespace, findSourcePermissions, isAdoptable }: PermissionInputs,
): RealmPermissions {
  const realmResource = realms.get(name)?.owner
  const owner = realmResource?.namespace ?? namespace
  if (realmResource?.removal)
    return { refusal: `the realm ${name} is being deleted, since ${realmResource.file} was deleted` }
  if (exists && findOwnerNamespace(name) !== owner && !isAdoptable(owner, name)) {
    const setting = `--adoptable-realms ${owner}=${name}`
    return {
      refusal: `the realm ${name} exists and was not created by the namespace ${owner}: adopt it with the server setting ${setting}, or declare another realm`,
    }
  }
  const allowed = realmResource
    ? findNamespacePermissions(realmResource.resource, namespace, getNamespaceLabels(namespace))
    : {}
  if (!allowed) {
    const solution = `add it to allowedNamespaces of ${realmResource!.file}`
    return { refusal: `the realm ${name} does not admit the namespace ${namespace}: ${solution}` }
  }
  if (!exists && owner !== namespace)
    return { refusal: `the realm ${name} of ${realmResource!.file} is not created yet` }
  const configured = findSourcePermissions(toSourceName(namespace))
  if (configured?.realms && !configured.realms.includes(name)) {
    const setting = `the server setting --source-permissions of ${toSourceName(namespace)}`
    return { refusal: `the namespace ${namespace} may not declare the realm ${name}: ${setting} does not list it` }
  }
  return { permissions: intersectSourcePermissions(allowed, configured) }
}

/**
 * Returns the permissions of a source: the realms that it may declare, of those that it declares or has applied before, and the
 * roles that it may grant in all of them. Throws DocumentError where it declares another realm.
 */
export function getGitSourcePermissions(
  documents: readonly Document[],
  appliedRealms: readonly string[],
  getPermissions: (realm: string) => RealmPermissions,
): SourcePermissions {
  const byRealm = new Map(
    [...documents.map(getRealmName), ...appliedRealms].map((realm) => [realm, getPermissions(realm)]),
  )
  const problems = documents.flatMap((document): DocumentProblem[] => {
    const permissions = byRealm.get(getRealmName(document))!
    return 'refusal' in permissions ? [{ position: document.start, message: permissions.refusal }] : []
  })
  if (problems.length) throw new DocumentError(problems)
  const permitted = [...byRealm].flatMap(([realm, result]) =>
    'permissions' in result ? [{ realm, permissions: result.permissions }] : [],
  )
  const realms = permitted.map(({ realm }) => realm).sort()
  return permitted.reduce<SourcePermissions>(
    (all, { realm, permissions: { roles, tenant } }) =>
      intersectSourcePermissions(all, {
        ...(roles && { roles }),
        ...(tenant && { tenant: tenant.map((permissions) => ({ ...permissions, realm })) }),
      }),
    { realms },
  )
}
