// Operations of Keycloak's admin API that are not implemented. They return 501.
import { HttpError } from '../errors.ts'
import type { Method } from '../operation.ts'
import listed from './operations.json' with { type: 'json' }

/** An operation of Keycloak's admin API. */
export interface ListedOperation {
  readonly method: Method
  readonly path: string
  readonly tag: string
}

/** All operations of Keycloak's admin API. */
export const listedOperations = listed as readonly ListedOperation[]

/** Identifies an operation. Keycloak: one path has two parameters of the same name, so their names are left out. */
export function shapeOf({ method, path }: Pick<ListedOperation, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`
}

/** Returns the error of an operation that is not implemented. */
export function notYet({ method, path, tag }: ListedOperation): HttpError {
  return new HttpError(501, {
    error: 'not_implemented',
    error_description: `This operation is not implemented: ${method} ${path} (${tag}).`,
  })
}
