// What a principal may administer, from the roles that they hold: pure.

import { type AdminRole, adminRoles, type Permission, permissionToGive, rolesGiving } from '../../kinds/admin-roles.ts'
import { adminClientOf, MASTER } from '../../kinds/built-in/index.ts'

/** What an actor may administer: every realm whole, or by name of a realm the roles that administer it. */
export type Power =
  | { readonly all: true }
  | { readonly all: false; readonly realms: ReadonlyMap<string, ReadonlySet<AdminRole>> }

/** All power. */
export const everything: Power = { all: true }

/** Keycloak: the role of master that administers every realm. */
export const ADMIN = 'admin'

/** Keycloak: the role of master that creates realms. */
export const CREATE_REALM = 'create-realm'
/** Keycloak: the client whose roles administer its realm. */
export const MANAGEMENT = 'realm-management'
const SUFFIX = adminClientOf('')

/** A role by name, with the client that it belongs to. */
export interface NamedRole {
  readonly client: string | null
  readonly name: string
}

/** What roles of a realm let administer. */
export function powerFrom(realm: string, roles: readonly NamedRole[]): Power {
  const ofRealm = roles.filter(({ client }) => client === null)
  if (realm === MASTER && ofRealm.some(({ name }) => name === ADMIN)) return everything
  const realms = new Map<string, Set<AdminRole>>()
  for (const role of roles) {
    const target = administeredBy(realm, role)
    if (target === undefined || !isAdminRole(role.name)) continue
    realms.set(target, (realms.get(target) ?? new Set()).add(role.name))
  }
  return { all: false, realms }
}

/** What both of two powers let administer. */
export function within(one: Power, other: Power): Power {
  if (one.all) return other
  if (other.all) return one
  const realms = new Map<string, ReadonlySet<AdminRole>>()
  for (const [realm, roles] of one.realms) {
    const shared = [...roles].filter((role) => other.realms.get(realm)?.has(role))
    if (shared.length) realms.set(realm, new Set(shared))
  }
  return { all: false, realms }
}

/** Whether the power reaches a realm for that purpose. */
export function allows(power: Power, realm: string, permission: Permission): boolean {
  if (power.all) return true
  const held = power.realms.get(realm)
  return held !== undefined && rolesGiving(permission).some((role) => held.has(role))
}

/** The roles that the power lacks so that the other one may be given: by name, each after the realm that it administers. */
export function lacking(power: Power, other: Power): string[] {
  if (power.all) return []
  if (other.all) return [`${ADMIN} of ${MASTER}`]
  return [...other.realms].flatMap(([realm, roles]) => {
    const missing = [...roles].filter((role) => !allows(power, realm, permissionToGive[role]))
    // What it consists of is missing with it.
    return (missing.includes('realm-admin') ? ['realm-admin'] : missing.sort()).map((role) => `${role} of ${realm}`)
  })
}

/** Whether the power is all that tokens of a realm can carry: all of the realm, or in master of every realm. */
export const isWhole = (power: Power, realm: string): boolean =>
  power.all || (realm !== MASTER && allows(power, realm, 'administer-realm'))

/** The administrative roles of a realm that are in a power, or may be given by it. */
export function grantable(realm: string, power: Power): NamedRole[] {
  const held = power.all ? new Map<string, ReadonlySet<AdminRole>>() : power.realms
  const targets = realm === MASTER ? [...held.keys()] : [realm]
  return targets.flatMap((target) =>
    adminRoles
      .filter((role) => held.get(target)?.has(role) || allows(power, target, permissionToGive[role]))
      .flatMap((name) => administering(realm, target, name)),
  )
}

/** Whether all that the other power lets administer is in the power, so that it may be given. */
export const covers = (power: Power, other: Power): boolean => lacking(power, other).length === 0

/** What a source may touch, and give at most; absent: all. */
export interface Ceiling {
  readonly realms?: readonly string[] | undefined
  readonly roles?: readonly AdminRole[] | undefined
}

/** The power that can be given in a realm under ceilings. */
export function underCeilings(realm: string, ceilings: readonly Ceiling[]): Power {
  return ceilings.reduce<Power>(
    (power, { roles }) => (roles ? within(power, { all: false, realms: new Map([[realm, new Set(roles)]]) }) : power),
    everything,
  )
}

/** Whether the power is more than to take the place of people. Keycloak: that alone shows nothing of the server. */
export const administersAny = (power: Power): boolean =>
  power.all || [...power.realms.values()].some((roles) => [...roles].some((role) => role !== 'impersonation'))

/** Whether the power is all of it in one realm at least. */
export const administersWhole = (power: Power): boolean =>
  power.all || [...power.realms.keys()].some((realm) => allows(power, realm, 'administer-realm'))

/** Whether the power reaches no realm at all. */
export const isNothing = (power: Power): boolean => !power.all && power.realms.size === 0

/** The realm that a role administers. Keycloak: in master, each realm has a client for that. */
function administeredBy(realm: string, { client, name }: NamedRole): string | undefined {
  if (realm !== MASTER) return client === MANAGEMENT && name !== CREATE_REALM ? realm : undefined
  if (client === null) return name === CREATE_REALM ? MASTER : undefined
  return client.endsWith(SUFFIX) && name !== CREATE_REALM ? client.slice(0, -SUFFIX.length) : undefined
}

/** The role of a realm that administers another one, or itself: the inverse of `administeredBy`. */
function administering(realm: string, target: string, name: AdminRole): NamedRole[] {
  if (name === CREATE_REALM) return realm === MASTER && target === MASTER ? [{ client: null, name }] : []
  return [{ client: realm === MASTER ? adminClientOf(target) : MANAGEMENT, name }]
}

const isAdminRole = (name: string): name is AdminRole => (adminRoles as readonly string[]).includes(name)
