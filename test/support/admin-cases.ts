// The cases of the recorded permission matrix: administrators of one realm call operations of a realm.
import type { Operation } from '../../src/http/operation.ts'
import { adminRoles } from '../../src/kinds/admin-roles.ts'

/** A realm: the home realm of the administrators, another one, or master. */
export type RealmRelation = 'home' | 'other' | 'master'

/** Roles of administrators of one realm, and the realm that they call. */
export interface AdminCase {
  readonly holder: RealmRelation
  /** Client id of the roles' client; null for realm roles. `home` is replaced by the name of the realm. */
  readonly client: string | null
  readonly target: RealmRelation
  readonly roles: readonly string[]
}

/** The roles of the client realm-management. Master has no `realm-admin`; `admin` takes its place. */
const ofManagement = adminRoles.filter((role) => role !== 'create-realm')
const ofMaster = ofManagement.filter((role) => role !== 'realm-admin')
const management = { holder: 'home', client: 'realm-management', roles: ofManagement } as const
const realmInMaster = { holder: 'master', client: 'home-realm', roles: ofMaster } as const
const masterInMaster = { holder: 'master', client: 'master-realm', roles: ofMaster } as const
const ofRealm = { holder: 'master', client: null, roles: ['admin', 'create-realm'] } as const

/** The cases by their names in admin-matrix.json. */
export const adminCases: Readonly<Record<string, AdminCase>> = {
  'realm-management, own realm': { ...management, target: 'home' },
  'realm-management, another realm': { ...management, target: 'other' },
  'realm-management, master': { ...management, target: 'master' },
  '<realm>-realm, that realm': { ...realmInMaster, target: 'home' },
  '<realm>-realm, another realm': { ...realmInMaster, target: 'other' },
  '<realm>-realm, master': { ...realmInMaster, target: 'master' },
  'master-realm, another realm': { ...masterInMaster, target: 'home' },
  'master-realm, master': { ...masterInMaster, target: 'master' },
  'roles of master, another realm': { ...ofRealm, target: 'home' },
  'roles of master, master': { ...ofRealm, target: 'master' },
}

/** The recorded result of operations with equal results in all cases. */
export interface RecordedRoles {
  /** The smallest sufficient sets of roles by case, joined by a plus. Cases without a sufficient set are omitted. */
  readonly enough: Readonly<Record<string, readonly string[]>>
  /** Methods and paths of the operations. */
  readonly operations: readonly string[]
}

/** Returns the name of an operation in admin-matrix.json. */
export const toOperationName = ({ method, path }: Pick<Operation, 'method' | 'path'>): string => `${method} ${path}`

/** Returns all pairs of elements of a list. */
export function listPairs<T>(list: readonly T[]): [T, T][] {
  return list.flatMap((first, at) => list.slice(at + 1).map((other): [T, T] => [first, other]))
}
