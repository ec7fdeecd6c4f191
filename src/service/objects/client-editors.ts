// Who may edit clients that administrators log in by, and what goes with tokens of the others: administrative roles that the last
// editor of the client could grant. See decision 0072.
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key } from '../../kinds/kind.ts'
import { type EditorRecord, setEditorRoles } from '../../store/client-editors.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { grantable, isWhole } from '../context/power.ts'
import { changeOf } from './changes.ts'
import type { LiveObject } from './live.ts'
import type { Update } from './writers.ts'

/**
 * Returns what an update of these clients records of the caller as their editor; undefined in a new realm. Built-in clients are recorded
 * only of who may grant everything: from weaker callers, only harmless changes of them are accepted.
 */
export function editorOf(
  { realm, power, version }: WriteContext,
  clients: readonly Pick<LiveObject, 'id' | 'key'>[],
): EditorRecord | undefined {
  if (isNewRealm({ version })) return undefined
  if (isWhole(power, realm.name)) return { clients: clients.map(({ id }) => id), roles: null }
  const others = clients.filter(({ key }) => !isBuiltIn(realm.name, 'client', key))
  return { clients: others.map(({ id }) => id), roles: grantable(realm.name, power) }
}

/** Records what the caller may grant as what goes with tokens of these clients. One statement, or none. */
export async function recordEditor(context: WriteContext, clients: readonly string[]): Promise<void> {
  const { tx, realm, power } = context
  if (!clients.length || isNewRealm(context)) return
  await setEditorRoles(tx, realm.number, {
    clients,
    roles: isWhole(power, realm.name) ? null : grantable(realm.name, power),
  })
}

/** Records the same of clients that this call creates: no statement where the caller may grant everything. */
export async function recordCreator(context: WriteContext, clients: readonly string[]): Promise<void> {
  if (!isWhole(context.power, context.realm.name)) await recordEditor(context, clients)
}

/** Throws forbidden where updates could redirect or widen tokens of a client that administrators log in by. No statement. */
export function demandClientUpdates(context: WriteContext, updates: readonly Update[]): void {
  if (isWhole(context.power, context.realm.name)) return
  const consequential = updates.filter((update) => {
    const { set, relations } = changeOf(context, kinds.client, update)
    const paths = [...Object.keys(set), ...relations.map(({ field }) => field)]
    return paths.some((path) => !resolve(kinds.client, path).field.harmless)
  })
  demandClientEditor(
    context,
    consequential.map(({ live }) => live.key),
  )
}

/** Throws forbidden where administrators log in by one of the clients and the caller has less than all of the realm. No statement. */
export function demandClientEditor(context: WriteContext, clients: readonly Key[]): void {
  const { realm, power } = context
  if (isWhole(power, realm.name) || isNewRealm(context)) return
  const key = clients.find((client) => isBuiltIn(realm.name, 'client', client))
  if (!key) return
  const reason = `administrators log in by client ${key[0]}: changing it takes all administrative roles of ${realm.name}`
  throw failure('forbidden', 'HTTP 403 Forbidden', { reason })
}

/** Whether the realm is created by this transaction: its creator brings its keys, flows and users too. */
const isNewRealm = ({ version }: Pick<WriteContext, 'version'>): boolean => version === 1
