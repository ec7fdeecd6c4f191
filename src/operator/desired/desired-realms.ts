// What all resources say together: for each realm who states something in it, and what cannot count. Pure.
import { kinds } from '../kinds/index.ts'
import { type SourceSettings, sourceSettings } from '../kinds/source-settings.ts'
import { REALM_RESOURCE } from '../realm-file/resources/resource-kinds.ts'
import { DocumentError, type DocumentProblem } from '../realm-file/yaml/problem.ts'
import type { SourcePermissions } from '../service/context/admin-permissions.ts'
import { admitted } from './admission/admission.ts'
import { SecretMissing, type Secrets, type Stated, statedBy } from './documents.ts'
import { isDisabled, nameOf, PRUNE, RECONCILE, type Resource } from './resource.ts'

/** The state of the cluster that desired realms are computed from. */
export interface Picture {
  readonly resources: readonly Resource[]
  /** Labels of namespaces, by name. */
  readonly labels: (namespace: string) => Readonly<Record<string, string>>
  readonly secrets: Secrets
  /** The namespace whose Realm resource declared the realm before. */
  readonly holderOf: (realm: string) => string | undefined
}

/** Why a resource does not count: in a word, and in words. */
export interface Fault {
  readonly reason: string
  readonly message: string
  /** It is meant so: nothing is wrong. */
  readonly meant?: true
  /** It could not be held, which is tried again: what was never applied leaves nothing behind. */
  readonly unheld?: true
}

/** A resource, and what it states in its realm. */
export interface Member {
  readonly resource: Resource
  /** What it is called in documents and in the inventory. */
  readonly file: string
  readonly namespace: string
  readonly stated?: Stated
  readonly fault?: Fault
  /** It was deleted: what becomes of its object. */
  readonly leaves?: 'deleted' | 'released'
}

/** A realm with everything that is said of it. */
export interface RealmOf {
  readonly name: string
  /** The resource that states the realm itself; absent: it has vanished. */
  readonly holder: Member | undefined
  readonly members: readonly Member[]
  /** By namespace, what is stated there may give at most. */
  readonly ceilings: ReadonlyMap<string, SourcePermissions>
  readonly settings: SourceSettings
}

/** All realms by name, and the resources that belong to none, with why. */
export interface Desired {
  readonly realms: ReadonlyMap<string, RealmOf>
  readonly others: readonly (Member & { readonly fault: Fault })[]
}

/** The name of the source that a namespace is. */
export const sourceOf = (namespace: string): string => `kubernetes:${namespace}`

/** The namespace that is the source of that name, or whose the source in git is; undefined for other sources. */
export function ownerOf(source: string): { readonly namespace: string; readonly isGit: boolean } | undefined {
  if (!source.startsWith(sourceOf(''))) return undefined
  const [namespace, name] = source.slice(sourceOf('').length).split('/') as [string, string?]
  return { namespace, isGit: name !== undefined }
}

/** What the picture says. */
export function desired(picture: Picture): Desired {
  const realms = new Map<string, { holder: Member; members: Member[]; ceilings: Map<string, SourcePermissions> }>()
  const others: Desired['others'][number][] = []
  const byAddress = new Map<string, Resource>()
  const inOrder = byAge(picture)
  for (const resource of inOrder.filter(isRealm)) {
    const name = realmNameOf(resource)
    const known = realms.get(name)
    if (known) {
      const message = `${nameOf(known.holder.resource)} states the realm ${name} already: name another realm, or delete one of them`
      others.push({ ...memberOf(resource), fault: { reason: 'RealmTaken', message } })
      continue
    }
    if (resource.kind === REALM_RESOURCE)
      byAddress.set(`${resource.metadata.namespace}/${resource.metadata.name}`, resource)
    const holder = withDocument(memberOf(resource), name, picture.secrets)
    realms.set(name, { holder, members: [holder], ceilings: new Map([[holder.namespace, { realms: [name] }]]) })
  }
  for (const resource of inOrder) {
    if (isRealm(resource)) continue
    const member = memberOf(resource)
    const found = realmFor(member, byAddress, realms)
    if ('fault' in found) {
      others.push({ ...member, fault: found.fault })
      continue
    }
    const realm = realms.get(found.name)!
    const grant = admitted(realm.holder.resource, member.namespace, picture.labels(member.namespace))
    if (!grant) {
      const message = `the realm ${found.name} does not admit the namespace ${member.namespace}: whoever has ${realm.holder.file} names it in allowedNamespaces`
      others.push({ ...member, fault: { reason: 'NotAdmitted', message } })
      continue
    }
    if (!realm.ceilings.has(member.namespace)) realm.ceilings.set(member.namespace, { realms: [found.name], ...grant })
    realm.members.push(withDocument(member, found.name, picture.secrets))
  }
  return {
    realms: new Map(
      [...realms].map(([name, realm]) => [name, { name, ...inSameOrder(realm), settings: settingsOf(realm.holder) }]),
    ),
    others,
  }
}

