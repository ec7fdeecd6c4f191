// Lists for administrators with few roles, against the same lists for one who has all of the realm.
import type { AdminRole } from '../src/kinds/admin-roles.ts'
import { userRoles } from '../src/service/admin-api/roles/role-mappings.ts'
import { listAvailable } from '../src/service/admin-api/roles/role-sets.ts'
import { countAll, users } from '../src/service/admin-api/users/users.ts'
import type { Context } from '../src/service/context/context.ts'
import { type Caller, SYSTEM } from '../src/service/context/service.ts'
import { users as writers } from '../src/service/users/users.ts'
import type { Bench, Case } from './measure.ts'

/** How many lists a round asks for. */
const TIMES = 10

/** The lists, of a realm with so many people. */
export async function lists(bench: Bench, realm: string, people: number): Promise<Case[]> {
  const caller = async (role: AdminRole): Promise<Caller> => {
    const representation = { username: role, enabled: true, clientRoles: { 'realm-management': [role] } }
    const [made] = await bench.service.write(SYSTEM, realm, (context) => writers.create(context, [{ representation }]))
    return { actor: { kind: 'administrator', realm, userId: made!.id, user: role }, user: { realm, id: made!.id } }
  }
  const [full, viewing, managing, looking] = [
    await caller('realm-admin'),
    await caller('view-users'),
    await caller('manage-users'),
    await caller('query-users'),
  ]
  const asked = (who: Caller, list: (context: Context) => Promise<unknown>) => () => async () => {
    for (let at = 0; at < TIMES; at++) await bench.service.read(who, realm, list)
  }
  const one = (name: string, who: Caller, list: (context: Context) => Promise<unknown>): Case => ({
    name,
    size: people,
    rounds: 30,
    seconds: 2,
    times: TIMES,
    floor: asked(full, list),
    operation: asked(who, list),
  })
  const page = (context: Context) => users.list(context, {}, { first: people / 2, max: 50 })
  const found = (context: Context) => users.list(context, {}, { search: '*9', max: 50 })
  const count = (context: Context) => countAll(context, { search: 'person' })
  const given = (context: Context) => listAvailable(context, userRoles, { owner: String(full.user!.id) })
  return [
    one('list users, view-users', viewing, page),
    one('search users, view-users', viewing, found),
    one('search users, query-users', looking, found),
    one('count users, query-users', looking, count),
    one('roles to give, manage-users', managing, given),
  ]
}
