// Administrators with few roles, who try everything: random sequences of operations, played in the miniature.
import fc from 'fast-check'
import { type AdminRole, adminRoles, type Permission } from '../../src/kinds/admin-roles.ts'
import { hasPermission, canGrant } from '../../src/service/context/admin-permissions.ts'
import { type Beginning, begin } from './beginning.ts'
import { type Operation, type OperationName, operations, type Target } from './operations.ts'
import { type Principal, power, powerOfAll, principals, REALM, reach, type State } from './state.ts'

/** One of the administrators, or somebody whom they can act as, does something to something; numbers say to which of all. */
export interface Command {
  readonly operation: OperationName
  readonly by: number
  readonly first: number
  readonly second: number
}

/** A command as it was carried out. */
export interface Step {
  readonly operation: OperationName
  readonly by: Principal
  readonly target: Target
  readonly allowed: boolean
  /** Whether its check lets it pass. */
  readonly checked: boolean
  /** Whether the caller has the first of the permissions that it needs. */
  readonly permitted: boolean
}

const names = Object.keys(operations) as OperationName[]
const own = adminRoles.filter((role) => role !== 'create-realm')
const changing: AdminRole[] = [
  'manage-users',
  'manage-clients',
  'manage-realm',
  'manage-identity-providers',
  'impersonation',
  'view-clients',
]

/** How realms begin. */
export const beginnings: fc.Arbitrary<Beginning> = fc
  .record({
    administrators: fc.array(
      fc.tuple(fc.constantFrom(...changing), fc.subarray(own, { maxLength: 1 })).map(([one, more]) => [one, ...more]),
      { minLength: 1, maxLength: 2 },
    ),
    strong: fc.subarray(own, { minLength: 1, maxLength: 3 }),
    open: fc.boolean(),
    newcomersJoin: fc.constantFrom('bosses', 'others'),
    title: fc.constantFrom(...own.filter((role) => role !== 'realm-admin')),
  })
  .map(({ administrators, strong, title, ...more }) => ({
    ...more,
    administrators: administrators.map((roles) => [...new Set(roles)].filter((role) => role !== title)),
    strong: strong.filter((role) => role !== title),
    title,
  }))

/** Objects that come first are what it is about: they are chosen more often. */
const choice = fc.oneof(fc.nat(8), fc.nat(40))

/** Sequences of commands; half of them of one operation, where one is named. */
export function sequences({
  often,
  maxLength = 12,
}: {
  often?: OperationName | undefined
  maxLength?: number
} = {}): fc.Arbitrary<Command[]> {
  const any = fc.constantFrom(...names)
  const operation = often ? fc.oneof(any, fc.constant(often)) : any
  return fc.array(fc.record({ operation, by: choice, first: choice, second: choice }), { minLength: 1, maxLength })
}

/** Plays a sequence from a beginning, the rule without the check of one operation; tells of each step as it is known before it is done. */
export function* play(
  beginning: Beginning,
  commands: readonly Command[],
  without?: OperationName,
): Generator<Step & { readonly state: State }, State> {
  const state = begin(beginning)
  for (const [at, { operation, by, first, second }] of commands.entries()) {
    const { needs, applies, gives, perform }: Operation = operations[operation]
    const all = [...principals(state)]
    const actor = all[by % all.length]!
    const target = targetOf(state, beginning, at, first, second)
    if (applies && !applies(state, target, actor)) continue
    const may = power(state, actor)
    const permissions = needs === undefined ? [] : [typeof needs === 'function' ? needs(state, target) : needs].flat()
    const holds = (permission?: Permission) => permission === undefined || hasPermission(may, REALM, permission)
    const checked = gives === undefined || canGrant(may, gives(state, target))
    const allowed = permissions.every(holds) && (checked || operation === without)
    yield { operation, by: actor, target, allowed, checked, permitted: holds(permissions[0]), state }
    if (allowed) perform(state, target, { by: may, guarded: operation !== without })
  }
  return state
}

function targetOf(state: State, { title }: Beginning, at: number, first: number, second: number): Target {
  const one = (map: ReadonlyMap<string, unknown>, number: number) => [...map.keys()][number % map.size]!
  return {
    user: one(state.users, first),
    group: one(state.groups, second),
    moved: one(state.groups, first),
    role: one(state.roles, second),
    whole: one(state.roles, first),
    client: one(state.clients, first),
    clientScope: one(state.clientScopes, second),
    fresh: `new-${at}`,
    title,
  }
}

/** What the administrators could not do before, and can now. */
function risenBy(beginning: Beginning, state: State): AdminRole[] {
  const before = reach(powerOfAll(begin(beginning)))
  return [...reach(powerOfAll(state))].filter((role) => !before.has(role))
}

/** Plays to the end. */
function played(beginning: Beginning, commands: readonly Command[], without?: OperationName): State {
  const steps = play(beginning, commands, without)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** That what administrators can do never grows by one of these roles, under the rule without the check of one operation. */
export const neverGrows = (without?: OperationName, roles: readonly AdminRole[] = adminRoles) =>
  fc.property(beginnings, sequences({ often: without }), (beginning, commands) => {
    const risen = risenBy(beginning, played(beginning, commands, without))
    if (risen.some((role) => roles.includes(role))) throw new Error(`they gained ${risen.join(', ')}`)
  })

/** That an operation is never refused to somebody who has its permission, or the first of them. */
export const neverRefused = (name: OperationName) =>
  fc.property(beginnings, sequences({ often: name }), (beginning, commands) => {
    for (const { operation, allowed, permitted } of play(beginning, commands))
      if (operation === name && permitted && !allowed) throw new Error(`${name} was refused`)
  })