/** By namespace, the resources that belong to no realm. */
export function astrayIn({ others }: Desired): Map<string, string[]> {
  const strays = Map.groupBy(others, ({ namespace }) => namespace)
  return new Map([...strays].map(([namespace, members]) => [namespace, members.map(({ file }) => file)]))
}

/** Who was there first decides nothing here: resources that come back in another order state the same. */
function inSameOrder<T extends { readonly members: readonly Member[] }>(realm: T): T {
  return { ...realm, members: realm.members.toSorted((a, b) => (a.file < b.file ? -1 : 1)) }
}

/** A resource that states a realm itself. */
export const isRealm = ({ kind }: Resource): boolean => kind === REALM_RESOURCE || kind === 'KeycloakRealmImport'

/** The realm that such a resource states. */
export function realmNameOf({ kind, metadata, spec = {} }: Resource): string {
  const stated = kind === REALM_RESOURCE ? spec : ((spec.realm ?? {}) as Record<string, unknown>)
  return String(stated[kinds.realm.naturalKey] ?? metadata.name)
}

/** Whose the realm is comes first, then who was there first. */
function byAge({ resources, holderOf }: Picture): Resource[] {
  const placed = (resource: Resource) => {
    const { creationTimestamp, namespace, name } = resource.metadata
    const isHolder = isRealm(resource) && holderOf(realmNameOf(resource)) === namespace
    return [isHolder ? 0 : 1, creationTimestamp, namespace, name].join()
  }
  const places = resources.map((resource) => [placed(resource), resource] as const)
  return places.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource)
}

/** Its place among others; `leaves` where it was deleted. */
export function memberOf(resource: Resource): Member {
  const { metadata, spec = {} } = resource
  const member = { resource, file: nameOf(resource), namespace: metadata.namespace! }
  if (!metadata.deletionTimestamp) return member
  const isLeftAlone = [PRUNE, RECONCILE].some((annotation) => isDisabled(resource, annotation))
  // Only a realm says what it prunes.
  const stays = spec.deletionPolicy === 'Orphan' || spec.prune === 'none' || isLeftAlone
  return { ...member, leaves: stays ? 'released' : 'deleted' }
}

function withDocument(member: Member, realm: string, secrets: Secrets): Member {
  if (member.leaves) return member
  if (isDisabled(member.resource, RECONCILE)) {
    const message = `the annotation ${RECONCILE} says that it is left alone`
    return { ...member, fault: { reason: 'Disabled', message, meant: true } }
  }
  try {
    return { ...member, stated: statedBy(member.resource, realm, secrets) }
  } catch (error) {
    if (error instanceof SecretMissing)
      return { ...member, fault: { reason: 'SecretNotFound', message: error.message } }
    if (error instanceof DocumentError) return { ...member, fault: faultOf(member.file, error.problems) }
    throw error
  }
}

/** What is wrong with a resource, each with the path of its field. */
export function faultOf(file: string, problems: readonly DocumentProblem[]): Fault {
  return { reason: 'Invalid', message: problems.map((one) => told(file, one)).join('; ') }
}

/** What is said of a place in a resource, with the path of its field. */
export function told(
  file: string,
  { position, message, otherPosition: other }: Pick<DocumentProblem, 'position' | 'message' | 'otherPosition'>,
): string {
  const elsewhere = other ? message.replaceAll(other.file, placeOf(other.file)) : message
  // Resources have no lines.
  const plain = elsewhere.replaceAll(':1:1', '')
  const path = position.file.startsWith(file) ? pathOf(position.file.slice(file.length + 1).split('/')) : ''
  return path ? `${path}: ${plain}` : plain
}

/** A place in another resource: `spec.name of RealmClient namespace/name`. */
function placeOf(place: string): string {
  const [kind, name, ...path] = place.split('/')
  return path.length ? `${pathOf(path)} of ${kind}/${name}` : place
}

const pathOf = (steps: readonly string[]) => steps.join('.').replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]')

function realmFor(
  { resource: { spec = {} }, namespace }: Member,
  byAddress: ReadonlyMap<string, Resource>,
  realms: ReadonlyMap<string, unknown>,
): { name: string } | { fault: Fault } {
  const { realm, realmRef } = spec
  if (typeof realm === 'string') {
    if (realms.has(realm)) return { name: realm }
    return { fault: { reason: 'RealmNotFound', message: `no resource states the realm ${realm}` } }
  }
  const reference = (realmRef ?? {}) as { name?: string; namespace?: string }
  const at = `${reference.namespace ?? namespace}/${reference.name}`
  const found = byAddress.get(at)
  if (found) return { name: realmNameOf(found) }
  return { fault: { reason: 'RealmNotFound', message: `there is no Realm ${at}, or it cannot be used` } }
}

/** What it settles about how far its runs go. */
export function settingsOf({ resource: { spec = {} } }: Member): SourceSettings {
  const own = Object.keys(sourceSettings.shape).flatMap((field) =>
    field in spec ? [[field, spec[field]] as const] : [],
  )
  const parsed = sourceSettings.safeParse(Object.fromEntries(own))
  return parsed.success ? parsed.data : {}
}
