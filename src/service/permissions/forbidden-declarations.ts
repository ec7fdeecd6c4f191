// Checks what a tenant declares in the realm of another owner: its permissions, and that all objects that it changes are its own.

import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { PERMISSIONS_CLIENT } from '../../kinds/admin-roles.ts'
import { isAdminClient, isBuiltIn } from '../../kinds/built-in/index.ts'
import { readKeys, resolveField } from '../../kinds/compare.ts'
import { getParentComponentPath } from '../../kinds/component.ts'
import { getParentPath } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'
import { listResourceNames } from '../../kinds/resource-kinds.ts'
import type { TenantPermissions } from '../../kinds/tenant-permissions.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import { selectKeys } from '../../store/objects.ts'
import { type ManagerRow, selectManagers } from '../../store/sources/inventory.ts'
import type { Context } from '../context/context.ts'
import { matchesPattern } from '../context/source-permissions.ts'
import { parseRoleKeys } from './privilege-escalation.ts'

/** The kind and key of an object. */
interface ConcernedObject {
  readonly kind: KindName
  readonly key: Key
}

/** An object as a tenant declares it. */
export interface TenantDeclaration extends ConcernedObject {
  /** The key of a renamed object before. */
  readonly formerKey: Key | undefined
  /** The declared fields in the form in which they are compared. */
  readonly fields: readonly { readonly path: string; readonly value: Json }[]
}

/** The declarations of a tenant in a realm. */
export interface TenantRequest<D extends TenantDeclaration> {
  readonly source: string
  readonly realm: string
  readonly permissions: readonly TenantPermissions[]
  readonly declarations: readonly D[]
}

/** A declaration that a tenant may not make. */
export interface ForbiddenDeclaration<D extends TenantDeclaration> {
  readonly declaration: D
  /** The field that is refused, and the element of it. Absent: the whole object. */
  readonly path?: string
  readonly element?: Key
  /** For messages: `may not declare RealmFlow in realm acme: kind not permitted`. */
  readonly reason: string
}

/** Kinds whose objects, or their members, get the roles that a field refers to. In other kinds, it only limits the roles of users. */
const ROLE_HOLDERS: ReadonlySet<KindName> = new Set(['user', 'group', 'role', 'organizationGroup'])

/**
 * Returns the declarations that a tenant may not make, each with the first reason. `context`: absent if the realm does not exist. One
 * statement for the managers of objects, and one for each kind of object; none without a context.
 */
export async function findForbiddenDeclarations<D extends TenantDeclaration>(
  context: Context | undefined,
  request: TenantRequest<D>,
): Promise<ForbiddenDeclaration<D>[]> {
  const { declarations } = request
  const declared = new Set(declarations.map(({ kind, key }) => formatAddress(kind, key)))
  const addresses = declarations.flatMap((declaration) => listConcernedObjects(declaration, declared))
  const check = new TenantCheck(request, declared, await readStates(context, request.source, addresses))
  const forbidden = declarations.flatMap((declaration) => check.find(declaration) ?? [])
  // A child is not reported besides its parent.
  const objects = new Set(
    forbidden.flatMap(({ declaration: { kind, key }, path }) => (path === undefined ? formatAddress(kind, key) : [])),
  )
  const hasForbiddenAncestor = (declaration: D) =>
    listAncestors(declaration, declared).some(({ kind, key }) => objects.has(formatAddress(kind, key)))
  return forbidden.filter(({ declaration }) => !hasForbiddenAncestor(declaration))
}

/** The managers of a live object; `unmanaged`: no source manages it. */
type ObjectState =
  | 'unmanaged'
  | { readonly managers: readonly { readonly source: string; readonly file: string; readonly isReleased: boolean }[] }

/** The declarations of a tenant, compared with its permissions and with the live objects. */
class TenantCheck<D extends TenantDeclaration> {
  readonly #request: TenantRequest<D>
  readonly #declared: ReadonlySet<string>
  readonly #states: ReadonlyMap<string, ObjectState>

  constructor(request: TenantRequest<D>, declared: ReadonlySet<string>, states: ReadonlyMap<string, ObjectState>) {
    this.#request = request
    this.#declared = declared
    this.#states = states
  }

