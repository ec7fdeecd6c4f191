// Which realms a source in git may touch, and which administrative power it may give there: as much as a resource of its namespace.
import type { Document } from '../../realm-file/yaml/document.ts'
import { DocumentError, type DocumentProblem } from '../../realm-file/yaml/problem.ts'
import { getRealmName } from '../../reconcile/merge/merge-sources.ts'
import type { SourcePermissions } from '../../service/context/admin-permissions.ts'
import { admitted, underBoth } from '../admission/admission.ts'
import { type RealmOf, sourceOf } from '../desired.ts'

/** What decides that. */
export interface Grounds {
  readonly realms: ReadonlyMap<string, RealmOf>
  readonly labels: (namespace: string) => Readonly<Record<string, string>>
  /** The namespace that has stated the realm itself before. */
  readonly holderOf: (realm: string) => string | undefined
  /** What a source may touch, as the server's settings limit it. */
  readonly limitOf: (source: string) => SourcePermissions | undefined
}

/** Which roles may be given in the realm, or why it may not be touched. */
export type Grant = { readonly ceiling: SourcePermissions } | { readonly refusal: string }

/** What the namespace may do in the realm. `exists`: it is there. */
export function grantOf(namespace: string, realm: string, exists: boolean, grounds: Grounds): Grant {
  const { realms, labels, holderOf, limitOf } = grounds
  const holder = realms.get(realm)?.holder
  const owner = holder?.namespace ?? namespace
  if (holder?.leaves) return { refusal: `${holder.file}, which states the realm ${realm}, was deleted` }
  const isTaken = exists && holderOf(realm) !== owner && !limitOf(sourceOf(owner))?.realms?.includes(realm)
  if (isTaken) {
    const how = `whoever runs the server lets it be taken over with --source-permissions ${sourceOf(owner)}=${realm}:*`
    return { refusal: `there is a realm ${realm} that ${owner} has not made: ${how}` }
  }
  const grant = holder ? admitted(holder.resource, namespace, labels(namespace)) : {}
  if (!grant) {
    const how = `whoever has ${holder!.file} names it in allowedNamespaces`
    return { refusal: `the realm ${realm} does not admit the namespace ${namespace}: ${how}` }
  }
  if (!exists && owner !== namespace) return { refusal: `the realm ${realm} of ${holder!.file} is not there yet` }
  const limit = limitOf(sourceOf(namespace))
  if (limit?.realms && !limit.realms.includes(realm))
    return { refusal: `the namespace ${namespace} may not touch the realm ${realm}: it is beyond its limit` }
  return { ceiling: underBoth(grant, limit) }
}

/**
 * The limit of a source: the realms that it may touch, of those that it states and has stated, and what it may give in all of
 * them. Throws DocumentError where it states another realm.
 */
export function ceilingOf(
  documents: readonly Document[],
  before: readonly string[],
  grant: (realm: string) => Grant,
): SourcePermissions {
  const grants = new Map([...documents.map(getRealmName), ...before].map((realm) => [realm, grant(realm)]))
  const problems = documents.flatMap((document): DocumentProblem[] => {
    const found = grants.get(getRealmName(document))!
    return 'refusal' in found ? [{ position: document.start, message: found.refusal }] : []
  })
  if (problems.length) throw new DocumentError(problems)
  const touched = [...grants].flatMap(([realm, found]) => ('ceiling' in found ? [[realm, found.ceiling] as const] : []))
  const realms = touched.map(([realm]) => realm).sort()
  return touched.reduce((all, [, { roles }]) => underBoth(all, roles && { roles }), { realms } as SourcePermissions)
}
