// The operations of Keycloak's admin API, which Regent serves.
import type { Method } from '../../src/http/operation.ts'
import listed from '../conformance/operations.json' with { type: 'json' }

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
