// Who calls which realm: the cases in which the reference server was asked who may do what, and in which Regent is.
import type { Operation } from '../../src/http/operation.ts'
import { adminRoles } from '../../src/kinds/admin-roles.ts'

/** A realm with people who administer it, another one, or the one that administers all. */
export type RealmRelation = 'own' | 'other' | 'master'

/** Roles that people of one realm hold, and the realm that they call. */
export interface AdminCase {
  readonly holder: RealmRelation
  /** The client whose roles they hold; null: roles of the realm. `own` stands for the name of the realm. */
  readonly client: string | null
  readonly target: RealmRelation
  readonly roles: readonly string[]
}

/** What there is in every realm. In master there is no `realm-admin`: that is what `admin` is. */
const ofManagement = adminRoles.filter((role) => role !== 'create-realm')
const ofMaster = ofManagement.filter((role) => role !== 'realm-admin')
const management = { holder: 'own', client: 'realm-management', roles: ofManagement } as const
const realmInMaster = { holder: 'master', client: 'own-realm', roles: ofMaster } as const
const masterInMaster = { holder: 'master', client: 'master-realm', roles: ofMaster } as const
const ofRealm = { holder: 'master', client: null, roles: ['admin', 'create-realm'] } as const

/** The cases, by what they are called in admin-matrix.json. */
export const adminCases: Readonly<Record<string, AdminCase>> = {
  'realm-management, own realm': { ...management, target: 'own' },
  'realm-management, another realm': { ...management, target: 'other' },
  'realm-management, master': { ...management, target: 'master' },
  '<realm>-realm, that realm': { ...realmInMaster, target: 'own' },
  '<realm>-realm, another realm': { ...realmInMaster, target: 'other' },
  '<realm>-realm, master': { ...realmInMaster, target: 'master' },
  'master-realm, another realm': { ...masterInMaster, target: 'own' },
  'master-realm, master': { ...masterInMaster, target: 'master' },
  'roles of master, another realm': { ...ofRealm, target: 'own' },
  'roles of master, master': { ...ofRealm, target: 'master' },
}

/** What was recorded of operations that are the same in all cases. */
export interface RecordedRoles {
  /** By case, the smallest sets of roles that are enough, joined by a plus; a case in which nothing is enough is left out. */
  readonly enough: Readonly<Record<string, readonly string[]>>
  /** Method and path of each. */
  readonly operations: readonly string[]
}

/** What an operation is called there. */
export const toOperationName = ({ method, path }: Pick<Operation, 'method' | 'path'>): string => `${method} ${path}`

/** All pairs of what the list holds. */
export function listPairs<T>(list: readonly T[]): [T, T][] {
  return list.flatMap((one, at) => list.slice(at + 1).map((other): [T, T] => [one, other]))
}
