import { keysOf } from '../../kinds/compare.ts'
import { address } from '../../kinds/tree.ts'
import { declaresRoles } from '../../kinds/user.ts'
import type { Action, Note } from '../model/action.ts'
import type { DeclaredObject, PlanInput } from '../model/plan-input.ts'

/** Notes which users a plan creates with declared roles that leave out the default role: one note for all of them. */
export function usersWithoutDefaultRole(
  { declared: stated, defaultRole }: PlanInput,
  actions: readonly Action[],
): Note[] {
  if (defaultRole === undefined) return []
  const users = actions.flatMap(({ operation, kind, key }) => {
    const user = operation === 'create' && kind === 'user' ? stated.get(address(kind, key)) : undefined
    return user && lacks(user, defaultRole) ? [user] : []
  })
  const [first] = users
  if (!first) return []
  const who = users.length === 1 ? `user ${first.key[0]} declares roles` : `${users.length} users declare roles`
  const message = `${who} without ${defaultRole}, and ${users.length === 1 ? 'is' : 'are'} created without this default role: add it to realmRoles where it is wanted`
  return [{ message, position: first.origin.locate(first.fields.has('realmRoles') ? 'realmRoles' : 'clientRoles') }]
}

function lacks({ fields }: DeclaredObject, defaultRole: string): boolean {
  const values = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
  return declaresRoles(values) && !keysOf(values.realmRoles).some(([name]) => name === defaultRole)
}
