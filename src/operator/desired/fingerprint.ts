// Detects whether a realm must be reconciled: by a digest of everything that its reconciliation depends on. Pure.
import { createHash } from 'node:crypto'
import { ADOPT_ANNOTATION, APPROVED_PLAN_ANNOTATION, RECONCILE_REQUEST_ANNOTATION } from '../cluster/resource.ts'
import type { DeclaringResource } from './declaring-resource.ts'
import type { SkipReason } from './dependencies.ts'
import type { ClusterRealm } from './desired-realms.ts'

/** Other inputs of a reconciliation than the realm itself. */
interface FingerprintInput {
  /** Files of unresolved resources, by namespace. */
  readonly unresolved: ReadonlyMap<string, readonly string[]>
  readonly skipReason: SkipReason | undefined
}

/** Returns a digest that changes whenever the realm must be reconciled. */
export function getFingerprint(realm: ClusterRealm, { unresolved, skipReason }: FingerprintInput): string {
  const namespaces = [...realm.sourcePermissions.keys()].sort()
  const hash = createHash('sha256').update(
    JSON.stringify([
      [...realm.sourcePermissions],
      namespaces.map((namespace) => unresolved.get(namespace) ?? []),
      realm.settings,
      realm.owner?.resource.spec?.allowedNamespaces,
      skipReason,
    ]),
  )
  for (const resource of realm.resources) hash.update(JSON.stringify(listInputs(resource)))
  return hash.digest('hex')
}

function listInputs({ resource, file, declaration, fault, removal }: DeclaringResource): unknown[] {
  const { uid, generation, annotations = {} } = resource.metadata
  return [
    ...[file, uid, generation, declaration?.document.digest, fault, removal],
    ...[RECONCILE_REQUEST_ANNOTATION, APPROVED_PLAN_ANNOTATION, ADOPT_ANNOTATION].map((name) => annotations[name]),
  ]
}
