// Who has which roles: users and groups.
import { findGroup } from '../users/groups.ts'
import { findUser } from '../users/users.ts'
import type { RoleSet } from './role-sets.ts'

const common = { view: 'view-users', manage: 'manage-users', clientNotFound: 'Client not found' } as const

/** The roles of a user. */
export const userRoles: RoleSet = { ...common, find: findUser, holders: ({ id }) => ({ users: [id] }) }

/** The roles of a group. */
export const groupRoles: RoleSet = { ...common, find: findGroup, holders: ({ id }) => ({ groups: [id] }) }
