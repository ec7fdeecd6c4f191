// The key pairs that realms sign with, kept with their private half sealed. They are not configuration: nobody states them.
import { insertRealmKey, type StoredKey, selectRealmKeys } from '../store/keys.ts'
import type { Context, WriteContext } from './context.ts'

export type { StoredKey } from '../store/keys.ts'

/** The keys of the context's realm with their private halves opened, active ones first. One statement. */
export async function findKeys({ tx, realm, vault }: Context): Promise<StoredKey[]> {
  const stored = await selectRealmKeys(tx, realm.number)
  return stored.map((key) => ({ ...key, privateKey: vault.open(key.privateKey) }))
}

/** Keeps a key and gives the keys that the realm has then: where another process was faster, its key and not this one. */
export async function keepKey(context: WriteContext, key: StoredKey): Promise<StoredKey[]> {
  const { tx, realm, vault, now } = context
  await insertRealmKey(tx, realm.number, now, { ...key, privateKey: vault.seal(key.privateKey) })
  return findKeys(context)
}
