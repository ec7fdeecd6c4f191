// The roles that each operation requires in each realm, compared with those recorded from Keycloak.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { MASTER } from '../../src/kinds/built-in/index.ts'
import {
  type AdminPermissions,
  hasNoPermissions,
  hasPermission,
  isAdministrator,
  toAdminPermissions,
} from '../../src/service/context/admin-permissions.ts'
import { type AdminCase, adminCases, listPairs, type RecordedRoles, toOperationName } from '../support/admin-cases.ts'

const read = <T>(file: string) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as T
const recorded = read<RecordedRoles[]>('admin-matrix.json')
/** Operations that require other roles in Regent, in all cases or in some, with the reason. */
const differences = read<{ operation: string; cases?: string[]; reason: string }[]>('admin-matrix-differences.json')
const sufficientRoles = new Map(
  recorded.flatMap(({ enough, operations }) => operations.map((name) => [name, enough] as const)),
)
type CheckedOperation = Pick<Operation, 'method' | 'path' | 'permission'>
const adminOperations = operations.flatMap(({ method, path, permission }): CheckedOperation[] =>
  path.startsWith('/admin') && !path.startsWith('/admin/api') && permission ? [{ method, path, permission }] : [],
)
const isListed = (name: string, operation: CheckedOperation) =>
  differences.some(
    (difference) => difference.operation === toOperationName(operation) && (difference.cases?.includes(name) ?? true),
  )
const listCompared = (name: string) => adminOperations.filter((operation) => !isListed(name, operation))
const cases = Object.entries(adminCases)

test('every operation of the admin API is in the recorded matrix', () => {
  const names = adminOperations.map(toOperationName)
  expect(names.filter((name) => !sufficientRoles.has(name))).toEqual([])
  expect(differences.filter(({ operation }) => !names.includes(operation))).toEqual([])
})

test.each(cases)('%s: operations require the same roles as in Keycloak', (name, adminCase) => {
  const compared = listCompared(name)
  const actual = compared.map((operation) => [toOperationName(operation), findSufficientRoles(adminCase, operation)])
  expect(actual).toEqual(compared.map((operation) => [toOperationName(operation), listRecordedRoles(name, operation)]))
})

test('every listed difference exists', () => {
  const equal = differences.filter(({ operation: operationName, cases: caseNames = Object.keys(adminCases) }) => {
    const operation = adminOperations.find((candidate) => toOperationName(candidate) === operationName)!
    return caseNames.every(
      (name) =>
        String(findSufficientRoles(adminCases[name]!, operation)) === String(listRecordedRoles(name, operation)),
    )
  })
  expect(equal).toEqual([])
})

function listRecordedRoles(name: string, operation: CheckedOperation): string[] {
  return [...(sufficientRoles.get(toOperationName(operation))?.[name] ?? [])].sort()
}

/** Returns the smallest sets of roles that suffice for an operation. */
function findSufficientRoles(adminCase: AdminCase, operation: CheckedOperation): string[] {
  const sets = [...adminCase.roles.map((role) => [role]), ...listPairs(adminCase.roles)]
  const enough = sets.filter((roles) => isSufficient(adminCase, operation, roles))
  const smallest = enough.filter(
    (set) => !enough.some((other) => other.length < set.length && other.every((role) => set.includes(role))),
  )
  return smallest.map((set) => [...set].sort().join('+')).sort()
}

const permissionsByRoles = new Map<string, AdminPermissions>()

function isSufficient(
  { holder, client, target }: AdminCase,
  { permission, path }: CheckedOperation,
  roles: readonly string[],
) {
  const key = JSON.stringify([holder, client, roles])
  const permissions =
    permissionsByRoles.get(key) ??
    toAdminPermissions(
      holder,
      roles.map((name) => ({ client, name })),
    )
  permissionsByRoles.set(key, permissions)
  if (path === '/admin/realms' && permission === 'any') return maySeeAnyRealm(permissions)
  if (path === '/admin/serverinfo') return isAdministrator(permissions)
  if (permission === 'any') return !hasNoPermissions(permissions)
  return [permission]
    .flat()
    .every((needed) => hasPermission(permissions, path.includes('{realm}') ? target : MASTER, needed))
}

/** Keycloak: a caller who may see no realm may not list realms. */
const maySeeAnyRealm = (permissions: AdminPermissions) =>
  ['home', 'other', MASTER].some((realm) => hasPermission(permissions, realm, 'see-realm'))
