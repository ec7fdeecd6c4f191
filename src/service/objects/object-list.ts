// Lists of the objects of a realm, with the sources that manage them, for callers who may view the kind.
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import {
  type CountedKind,
  countObjects,
  type ListedObject,
  type ObjectListFilter,
  selectListedObjects,
} from '../../store/object-list.ts'
import type { Context } from '../context/context.ts'
import { isPermitted, type Permission, requirePermissions } from '../permissions/require-permissions.ts'

/** The permission to view the objects of a kind, where it is not that of the realm. */
const viewPermissions: Readonly<Partial<Record<KindName, Permission>>> = {
  client: 'view-clients',
  clientScope: 'view-clients',
  protocolMapper: 'view-clients',
  authorizationResource: 'view-authorization',
  authorizationScope: 'view-authorization',
  authorizationPolicy: 'view-authorization',
  identityProvider: 'view-identity-providers',
  identityProviderMapper: 'view-identity-providers',
  group: 'list-groups',
  user: 'view-users',
  organization: 'view-organizations',
  organizationGroup: 'view-organizations',
}

/** Returns the permission to view the objects of a kind. */
export function getViewPermission(kind: KindName): Permission {
  return viewPermissions[kind] ?? 'view-realm'
}

/** Returns the numbers of objects of the kinds that the caller may view. One statement. */
export async function countViewableObjects(context: Context): Promise<CountedKind[]> {
  const viewable = Object.values(kinds).flatMap(({ name }) =>
    isPermitted(context, getViewPermission(name)) ? [name] : [],
  )
  if (!viewable.length) requirePermissions(context, 'view-realm')
  return countObjects(context.tx, context.realm.number, viewable)
}

/** Returns objects of a kind, by natural key. Throws forbidden. One statement. */
export async function listViewableObjects(
  context: Context,
  kind: KindName,
  filter: ObjectListFilter,
): Promise<ListedObject[]> {
  requirePermissions(context, getViewPermission(kind))
  return selectListedObjects(context.tx, context.realm.number, { kind, filter })
}
