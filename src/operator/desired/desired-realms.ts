// Resolves what all resources of the cluster declare together: the realms, the resources of each, and the unresolved ones. Pure.

import { kinds } from '../../kinds/index.ts'
import { readObject, readText } from '../../kinds/json.ts'
import { REALM_RESOURCE } from '../../kinds/resource-kinds.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import { KEYCLOAK_IMPORT } from '../../realm-file/resources/keycloak-import.ts'
import { type SourcePermissions, toTenantPermissions } from '../../service/context/source-permissions.ts'
import type { ClusterSnapshot } from '../cluster/cluster-cache.ts'
import type { Resource } from '../cluster/resource.ts'
import { findNamespacePermissions } from './allowed-namespaces.ts'
import {
  addDeclaration,
  type DeclaringResource,
  isObservingRealm,
  readSourceSettings,
  toDeclaringResource,
} from './declaring-resource.ts'
import type { ResourceFault } from './resource-fault.ts'

/** The state of the cluster that desired realms are resolved from. */
export interface ClusterState extends Omit<ClusterSnapshot, 'realmSources'> {
  /** Returns the namespace whose resource declared the realm before. */
  readonly findOwnerNamespace: (realm: string) => string | undefined
}

/** A realm with all resources that declare something in it. */
export interface ClusterRealm {
  readonly name: string
  /** The resource that declares the realm itself; undefined if it disappeared. */
  readonly owner: DeclaringResource | undefined
  /** All resources of the realm, by file. */
  readonly resources: readonly DeclaringResource[]
  /** The permissions of each namespace in the realm. */
  readonly sourcePermissions: ReadonlyMap<string, SourcePermissions>
  readonly settings: SourceSettings
}

/** A resource that belongs to no realm, and why. */
export type UnresolvedResource = DeclaringResource & { readonly fault: ResourceFault }

/** The realms by name, and the resources that belong to none. */
export interface DesiredRealms {
  readonly realms: ReadonlyMap<string, ClusterRealm>
  readonly unresolved: readonly UnresolvedResource[]
}

/** Returns the realms that the resources declare. The owner of a realm has precedence, then the older resource. */
export function resolveDesiredRealms(cluster: ClusterState): DesiredRealms {
  const resolver = new RealmResolver(cluster)
  const resources = sortByPrecedence(cluster)
  for (const resource of resources.filter(declaresRealm)) resolver.addRealm(resource)
  for (const resource of resources) if (!declaresRealm(resource)) resolver.addObject(resource)
  return resolver.finish()
}

/** A realm whose resources are still being added. */
interface RealmDraft {
  readonly name: string
  readonly owner: DeclaringResource
  readonly resources: DeclaringResource[]
  readonly sourcePermissions: Map<string, SourcePermissions>
}

/** Assigns resources to realms. All realms must be added before objects. */
class RealmResolver {
  readonly #cluster: ClusterState
  readonly #byName = new Map<string, RealmDraft>()
  /** Realms by `namespace/name` of their Realm resource. */
  readonly #byAddress = new Map<string, RealmDraft>()
  readonly #unresolved: UnresolvedResource[] = []

  constructor(cluster: ClusterState) {
    this.#cluster = cluster
  }

