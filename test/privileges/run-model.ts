// Random sequences of operations by weak administrators, run in the model.
import fc from 'fast-check'
import { type AdminRole, adminRoles, type Permission } from '../../src/kinds/admin-roles.ts'
import { canGrant, hasPermission } from '../../src/service/context/admin-permissions.ts'
import { createState, type InitialRealm } from './initial-state.ts'
import {
  getAllPermissions,
  getPermissions,
  listPrincipals,
  listReachableRoles,
  type ModelState,
  type Principal,
  REALM,
} from './model-state.ts'
import { type Operation, type OperationName, operationNames, operations, type Target } from './operations.ts'

/** A command: an operation, and numbers that choose its caller and its objects. */
export interface Command {
  readonly operation: OperationName
  readonly by: number
  readonly first: number
  readonly second: number
}

/** A command with its caller and its objects, and whether it is allowed. */
export interface Step {
  readonly operation: OperationName
  readonly by: Principal
  readonly target: Target
  readonly allowed: boolean
  /** Whether it passes its check. */
  readonly passesCheck: boolean
  /** Whether the caller has the first of the required permissions. */
  readonly isPermitted: boolean
}

const realmRoles = adminRoles.filter((role) => role !== 'create-realm')
const changingRoles: AdminRole[] = [
  'manage-users',
  'manage-clients',
  'manage-realm',
  'manage-identity-providers',
  'impersonation',
  'view-clients',
]

/** Generates initial states. */
export const initialRealms: fc.Arbitrary<InitialRealm> = fc
  .record({
    administrators: fc.array(
      fc
        .tuple(fc.constantFrom(...changingRoles), fc.subarray(realmRoles, { maxLength: 1 }))
        .map(([role, further]) => [role, ...further]),
      { minLength: 1, maxLength: 2 },
    ),
    strongRoles: fc.subarray(realmRoles, { minLength: 1, maxLength: 3 }),
    registrationAllowed: fc.boolean(),
    defaultGroup: fc.constantFrom('admins', 'others'),
    version: fc.constantFrom(1, 2),
    missingRole: fc.constantFrom(...realmRoles.filter((role) => role !== 'realm-admin')),
  })
  .map(({ administrators, strongRoles, missingRole, ...initial }) => ({
    ...initial,
    administrators: administrators.map((roles) => [...new Set(roles)].filter((role) => role !== missingRole)),
    strongRoles: strongRoles.filter((role) => role !== missingRole),
    missingRole,
  }))

/** A number that chooses an object. The first objects, which matter most, are chosen more often. */
const choice = fc.oneof(fc.nat(8), fc.nat(40))

/** Generates sequences of commands. `frequent`: the operation of half of them. */
export function commandSequences({
  frequent,
  maxLength = 12,
}: {
  frequent?: OperationName | undefined
  maxLength?: number
} = {}): fc.Arbitrary<Command[]> {
  const anyOperation = fc.constantFrom(...operationNames)
  const operation = frequent ? fc.oneof(anyOperation, fc.constant(frequent)) : anyOperation
  return fc.array(fc.record({ operation, by: choice, first: choice, second: choice }), { minLength: 1, maxLength })
}

/** Runs commands in the model, optionally without the check of one operation. Yields each step before it is performed, and returns the state. */
export function* runModel(
  initial: InitialRealm,
  commands: readonly Command[],
  unchecked?: OperationName,
): Generator<Step & { readonly state: ModelState }, ModelState> {
  const state = createState(initial)
  for (const [at, command] of commands.entries()) {
    const { operation } = command
    const { requires, isPossible, grants, perform }: Operation = operations[operation]
    const principals = [...listPrincipals(state)]
    const by = principals[command.by % principals.length]!
    const target = toTarget(state, command, { newName: `new-${at}`, missingRole: initial.missingRole })
    if (isPossible && !isPossible(state, target, by)) continue
    const permissions = getPermissions(state, by)
    const required =
      requires === undefined ? [] : [typeof requires === 'function' ? requires(state, target) : requires].flat()
    const has = (permission?: Permission) => permission === undefined || hasPermission(permissions, REALM, permission)
    const passesCheck = grants === undefined || canGrant(permissions, grants(state, target))
    const allowed = required.every(has) && (passesCheck || operation === unchecked)
    yield { operation, by, target, allowed, passesCheck, isPermitted: has(required[0]), state }
    if (allowed) perform(state, target, { by: permissions, guarded: operation !== unchecked })
  }
  return state
}

/** Chooses the objects of a command. */
function toTarget(
  state: ModelState,
  { first, second }: Command,
  names: Pick<Target, 'newName' | 'missingRole'>,
): Target {
  const choose = (map: ReadonlyMap<string, unknown>, number: number) => [...map.keys()][number % map.size]!
  return {
    user: choose(state.users, first),
    group: choose(state.groups, second),
    movedGroup: choose(state.groups, first),
    role: choose(state.roles, second),
    composite: choose(state.roles, first),
    client: choose(state.clients, first),
    clientScope: choose(state.clientScopes, second),
    ...names,
  }
}

/** Returns the admin roles that the administrators have gained. */
function listGainedRoles(initial: InitialRealm, state: ModelState): AdminRole[] {
  const before = listReachableRoles(getAllPermissions(createState(initial)))
  return [...listReachableRoles(getAllPermissions(state))].filter((role) => !before.has(role))
}

/** Runs all commands and returns the final state. */
function runToEnd(initial: InitialRealm, commands: readonly Command[], unchecked?: OperationName): ModelState {
  const steps = runModel(initial, commands, unchecked)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The property that administrators never gain one of these roles, with all checks or all but one. */
export const neverGainsRoles = (unchecked?: OperationName, roles: readonly AdminRole[] = adminRoles) =>
  fc.property(initialRealms, commandSequences({ frequent: unchecked }), (initial, commands) => {
    const gained = listGainedRoles(initial, runToEnd(initial, commands, unchecked))
    if (gained.some((role) => roles.includes(role))) throw new Error(`administrators gained ${gained.join(', ')}`)
  })

/** The property that an operation is never refused to callers who have the first of its permissions. */
export const isNeverRefused = (name: OperationName) =>
  fc.property(initialRealms, commandSequences({ frequent: name }), (initial, commands) => {
    for (const { operation, allowed, isPermitted } of runModel(initial, commands))
      if (operation === name && isPermitted && !allowed) throw new Error(`${name} was refused`)
  })
