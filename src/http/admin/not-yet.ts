// Operations of the admin API that Regent does not have. They answer 501.
import { HttpError } from '../errors.ts'
import type { Method } from '../operation.ts'
import listed from './operations.json' with { type: 'json' }

/** An operation of the reference server's admin API. */
export interface ListedOperation {
  readonly method: Method
  readonly path: string
  readonly tag: string
}

/** Every operation of the reference server's admin API. */
export const listedOperations = listed as readonly ListedOperation[]

/** Identifies an operation. Keycloak: one path has two parameters of the same name, so their names are left out. */
export function shapeOf({ method, path }: Pick<ListedOperation, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\{[^}]+\}/g, '{}')}`
}

/** The answer of an operation that is not there yet. */
export function notYet({ method, path, tag }: ListedOperation): HttpError {
  return new HttpError(501, {
    error: 'not_implemented',
    error_description: `Regent does not have this operation yet: ${method} ${path} (${tag})`,
  })
}
