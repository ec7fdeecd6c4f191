// How the miniature begins: administrators with few roles, and stronger ones, in everything that power can come from.
import { type AdminRole, adminRoles } from '../../src/kinds/admin-roles.ts'
import { builtInObjects } from '../../src/kinds/built-in/index.ts'
import {
  administering,
  type Client,
  DEFAULT,
  keyOf,
  LOGIN,
  MANAGEMENT,
  NEWCOMER,
  REALM,
  type Role,
  type State,
  type User,
  VISITOR,
} from './state.ts'

const builtIn = new Map(
  builtInObjects(REALM).flatMap((one) => (one.kind === 'role' ? [[JSON.stringify(one.key), one] as const] : [])),
)

/** How a realm begins: what the administrators have, and what the stronger ones have that are there too. */
export interface Beginning {
  readonly administrators: readonly (readonly AdminRole[])[]
  readonly strong: readonly AdminRole[]
  /** What no role is called any more. */
  readonly title: AdminRole
  /** Whether anybody may register, and what group newcomers join. */
  readonly open: boolean
  readonly newcomersJoin: 'bosses' | 'others'
}

/** The realm as it begins. */
export function begin({ administrators, strong, title, open, newcomersJoin }: Beginning): State {
  const roles = new Map<string, Role>()
  const role = (client: string | null, name: string, parts: Iterable<string> = []) =>
    roles.set(keyOf({ client, name }), { client, name, parts: new Set(parts) })
  role(null, DEFAULT)
  role(null, 'plain')
  role(null, 'strong', strong.map(administering))
  role(null, 'nested', ['strong'])
  role('shop', 'keeper')
  role('robot', 'part', ['nested'])
  // What the administrators have comes first: it is chosen more often.
  for (const name of new Set([...administrators.flat(), ...adminRoles]))
    if (name !== 'create-realm' && name !== title) role(MANAGEMENT, name, partsOf(name, title))
  const user = (held: readonly string[] = [], groups: readonly string[] = []): User => ({
    roles: new Set([DEFAULT, ...held]),
    groups: new Set(groups),
  })
  const weak = administrators.map((held, at): [string, User] => [`weak-${at}`, user(held.map(administering), ['crew'])])
  const client = (full: boolean, scopes: readonly string[] = []): Client => ({
    full,
    scope: new Set(),
    mapped: new Set(),
    scopes: new Set(scopes),
    written: {},
    believed: {},
  })
  return {
    roles,
    declared: {
      roles: new Map([
        ['strong', new Set(strong.map(administering))],
        ['nested', new Set(['strong'])],
        ['robot/part', new Set(['nested'])],
      ]),
      groups: new Map([['bosses', new Set(['strong'])]]),
      users: new Map([
        ['boss', new Set(['strong'])],
        ['service-account-robot', new Set(['robot/part'])],
      ]),
    },
    recreated: new Set(),
    settings: new Set(['config', 'step', 'flow', 'action']),
    groups: new Map([
      ['bosses', { parent: undefined, roles: new Set(['strong']) }],
      ['inner', { parent: 'bosses', roles: new Set() }],
      ['crew', { parent: undefined, roles: new Set() }],
      ['others', { parent: undefined, roles: new Set(['plain']) }],
    ]),
    users: new Map([
      ...weak,
      ['boss', user(['strong'])],
      ['member', user([], ['inner'])],
      ['ann', user([], ['others'])],
      [VISITOR, user()],
      ...(open ? [[NEWCOMER, user([], [newcomersJoin])] as const] : []),
      ['service-account-robot', { ...user(['robot/part']), account: 'robot' }],
      ['service-account-job', { ...user(), account: 'job' }],
    ]),
    clients: new Map([
      [LOGIN, client(true)],
      ['shop', client(false, ['narrow'])],
      ['robot', client(true)],
      ['idle', client(false)],
      ['job', client(true)],
    ]),
    clientScopes: new Map([
      ['narrow', { scope: new Set(), mapped: new Set() }],
      ['wide', { scope: new Set(['nested']), mapped: new Set() }],
      ['loud', { scope: new Set(), mapped: new Set(strong.slice(0, 1).map(administering)) }],
    ]),
    defaultGroups: new Set([newcomersJoin]),
    linked: new Set(['boss', VISITOR]),
    people: new Set([...weak.map(([name]) => name), VISITOR, ...(open ? [NEWCOMER] : [])]),
    open,
    secrets: new Set(['shop', 'job']),
    applications: new Set(['shop']),
  }
}

/** What a role that administers contains, as every new realm has it. */
function partsOf(name: AdminRole, without: AdminRole): string[] {
  const key = JSON.stringify(['client', MANAGEMENT, name])
  const { representation } = builtIn.get(key)!
  const { client = {} } = (representation.composites ?? {}) as { client?: Record<string, AdminRole[]> }
  return (client[MANAGEMENT] ?? []).filter((part) => part !== without).map(administering)
}
