// Deletions of objects that are not possible now: their resources are deleted, since neither a namespace nor a definition waits for them.
import { API_VERSION } from '../../kinds/resource-kinds.ts'
import type { Service } from '../../service/context/service.ts'
import { toTenantPermissions } from '../../service/context/source-permissions.ts'
import {
  type DeletedResource,
  forgetDeletedResources,
  listDeletedResources,
  recordDeletedResources,
} from '../../service/sources/cluster-resources.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { toSourceName } from '../desired/source-name.ts'
import { isRemovalPostponed, type RealmReconciliation } from '../status/realm-status.ts'

/** The deletions that were postponed, in the store and in memory. A later run of the realm makes up for them. */
export class PostponedDeletions {
  readonly #service: Service
  /** By realm, and by file. */
  readonly #byRealm: Map<string, Map<string, DeclaringResource>>

  constructor(service: Service, deleted: readonly DeletedResource[]) {
    this.#service = service
    const byRealm = Map.groupBy(deleted, ({ realm }) => realm)
    this.#byRealm = new Map(
      [...byRealm].map(([realm, all]) => [
        realm,
        new Map(all.map((deleted) => [deleted.file, toDeclaringResource(deleted)])),
      ]),
    )
  }

  /** Returns the realm with the resources that were deleted before, unless they exist again. */
  addTo(realm: ClusterRealm): ClusterRealm {
    const files = new Set(realm.resources.map(({ file }) => file))
    const missing = this.#list(realm.name).filter(({ file }) => !files.has(file))
    if (!missing.length || !realm.owner) return realm
    const sourcePermissions = new Map(realm.sourcePermissions)
    const tenant = { realms: [realm.name], tenant: [toTenantPermissions([])] }
    for (const { namespace } of missing) if (!sourcePermissions.has(namespace)) sourcePermissions.set(namespace, tenant)
    const resources = [...realm.resources, ...missing].sort((a, b) => (a.file < b.file ? -1 : 1))
    return { ...realm, resources, sourcePermissions }
  }

  /** Records the deletions that a reconciliation has postponed, and forgets those that it has made up for. */
  async update(realm: ClusterRealm, reconciliation: RealmReconciliation): Promise<void> {
    const postponed = this.#byRealm.get(realm.name) ?? new Map<string, DeclaringResource>()
    const isPostponed = (declaring: DeclaringResource) => isRemovalPostponed(declaring, realm, reconciliation)
    const added = realm.resources.filter((declaring) => !postponed.has(declaring.file) && isPostponed(declaring))
    if (added.length) await recordDeletedResources(this.#service, realm.name, added.map(toRecord(realm.name)))
    const current = new Map(realm.resources.map((declaring) => [declaring.file, declaring]))
    const isDone = (file: string) => {
      const declaring = current.get(file) ?? postponed.get(file)!
      return 'result' in reconciliation && !isPostponed(declaring)
    }
    const done = [...postponed.keys()].filter(isDone)
    if (done.length) await forgetDeletedResources(this.#service, realm.name, done)
    const remaining = [...postponed].filter(([file]) => !done.includes(file))
    const entries = [...remaining, ...added.map((declaring) => [declaring.file, declaring] as const)]
    if (entries.length) this.#byRealm.set(realm.name, new Map(entries))
    else this.#byRealm.delete(realm.name)
  }

  #list(realm: string): DeclaringResource[] {
    return [...(this.#byRealm.get(realm)?.values() ?? [])]
  }
}

/** Reads the postponed deletions from the store. */
export async function readPostponedDeletions(service: Service): Promise<PostponedDeletions> {
  return new PostponedDeletions(service, await listDeletedResources(service))
}

const toRecord =
  (realm: string) =>
  ({ file, namespace, removal }: DeclaringResource): DeletedResource => ({
    ...{ realm, source: toSourceName(namespace), file, released: removal === 'released' },
  })

/** Returns a resource that does not exist any more. No resource of the cluster has its uid. */
function toDeclaringResource({ file, released }: DeletedResource): DeclaringResource {
  const [kind = '', namespace = '', name = ''] = file.split(/[ /]/)
  const metadata = { name, namespace, uid: '', resourceVersion: '', creationTimestamp: '' }
  const status = { lastAppliedRevision: '' }
  return {
    ...{ resource: { apiVersion: API_VERSION, kind, metadata, status }, file, namespace },
    removal: released ? 'released' : 'deleted',
  }
}
