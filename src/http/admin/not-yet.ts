// Operations of Keycloak's admin API that are not implemented. They return 501 to callers who have the permissions.

import type { Caller, Service } from '../../service/context/service.ts'
import { type Permission, requirePermissions } from '../../service/permissions/require-permissions.ts'
import { HttpError } from '../errors.ts'
import type { Method } from '../operation.ts'
import listed from './operations.json' with { type: 'json' }

/** An operation of Keycloak's admin API. */
export interface ListedOperation {
  readonly method: Method
  readonly path: string
  readonly tag: string
  /** The required permissions, all of them, of an operation that is not implemented. Absent: every caller may call it, without a token. */
  readonly permission?: Permission | readonly Permission[]
}

/** All operations of Keycloak's admin API. */
export const listedOperations = listed as readonly ListedOperation[]

/** Identifies an operation. Keycloak: one path has two parameters of the same name, so their names are left out. */
export function shapeOf({ method, path }: Pick<ListedOperation, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`
}

/** Returns the error of an operation that is not implemented. */
export function notYet({ method, path, tag }: Pick<ListedOperation, 'method' | 'path' | 'tag'>): HttpError {
  return new HttpError(501, {
    error: 'not_implemented',
    error_description: `This operation is not implemented: ${method} ${path} (${tag}).`,
  })
}

/** Throws unless the realm exists and the caller has the permissions of an operation that is not implemented. */
export function checkMissingOperation(
  service: Service,
  caller: Caller,
  { realm, permission }: { readonly realm: string; readonly permission: Permission | readonly Permission[] },
): Promise<void> {
  return service.read(caller, realm, async (context) => requirePermissions(context, ...[permission].flat()))
}