  /** Returns the first reason for refusing a declaration; undefined if it is permitted. */
  find(declaration: D): ForbiddenDeclaration<D> | undefined {
    const { realm } = this.#request
    const reason = this.#findUnpermitted(declaration) ?? this.#findForeign(declaration)
    if (reason !== undefined) {
      const [resource] = listResourceNames(kinds[declaration.kind])
      return { declaration, reason: `may not declare ${resource} in realm ${realm}: ${reason}` }
    }
    for (const reference of listGrants(declaration)) {
      const refused = this.#findForbiddenGrant(reference)
      if (refused === undefined) continue
      const { path, element } = reference
      return { declaration, path, ...(element && { element }), reason: `${refused} in realm ${realm}` }
    }
    return undefined
  }

  /** Returns why the kind or the name of an object is not permitted. Children need the permission of their ancestor. */
  #findUnpermitted(declaration: D): string | undefined {
    const top = listAncestors(declaration, this.#declared).at(-1) ?? declaration
    const name = top.key.at(-1)!
    for (const { objects } of this.#request.permissions) {
      const ofKind = objects.filter(({ kinds }) => kinds.includes(top.kind))
      if (!ofKind.length) return 'kind not permitted'
      const patterns = ofKind.flatMap(({ names }) => names)
      if (!matchesPattern(name, patterns)) return `name not permitted. Permitted names: ${patterns.join(', ')}`
    }
    return undefined
  }

