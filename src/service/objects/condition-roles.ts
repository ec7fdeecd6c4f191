// Roles that conditions of flows name: for whom they hold decides who is asked for a second factor, or kept out.
import type { Key } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import { selectContainedRoles } from '../../store/users/effective-roles.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { isWhole } from '../context/power.ts'
import { demandAnybody, roleKeysOf } from '../permissions/privilege.ts'
import { listObjects } from './live.ts'

/** Roles that a change is about. */
interface ChangedRoles {
  /** Keys that come or go; that of a client stands for all of its roles. */
  readonly keys: readonly Key[]
  /** Ids of roles that other roles contain from now on or no more; those that are deleted are among them. */
  readonly ids: readonly string[]
}

/**
 * Throws forbidden where the change decides for whom a condition of a flow holds, and the caller has less than anybody in the realm. Who has a
 * role without permissions is for those who manage users. Statements: none to who has all of the realm, else four at most.
 */
export async function demandConditionRoles(context: Context, { keys, ids }: ChangedRoles): Promise<void> {
  const { tx, realm, power } = context
  if (isWhole(power, realm.name) || !(keys.length || ids.length)) return
  const named = await rolesOfConditions(context)
  if (!named.length) return
  if (keys.some((key) => named.some((one) => key.every((part, at) => part === one[at])))) return demandAnybody(context)
  if (!ids.length) return
  const wanted = new Set(
    (await selectKeys(tx, realm.number, { kind: 'role', filter: { keys: named } })).map(({ id }) => id),
  )
  const contained = await selectContainedRoles(tx, realm.number, { roles: ids, stop: undefined })
  if (contained.some(({ id }) => wanted.has(id))) await demandAnybody(context)
}

/** The keys that conditions may mean. One that this transaction creates is in no flow that was there before. One statement. */
async function rolesOfConditions(context: Context): Promise<Key[]> {
  const entries = 'entries' in context ? (context as WriteContext).entries : []
  const created = new Set(entries.flatMap(({ operation, object }) => (operation === 'create' ? [object] : [])))
  const configs = await listObjects(context, 'authenticatorConfig', {})
  return configs
    .filter(({ id }) => !created.has(id))
    .flatMap(({ representation }) => {
      const { condUserRole } = (representation.config ?? {}) as Readonly<Record<string, string>>
      return condUserRole ? roleKeysOf(condUserRole) : []
    })
}
