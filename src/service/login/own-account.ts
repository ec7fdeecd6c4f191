// What people change of their own account on the pages of log-in.
import { randomUUID } from 'node:crypto'
import { type FlatFields, foldTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { touchObjects } from '../../store/objects.ts'
import { insertCredentials, selectCredentials } from '../../store/users/credentials.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { journal } from '../journal/journal.ts'
import { writers } from '../kinds/index.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'

/** Changes fields of an account, and ends duties. Nobody has shown yet that a new address is theirs. Throws not_found, and conflict where a name or an address is taken. */
export async function changeOwnAccount(
  context: WriteContext,
  id: string,
  set: FlatFields,
  ended: readonly string[] = [],
): Promise<LiveObject> {
  const live = await find(context, id)
  const duties = (live.representation.requiredActions ?? []) as string[]
  const requiredActions = duties.filter((one) => !ended.includes(one))
  const stated = foldTexts(kinds.user, set)
  const isMoved = 'email' in stated && stated.email !== (live.representation.email ?? null)
  const all = { ...stated, requiredActions, ...(isMoved && { emailVerified: false }) }
  const [changed] = await writers.user.update(context, [{ live, set: all }])
  return changed!
}

/** Gives an account one more credential, behind those that it has, and returns its id. */
export async function addOwnCredential(
  context: WriteContext,
  id: string,
  { type, secretData, credentialData, userLabel }: Representation,
): Promise<string> {
  const { tx, realm, now, vault, version } = context
  const live = await find(context, id)
  const kept = await selectCredentials(tx, realm.number, [id])
  const body = {
    secretData: vault.seal(String(secretData)),
    credentialData: String(credentialData),
    ...(userLabel !== undefined && { userLabel }),
  }
  const place = Math.max(0, ...kept.map((one) => one.place)) + 10
  const row = { id: randomUUID(), user_account: id, type: String(type), place, created_at: now.toISOString(), body }
  await insertCredentials(tx, realm.number, [row])
  await touchObjects(tx, realm.number, { kind: 'user', version, ids: [id] })
  journal(context, 'update', 'user', live, { credentials: null })
  return row.id
}

async function find(context: WriteContext, id: string): Promise<LiveObject> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  if (!live) throw failure('not_found', 'User not found')
  return live
}