  addRealm(resource: Resource): void {
    const name = getDeclaredRealmName(resource)
    const conflicting = this.#byName.get(name)
    if (conflicting) {
      const message = `${conflicting.owner.file} already declares the realm ${name}. Declare another realm, or delete one of the two resources.`
      this.#addUnresolved(resource, { reason: 'RealmTaken', message })
      return
    }
    const owner = addDeclaration(toDeclaringResource(resource), name, this.#cluster.findSecretText)
    const sourcePermissions = new Map(owner.isObserver ? [] : [[owner.namespace, { realms: [name] }]])
    const realm = { name, owner, resources: [owner], sourcePermissions }
    const { kind, metadata } = resource
    this.#byName.set(name, realm)
    if (kind === REALM_RESOURCE) this.#byAddress.set(`${metadata.namespace}/${metadata.name}`, realm)
  }

  /** Adds a resource that declares an object of a realm. */
  addObject(resource: Resource): void {
    const object = toDeclaringResource(resource)
    const { namespace } = object
    const realm = this.#findRealm(object)
    if ('reason' in realm) {
      this.#addUnresolved(resource, realm)
      return
    }
    const { name, owner, resources, sourcePermissions } = realm
    const permissions = findNamespacePermissions(owner.resource, namespace, this.#cluster.getNamespaceLabels(namespace))
    if (!permissions && !object.removal) {
      this.#addUnresolved(resource, createNotAdmittedFault(object, realm))
      return
    }
    if (!sourcePermissions.has(namespace))
      sourcePermissions.set(namespace, {
        realms: [name],
        ...(permissions ?? { tenant: [toTenantPermissions([])] }),
      })
    resources.push(addDeclaration(object, name, this.#cluster.findSecretText))
  }

  finish(): DesiredRealms {
    const realms = [...this.#byName].map(([name, realm]) => [name, finishRealm(realm)] as const)
    return { realms: new Map(realms), unresolved: this.#unresolved }
  }

  #addUnresolved(resource: Resource, fault: ResourceFault): void {
    this.#unresolved.push({ ...toDeclaringResource(resource), fault })
  }

  /** Finds the realm that `spec.realm` or `spec.realmRef` refers to. */
  #findRealm({ resource: { spec = {} }, namespace }: DeclaringResource): RealmDraft | ResourceFault {
    if (typeof spec.realm === 'string') {
      const message = `No resource declares the realm ${spec.realm}. Create one, or correct spec.realm.`
      return this.#byName.get(spec.realm) ?? { reason: 'RealmNotFound', message, isTemporary: true }
    }
    const reference = readObject(spec.realmRef)
    const address = `${readText(reference.namespace) ?? namespace}/${readText(reference.name)}`
    const advice =
      reference.namespace === undefined
        ? 'If it is in another namespace, delete this resource, and create it with spec.realmRef.namespace.'
        : 'Correct spec.realmRef, or create it.'
    const message = this.#unresolved.some(({ file }) => file === `${REALM_RESOURCE} ${address}`)
      ? `Realm ${address} does not manage its realm. Its status gives the reason.`
      : `There is no Realm ${address}. ${advice}`
    return this.#byAddress.get(address) ?? { reason: 'RealmNotFound', message, isTemporary: true }
  }
}

/** Returns the fault of a resource whose namespace may not declare objects of the realm. */
function createNotAdmittedFault(
  { namespace, resource }: DeclaringResource,
  { name, owner }: RealmDraft,
): ResourceFault {
  const wasApplied = resource.status?.lastAppliedRevision !== undefined
  const consequence = wasApplied ? ' Its object stays live, unmanaged, until the resource is deleted.' : ''
  const message = `The realm ${name} does not admit the namespace ${namespace}.${consequence} Add the namespace to spec.allowedNamespaces of ${owner.file}.`
  return { reason: 'NotAdmitted', message }
}

/** Sorts the resources by file, so that resources that are created again in another order give the same revision. */
function finishRealm(realm: RealmDraft): ClusterRealm {
  const resources = realm.resources.toSorted((a, b) => (a.file < b.file ? -1 : 1))
  return { ...realm, resources, settings: readSourceSettings(realm.owner.resource) }
}

/** Returns the names of the resources that could not be assigned to a realm, by namespace. A resource's name is its file name in plans. */
export function getUnresolvedFiles({ unresolved }: DesiredRealms): Map<string, string[]> {
  const byNamespace = Map.groupBy(unresolved, ({ namespace }) => namespace)
  return new Map([...byNamespace].map(([namespace, resources]) => [namespace, resources.map(({ file }) => file)]))
}

/** Whether a resource declares a realm itself, not an object of one. */
const declaresRealm = ({ kind }: Resource): boolean => kind === REALM_RESOURCE || kind === KEYCLOAK_IMPORT

/** Returns the name of the realm that a Realm or KeycloakRealmImport declares. */
function getDeclaredRealmName({ kind, metadata, spec = {} }: Resource): string {
  const realm = kind === REALM_RESOURCE ? spec : readObject(spec.realm)
  return String(realm[kinds.realm.naturalKey] ?? metadata.name)
}

/** Sorts owners of realms first, then older resources. */
function sortByPrecedence({ resources, findOwnerNamespace }: ClusterState): Resource[] {
  const getSortKey = (resource: Resource) => {
    const { creationTimestamp, namespace, name } = resource.metadata
    const isLast = isObservingRealm(resource)
    const isOwner = declaresRealm(resource) && findOwnerNamespace(getDeclaredRealmName(resource)) === namespace
    return [isLast ? 2 : isOwner ? 0 : 1, creationTimestamp, namespace, name].join()
  }
  const keyed = resources.map((resource) => [getSortKey(resource), resource] as const)
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource)
}
