// A resource of the cluster with what it declares, its fault, or the consequence of its deletion. Pure.
import { readTexts } from '../../kinds/json.ts'
import { hasPathKey } from '../../kinds/kind.ts'
import { listParentFields, REALM_RESOURCE, resourceKinds } from '../../kinds/resource-kinds.ts'
import { type SourceSettings, sourceSettings } from '../../kinds/source-settings.ts'
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import type { FindSecretText } from '../cluster/cluster-cache.ts'
import {
  getResourceName,
  isDisabled,
  PRUNE_ANNOTATION,
  RECONCILE_ANNOTATION,
  type Resource,
} from '../cluster/resource.ts'
import { type ResourceDeclaration, readDeclaration, SecretNotFound } from './resource-declaration.ts'
import { type ResourceFault, toResourceFault } from './resource-fault.ts'

/** A Kubernetes resource with the document that it declares, or its fault. */
export interface DeclaringResource {
  readonly resource: Resource
  /** Its name as a file of documents and in the inventory: `Kind namespace/name`. */
  readonly file: string
  readonly namespace: string
  /** Absent if the resource is being deleted or has a fault. */
  readonly declaration?: ResourceDeclaration
  readonly fault?: ResourceFault
  /** Whether it only observes a realm that other sources declare. */
  readonly isObserver?: true
  /** If the resource is being deleted: whether its object is deleted, or released to become unmanaged. */
  readonly removal?: 'deleted' | 'released'
}

/** The fault of a resource with the annotation `regent.dev/reconcile: disabled`. */
export const DISABLED_FAULT: ResourceFault = {
  reason: 'Disabled',
  message: `The annotation ${RECONCILE_ANNOTATION} is "disabled", so that the resource is not applied.`,
  isIntended: true,
}

/** Returns a resource whose declaration is not read yet. */
export function toDeclaringResource(resource: Resource): DeclaringResource {
  const { metadata, spec = {} } = resource
  const isObserver = isObservingRealm(resource)
  const declaring = {
    ...{ resource, file: getResourceName(resource), namespace: metadata.namespace! },
    ...(isObserver && { isObserver }),
  }
  if (!metadata.deletionTimestamp) return declaring
  const isReleased =
    isObserver ||
    spec.deletionPolicy === 'Orphan' ||
    // Only realms and sources have these fields.
    spec.prune === 'none' ||
    spec.suspend === true ||
    isDisabled(resource, PRUNE_ANNOTATION) ||
    isDisabled(resource, RECONCILE_ANNOTATION)
  return { ...declaring, removal: isReleased ? 'released' : 'deleted' }
}

/** Returns the resource with its declaration in a realm, or with the fault that prevents one. */
export function addDeclaration(
  declaring: DeclaringResource,
  realm: string,
  findSecretText: FindSecretText,
): DeclaringResource {
  const { resource, file, removal, isObserver } = declaring
  if (removal || isObserver) return declaring
  if (isDisabled(resource, RECONCILE_ANNOTATION)) return { ...declaring, fault: DISABLED_FAULT }
  try {
    return { ...declaring, declaration: readDeclaration(resource, realm, findSecretText) }
  } catch (error) {
    if (error instanceof SecretNotFound)
      return { ...declaring, fault: { reason: 'SecretNotFound', message: error.message, isTemporary: true } }
    if (error instanceof DocumentError) return { ...declaring, fault: toResourceFault(file, error.problems) }
    throw error
  }
}

/** Returns a text that is the same for two resources of a namespace that declare the same object, whether they can be applied or not. */
export function getObjectAddress({ resource, file, namespace }: DeclaringResource): string {
  const { kind: name, metadata, spec = {} } = resource
  const kind = resourceKinds.get(name)
  if (!kind) return file
  const nameField = hasPathKey(kind) ? kind.nameField : kind.naturalKey
  const parents = ['path', ...listParentFields(kind).map(([field]) => field)].map((field) => spec[field] ?? null)
  return JSON.stringify([namespace, name, spec[nameField] ?? metadata.name, parents])
}

/** Whether a Realm only observes its realm, and admits namespaces to it. */
export const isObservingRealm = ({ kind, spec = {} }: Resource): boolean =>
  kind === REALM_RESOURCE && readTexts(spec.managementPolicies).includes('Observe')

/** Returns the settings of a Realm or RealmSource that control its runs; none if one of them is invalid. */
export function readSourceSettings({ spec = {} }: Resource): SourceSettings {
  const fields = Object.keys(sourceSettings.shape).filter((field) => field in spec)
  const parsed = sourceSettings.safeParse(Object.fromEntries(fields.map((field) => [field, spec[field]])))
  return parsed.success ? parsed.data : {}
}
