// What people change of their own account on the pages of log-in.
import { randomUUID } from 'node:crypto'
import type { FlatFields } from '../kinds/compare.ts'
import type { Representation } from '../kinds/kind.ts'
import { insertCredentials, selectCredentials } from '../store/credentials.ts'
import { touchObjects } from '../store/objects.ts'
import { journal, type WriteContext } from './context.ts'
import { failure } from './errors.ts'
import { writers } from './index.ts'
import { type LiveObject, listObjects } from './live.ts'

/** Changes fields of an account, and ends duties. Throws not_found, and conflict where a name or an address is taken. */
export async function changeOwnAccount(
  context: WriteContext,
  id: string,
  set: FlatFields,
  ended: readonly string[] = [],
): Promise<LiveObject> {
  const live = await find(context, id)
  const duties = (live.representation.requiredActions ?? []) as string[]
  const requiredActions = duties.filter((one) => !ended.includes(one))
  const [changed] = await writers.user.update(context, [{ live, set: { ...set, requiredActions } }])
  return changed!
}

/** Gives an account one more credential, behind those that it has. */
export async function addOwnCredential(
  context: WriteContext,
  id: string,
  { type, secretData, credentialData, userLabel }: Representation,
): Promise<void> {
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
  await touchObjects(tx, realm.number, 'user', version, [id])
  journal(context, 'update', 'user', live, { credentials: null })
}

async function find(context: WriteContext, id: string): Promise<LiveObject> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  if (!live) throw failure('not_found', 'User not found')
  return live
}
