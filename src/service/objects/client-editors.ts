// Editors of clients. A client that administrators log in with may be changed only with full access to its realm. Tokens of other
// clients carry at most the admin roles that the last editor of the client could grant. See decision 0072.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { affectsTokens } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import { type ClientEditor, setEditorRoles } from '../../store/client-editors.ts'
import { hasFullAccess, listGrantableRoles } from '../context/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { resolveUpdate } from './resolved-updates.ts'
import type { ObjectUpdate } from './writers.ts'

/**
 * Returns the editor to record with updates of clients: for those clients whose tokens the updates can affect. Undefined in a new
 * realm, and if there are none.
 */
export function toClientEditor(context: WriteContext, updates: readonly ObjectUpdate[]): ClientEditor | undefined {
  if (isNewRealm(context)) return undefined
  const clients = listUpdatesAffectingTokens(context, updates).map(({ live }) => live.id)
  return clients.length ? { clients, roles: toEditorRoles(context) } : undefined
}

/** Records the admin roles that the caller may grant as the limit for tokens of the clients. One statement, or none. */
export async function recordEditor(context: WriteContext, clients: readonly string[]): Promise<void> {
  if (!clients.length || isNewRealm(context)) return
  await setEditorRoles(context.tx, context.realm.number, { clients, roles: toEditorRoles(context) })
}

/** Records the caller as the editor of new clients. No statement for callers with full access, which is the default. */
export async function recordCreator(context: WriteContext, clients: readonly string[]): Promise<void> {
  if (!hasFullAccess(context.permissions, context.realm.name)) await recordEditor(context, clients)
}

/** Throws forbidden if updates could affect tokens of a client that administrators log in with, without full access. No statement. */
export function requireClientUpdates(context: WriteContext, updates: readonly ObjectUpdate[]): void {
  if (hasFullAccess(context.permissions, context.realm.name)) return
  requireClientEditor(
    context,
    listUpdatesAffectingTokens(context, updates).map(({ live }) => live.key),
  )
}

/** Throws forbidden if administrators log in with one of the clients, without full access to the realm. No statement. */
export function requireClientEditor(context: WriteContext, clients: readonly Key[]): void {
  const { realm, permissions } = context
  if (hasFullAccess(permissions, realm.name) || isNewRealm(context)) return
  const key = clients.find((client) => isBuiltIn(realm.name, 'client', client))
  if (!key) return
  const reason = `Administrators log in with the client ${key[0]}: changing it requires all admin roles of ${realm.name}`
  throw failure('forbidden', 'HTTP 403 Forbidden', { reason })
}

/** Returns the updates that can change where tokens are sent or what is in them. */
function listUpdatesAffectingTokens(context: WriteContext, updates: readonly ObjectUpdate[]): ObjectUpdate[] {
  return updates.filter((update) => {
    const { set, relations } = resolveUpdate(context, kinds.client, update)
    const paths = [...Object.keys(set), ...relations.map(({ field }) => field)]
    return paths.some((path) => affectsTokens(kinds.client, path))
  })
}

/** Returns the admin roles that the caller may grant; null: all. */
function toEditorRoles({ realm, permissions }: WriteContext): ClientEditor['roles'] {
  return hasFullAccess(permissions, realm.name) ? null : listGrantableRoles(realm.name, permissions)
}

/** Whether this transaction creates the realm: its creator also sets its keys, flows and users. */
const isNewRealm = ({ version }: Pick<WriteContext, 'version'>): boolean => version === 1