  /** Returns why an object, its former self or one of its ancestors is not the tenant's own. */
  #findForeign(declaration: D): string | undefined {
    const { kind, formerKey } = declaration
    const ancestors = listAncestors(declaration, this.#declared)
    const selves = [declaration, ...(formerKey ? [{ kind, key: formerKey }] : [])]
    for (const object of [...ancestors, ...selves]) {
      // Regent itself creates some children of an object, and administrators add others.
      const mayBeUnmanaged = ancestors.length > 0 && selves.includes(object)
      const reason = this.#findForeignReason(object, mayBeUnmanaged)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  #findForeignReason(object: ConcernedObject, mayBeUnmanaged: boolean): string | undefined {
    const { source, realm } = this.#request
    const name = describeObject(object.kind, object.key)
    if (isReserved(realm, object)) return `${name} is built in`
    const state = this.#states.get(formatAddress(object.kind, object.key))
    if (state === undefined) return undefined
    if (state === 'unmanaged') return mayBeUnmanaged ? undefined : `${name} exists, and this source did not create it`
    const other = state.managers.find((manager) => manager.source !== source && !manager.isReleased)
    return other && `${name} is declared by ${other.file || other.source}`
  }

  /** Returns why a role must not be granted, or why a group or organization must not get members. */
  #findForbiddenGrant({ target, candidates }: Grant): string | undefined {
    if (target !== 'role') {
      const foreign = candidates.find((key) => !this.#isOwn({ kind: target, key }))
      return foreign && `may not add to ${describeObject(target, foreign)}, which it does not declare,`
    }
    const permitted = candidates.filter((key) => this.#isGrantable(key))
    const isAmbiguous = candidates.some((key) => !permitted.includes(key) && this.#exists({ kind: 'role', key }))
    if (permitted.length && !isAmbiguous) return undefined
    const refused = candidates.find((key) => !permitted.includes(key))!
    return `may not grant ${describeObject('role', refused)}`
  }

  /** Whether a role may be granted as far as the privilege rule permits it: built-in roles, own ones, and those of the patterns. */
  #isGrantable(key: Key): boolean {
    const { realm, permissions } = this.#request
    if (isBuiltIn(realm, 'role', key) || this.#isOwn({ kind: 'role', key })) return true
    const text = key.length === 1 ? `realm/${key[0]}` : key.join('/')
    return permissions.every(({ roles }) => matchesPattern(text, roles))
  }

  #exists({ kind, key }: ConcernedObject): boolean {
    return this.#states.has(formatAddress(kind, key))
  }

  /** Whether the tenant declares an object, or the parent of an unmanaged one. */
  #isOwn(object: ConcernedObject): boolean {
    if (this.#findForeignReason(object, true) !== undefined) return false
    if (this.#declared.has(formatAddress(object.kind, object.key))) return true
    const state = this.#states.get(formatAddress(object.kind, object.key))
    if (typeof state === 'object') return true
    const parent = findParentOf(object)
    return state === 'unmanaged' && parent !== undefined && this.#isOwn(parent)
  }
}

/** Whether an object is built in, or reserved for Regent. */
function isReserved(realm: string, { kind, key }: ConcernedObject): boolean {
  const client = kind === 'client' ? key[0]! : undefined
  const reserved = [ADMIN_PERMISSIONS, PERMISSIONS_CLIENT]
  if (client !== undefined && (reserved.includes(client) || isAdminClient(realm, client))) return true
  return isBuiltIn(realm, kind, key)
}

/** Returns the ancestors of an object, the parent first. The account of a client that the tenant declares belongs to the client. */
function listAncestors(object: ConcernedObject, declared: ReadonlySet<string>): ConcernedObject[] {
  const parent = findParentOf(object) ?? findClientOfAccount(object, declared)
  return parent ? [parent, ...listAncestors(parent, declared)] : []
}

function findParentOf({ kind, key }: ConcernedObject): ConcernedObject | undefined {
  const parent = findParent(key)
  if (parent) return parent
  const path = kind === 'group' ? getParentPath(key[0]!) : kind === 'component' ? getParentComponentPath(key[0]!) : ''
  return path === '' ? undefined : { kind, key: [path] }
}

function findClientOfAccount(
  { kind, key }: ConcernedObject,
  declared: ReadonlySet<string>,
): ConcernedObject | undefined {
  if (kind !== 'user' || !key[0]!.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  // Usernames are in lower case.
  const address = formatAddress('client', [key[0]!.slice(SERVICE_ACCOUNT_PREFIX.length)])
  const declaration = [...declared].find((candidate) => candidate.toLowerCase() === address)
  return declaration === undefined ? undefined : { kind: 'client', key: JSON.parse(declaration).slice(1) }
}

/** The kinds of objects that have members. */
type MembershipKind = 'group' | 'organization' | 'organizationGroup'

/** A role, or an object with members, that an object gets. */
interface Grant {
  readonly target: 'role' | MembershipKind
  /** The keys that it may mean. */
  readonly candidates: readonly Key[]
  readonly path: string
  readonly element?: Key
}

/** Returns the roles that an object gets, and the objects with members. */
function listGrants({ kind, key, fields }: TenantDeclaration): Grant[] {
  return fields.flatMap(({ path, value }): Grant[] => {
    const { field, key: mapKey } = resolveField(kinds[kind], path)
    const { refersTo } = field
    if (field.relation && refersTo === 'role' && !ROLE_HOLDERS.has(kind)) return []
    if (field.relation && (refersTo === 'role' || isMembershipKind(refersTo)))
      return readKeys(value).map((element) => {
        return { target: refersTo, candidates: [toTargetKey(field, key, element)], path, element }
      })
    if (mapKey === undefined || value === null || !field.grantKeys) return []
    const texts = [value].flat().map(String).filter(Boolean)
    if (field.grantKeys.role.includes(mapKey))
      return texts.map((text) => ({ target: 'role', candidates: parseRoleKeys(text), path }))
    return field.grantKeys.group.includes(mapKey)
      ? texts.map((text) => ({ target: 'group', candidates: [[text]], path }))
      : []
  })
}

function isMembershipKind(kind: KindName | undefined): kind is MembershipKind {
  return kind === 'group' || kind === 'organization' || kind === 'organizationGroup'
}

/** Returns the objects whose managers decide about a declaration. */
function listConcernedObjects(declaration: TenantDeclaration, declared: ReadonlySet<string>): ConcernedObject[] {
  const { kind, formerKey } = declaration
  const targets = listGrants(declaration).flatMap(({ target, candidates }) =>
    candidates.map((key): ConcernedObject => ({ kind: target, key })),
  )
  const objects = [declaration, ...(formerKey ? [{ kind, key: formerKey }] : []), ...targets]
  return objects.flatMap((object) => [object, ...listAncestors(object, declared)])
}

/** Reads the states of live objects, by address. What the source itself has released is its own. */
async function readStates(
  context: Context | undefined,
  source: string,
  addresses: readonly ConcernedObject[],
): Promise<ReadonlyMap<string, ObjectState>> {
  if (!context) return new Map()
  const { tx, realm } = context
  const live: (ConcernedObject & { readonly id: string })[] = []
  for (const [kind, ofKind] of Map.groupBy(addresses, (address) => address.kind)) {
    const keys = [...new Map(ofKind.map(({ key }) => [JSON.stringify(key), key])).values()]
    for (const { id, key } of await selectKeys(tx, realm.number, { kind, filter: { keys } }))
      live.push({ kind, key, id })
  }
  const rows = live.length ? await selectManagers(tx, realm.number, live) : []
  const isConcerned = (row: ManagerRow) => !row.isReleased || row.source === source
  const managers = Map.groupBy(rows.filter(isConcerned), ({ kind, object }) => `${kind} ${object}`)
  return new Map(
    live.map(({ kind, key, id }) => {
      const ofObject = managers.get(`${kind} ${id}`)
      return [formatAddress(kind, key), ofObject ? { managers: ofObject } : 'unmanaged']
    }),
  )
}
