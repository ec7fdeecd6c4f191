// Which roles may call which operation of which realm: what is said of each, as it was recorded from the reference server.
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
/** Operations that need other roles in Regent, in all cases or in some, and why. */
const apart = read<{ operation: string; cases?: string[]; reason: string }[]>('admin-matrix-apart.json')
const enoughOf = new Map(recorded.flatMap(({ enough, operations }) => operations.map((one) => [one, enough] as const)))
const known = operations.filter(({ path }) => path.startsWith('/admin'))
const isApart = (name: string, operation: Operation) =>
  apart.some((one) => one.operation === toOperationName(operation) && (one.cases?.includes(name) ?? true))
const comparedIn = (name: string) => known.filter((operation) => !isApart(name, operation))
const cases = Object.entries(adminCases)

test('every operation was recorded', () => {
  const names = known.map(toOperationName)
  expect(names.filter((name) => !enoughOf.has(name))).toEqual([])
  expect(apart.filter(({ operation }) => !names.includes(operation))).toEqual([])
})

test.each(cases)('%s: operations say that they need the roles that were recorded', (name, one) => {
  const compared = comparedIn(name)
  const said = compared.map((operation) => [toOperationName(operation), enoughFor(one, operation)])
  expect(said).toEqual(compared.map((operation) => [toOperationName(operation), recordedFor(name, operation)]))
})

test('what is said to be apart is', () => {
  const same = apart.filter(({ operation: called, cases: some = Object.keys(adminCases) }) => {
    const operation = known.find((one) => toOperationName(one) === called)!
    return some.every(
      (name) => String(enoughFor(adminCases[name]!, operation)) === String(recordedFor(name, operation)),
    )
  })
  expect(same).toEqual([])
})

function recordedFor(name: string, operation: Operation): string[] {
  return [...(enoughOf.get(toOperationName(operation))?.[name] ?? [])].sort()
}

/** The smallest sets of roles that give all that an operation needs. */
function enoughFor(one: AdminCase, operation: Operation): string[] {
  const sets = [...one.roles.map((role) => [role]), ...listPairs(one.roles)]
  const enough = sets.filter((roles) => isEnough(one, operation, roles))
  const smallest = enough.filter(
    (set) => !enough.some((other) => other.length < set.length && other.every((role) => set.includes(role))),
  )
  return smallest.map((set) => [...set].sort().join('+')).sort()
}

const powers = new Map<string, AdminPermissions>()

function isEnough({ holder, client, target }: AdminCase, { permission, path }: Operation, roles: readonly string[]) {
  const key = JSON.stringify([holder, client, roles])
  const power =
    powers.get(key) ??
    toAdminPermissions(
      holder,
      roles.map((name) => ({ client, name })),
    )
  powers.set(key, power)
  if (path === '/admin/realms' && permission === 'any') return seesOne(power)
  if (path === '/admin/serverinfo') return isAdministrator(power)
  if (permission === 'any') return !hasNoPermissions(power)
  return [permission].flat().every((needed) => hasPermission(power, path.includes('{realm}') ? target : MASTER, needed))
}

/** Keycloak: a list without realms is nobody's to ask for. */
const seesOne = (power: AdminPermissions) =>
  ['home', 'other', MASTER].some((realm) => hasPermission(power, realm, 'see-realm'))
