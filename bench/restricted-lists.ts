// Lists for administrators with few roles, compared with the same lists for a realm administrator.
import type { AdminRole } from '../src/kinds/admin-roles.ts'
import { userRoleMappings } from '../src/service/admin-api/roles/role-mapping-owners.ts'
import { listAvailableRoles } from '../src/service/admin-api/roles/role-mappings.ts'
import { countMatchingUsers, users } from '../src/service/admin-api/users/users.ts'
import type { Context } from '../src/service/context/context.ts'
import { type Caller, SYSTEM } from '../src/service/context/service.ts'
import { users as writers } from '../src/service/users/users.ts'
import type { Bench, Case } from './measure.ts'

/** Lists in a round. */
const REPETITIONS = 10

/** Creates administrators and returns the cases for a realm with this many users. */
export async function restrictedListCases(bench: Bench, realm: string, userCount: number): Promise<Case[]> {
  const createCaller = async (role: AdminRole): Promise<Caller> => {
    const representation = { username: role, enabled: true, clientRoles: { 'realm-management': [role] } }
    const [user] = await bench.service.write(SYSTEM, realm, (context) => writers.create(context, [{ representation }]))
    return { actor: { kind: 'administrator', realm, userId: user!.id, user: role }, user: { realm, id: user!.id } }
  }
  const realmAdmin = await createCaller('realm-admin')
  const viewUsers = await createCaller('view-users')
  const manageUsers = await createCaller('manage-users')
  const queryUsers = await createCaller('query-users')
  const repeat = (caller: Caller, list: (context: Context) => Promise<unknown>) => () => async () => {
    for (let sent = 0; sent < REPETITIONS; sent++) await bench.service.read(caller, realm, list)
  }
  const createCase = (name: string, caller: Caller, list: (context: Context) => Promise<unknown>): Case => ({
    name,
    size: userCount,
    rounds: 30,
    seconds: 2,
    repetitions: REPETITIONS,
    baseline: repeat(realmAdmin, list),
    operation: repeat(caller, list),
  })
  const listPage = (context: Context) => users.list(context, {}, { first: userCount / 2, max: 50 })
  const search = (context: Context) => users.list(context, {}, { search: '*9', max: 50 })
  const count = (context: Context) => countMatchingUsers(context, { search: 'user' })
  const listRoles = (context: Context) =>
    listAvailableRoles(context, userRoleMappings, { owner: String(realmAdmin.user!.id) })
  return [
    createCase('list users, view-users', viewUsers, listPage),
    createCase('search users, view-users', viewUsers, search),
    createCase('search users, query-users', queryUsers, search),
    createCase('count users, query-users', queryUsers, count),
    createCase('available roles, manage-users', manageUsers, listRoles),
  ]
}
