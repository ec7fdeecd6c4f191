// Permissions on single objects: an admin role gives them on all objects of a type, a fine-grained admin permission on some.
import type { PermissionType } from '../../kinds/admin-permissions.ts'
import type { Permission } from '../../kinds/admin-roles.ts'
import { selectGroupsOfUsers } from '../../store/groups.ts'
import type { Visibility, VisibleGroups } from '../../store/visibility.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { isPermitted } from '../permissions/require-permissions.ts'
import type { ObjectGrants } from '../policy-evaluation/object-grants.ts'
import { findCallerGrants } from './caller-grants.ts'
import { isScopeGranted, listScopeRules, type ScopeRule } from './scope-rules.ts'

/** The permission that gives each scope on all objects. Absent: a caller with the permission to change the owner of a role mapping needs none. */
const permissionsByScope = {
  Users: {
    view: 'view-users',
    manage: 'manage-users',
    'map-roles': 'manage-users',
    'manage-group-membership': 'manage-users',
    impersonate: 'impersonation',
    'reset-password': 'manage-users',
  },
  Groups: {
    view: 'view-users',
    manage: 'manage-users',
    'view-members': 'view-users',
    'manage-members': 'manage-users',
    'manage-membership': 'manage-users',
  },
  Clients: { view: 'view-clients', configure: 'manage-clients', manage: 'manage-clients' },
  Roles: { 'map-role': 'manage-users', 'map-role-client-scope': 'manage-clients', 'map-role-composite': undefined },
  Organizations: { view: 'view-organizations', manage: 'manage-organizations' },
} as const satisfies Record<PermissionType, Readonly<Record<string, Permission | undefined>>>

/** A scope of objects: of those with the ids, or of all that may be created. */
export type ObjectScope = {
  [Type in PermissionType]: {
    readonly type: Type
    readonly scope: keyof (typeof permissionsByScope)[Type]
    readonly objects: 'new' | readonly ScopedObject[]
  }
}[PermissionType]

/** An object by its id; a role of a client with the id of the client. */
export interface ScopedObject {
  readonly id: string
  readonly client?: string | undefined
}

/** Whether the caller has the scope on all of the objects. No statement for callers with an admin role that gives it; otherwise those of `findCallerGrants`, and one for users. */
export async function hasObjectPermission(context: Context, { type, scope, objects }: ObjectScope): Promise<boolean> {
  const access = await loadObjectAccess(context, { type, objects: objects === 'new' ? [] : objects, scopes: [scope] })
  return objects === 'new' ? access(scope) : objects.every((object) => access(scope, object))
}

/** Throws forbidden unless the caller has the scope on all of the objects. Statements: see `hasObjectPermission`. */
export async function requireObjectPermission(context: Context, required: ObjectScope): Promise<void> {
  if (!(await hasObjectPermission(context, required))) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/** Whether the caller has a scope on an object; without an object, on new ones. */
export type ObjectAccess = (scope: string, object?: ScopedObject) => boolean

/** Objects, and the scopes on them that the caller may have. */
export interface RequestedAccess {
  readonly type: PermissionType
  readonly objects: readonly ScopedObject[]
  /** Default: all scopes of the type. */
  readonly scopes?: readonly string[]
}

/** Returns the access of the caller to objects. Statements: see `findCallerGrants`, and one for users. */
export async function loadObjectAccess(
  context: Context,
  { type, objects, scopes = Object.keys(permissionsByScope[type]) }: RequestedAccess,
): Promise<ObjectAccess> {
  const byRole = (scope: string) => {
    const permission = getPermission(type, scope)
    return permission !== undefined && isPermitted(context, permission)
  }
  if (scopes.every(byRole)) return byRole
  const grants = await findCallerGrants(context)
  if (!grants) return byRole
  const dependsOnGroups = type === 'Users' && scopes.some((scope) => hasGroupGrants(grants, scope))
  const users = dependsOnGroups ? objects.map(({ id }) => id) : []
  const groups = users.length
    ? await selectGroupsOfUsers(context.tx, context.realm.number, users)
    : new Map<string, string[]>()
  return (scope, object) => {
    const ofUser = object && groups.get(object.id)
    return byRole(scope) || isScopeGranted(grants, scope, { type, ...object, ...(ofUser && { groups: ofUser }) })
  }
}

function getPermission(type: PermissionType, scope: string): Permission | undefined {
  const permissions: Readonly<Record<string, Permission | undefined>> = permissionsByScope[type]
  return permissions[scope]
}

/** Whether a scope of users depends on their groups. */
function hasGroupGrants(grants: ObjectGrants, scope: string): boolean {
  return listScopeRules(grants.version, 'Users', scope).some(({ ofGroups }) => {
    if (ofGroups === undefined) return false
    const { all, byId } = grants.find('Groups', ofGroups)
    return all !== undefined || byId.size > 0
  })
}

/** Returns the condition that limits lists to the objects that the caller may view. Statements: see `findCallerGrants`. */
export async function getObjectVisibility(
  context: Context,
  type: Exclude<PermissionType, 'Roles'>,
): Promise<Visibility> {
  if (isPermitted(context, permissionsByScope[type].view)) return 'all'
  const grants = await findCallerGrants(context)
  return grants ? toVisibility(context, grants, type) : { ids: [] }
}

/** Throws forbidden unless the caller may list objects: by an admin role, or by a fine-grained permission on all of them. */
export async function requireListPermission(
  context: Context,
  type: Exclude<PermissionType, 'Roles'>,
  permission: Permission,
): Promise<void> {
  if (isPermitted(context, permission)) return
  await requireObjectPermission(context, { type, scope: 'view', objects: 'new' })
}

function toVisibility({ realm }: Context, grants: ObjectGrants, type: PermissionType): Visibility {
  const rules = listScopeRules(grants.version, type, 'view')
  const ofObjects = rules.flatMap(({ ofObject: scope }) => scope ?? []).map((scope) => grants.find(type, scope))
  const listIds = (isGranted: boolean) =>
    ofObjects.flatMap(({ byId }) => [...byId].flatMap(([id, decision]) => (decision === isGranted ? id : [])))
  const ids = listIds(true)
  // Keycloak: a denial on all objects leaves those that are granted one by one.
  if (ofObjects.some(({ all }) => all === false)) return { ids }
  const isAllGranted = ofObjects.some(({ all }) => all === true)
  const groups = type === 'Users' ? toVisibleGroups(grants, rules) : undefined
  if (!isAllGranted && !groups) return { ids }
  return {
    ids,
    hiddenIds: listIds(false),
    all: isAllGranted,
    ...(groups && { groups: { realm: realm.number, ...groups } }),
  }
}

/** Returns the groups of which the members are visible or hidden; undefined if there are none. */
function toVisibleGroups(grants: ObjectGrants, rules: readonly ScopeRule[]): Omit<VisibleGroups, 'realm'> | undefined {
  const ofGroups = rules.flatMap(({ ofGroups: scope }) => scope ?? []).map((scope) => grants.find('Groups', scope))
  const decisions = ofGroups.flatMap(({ byId }) => [...byId])
  const all = ofGroups.map((scope) => scope.all).find((decision) => decision !== undefined)
  if (!decisions.length && all === undefined) return undefined
  const listIds = (isGranted: boolean) => decisions.flatMap(([id, decision]) => (decision === isGranted ? id : []))
  return { ids: listIds(true), hiddenIds: listIds(false), all }
}
