// The key of the vault. It is stored in the store, sealed with the key of the key file, so that the key file can be replaced
// without sealing the secrets again.
import { randomBytes } from 'node:crypto'
import type { Store } from '../../store/database/database.ts'
import { getOrCreateSetting, getSetting, replaceSetting } from '../../store/database/store-settings.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { getSealingKeyId, isSealed, openVault, type Vault } from './vault.ts'

const SETTING = 'key'

/** Opens the vault of the store with the key of the key file. The first key becomes that of the store. Throws if the key is another one. */
export function unlockVault(store: Store, key: Uint8Array): Promise<Vault> {
  const fileVault = openVault(key)
  return store.transaction(async (tx) => {
    const vaultKey = await getOrCreateSetting(tx, SETTING, fileVault.seal(randomBytes(32).toString('base64url')))
    const keyId = isSealed(vaultKey) ? getSealingKeyId(vaultKey) : vaultKey
    if (keyId !== fileVault.keyId)
      throw new Error(
        `The secrets of this store are protected by the key ${keyId}, but the key file contains the key ${fileVault.keyId}. ` +
          "Name the store's key file with --key-file (REGENT_KEY_FILE).",
      )
    if (isSealed(vaultKey)) return openVault(Buffer.from(fileVault.open(vaultKey), 'base64url'))
    // Stores of the first versions use the key of the key file itself, and contain only its id.
    await replaceSetting(tx, SETTING, { from: vaultKey, to: fileVault.seal(Buffer.from(key).toString('base64url')) })
    return fileVault
  })
}

/** Returns the id of the key that opens the store. One statement. */
export async function getStoreKeyId(tx: Transaction): Promise<string> {
  return getSealingKeyId(await getSetting(tx, SETTING))
}

/** Seals the key of the vault with another key from now on; no secret changes. Throws if another process has replaced it meanwhile. */
export async function replaceStoreKey(store: Store, currentKey: Uint8Array, newKey: Uint8Array): Promise<void> {
  const [current, next] = [openVault(currentKey), openVault(newKey)]
  await store.transaction(async (tx) => {
    const vaultKey = await getOrCreateSetting(tx, SETTING, '')
    if (
      getSealingKeyId(vaultKey) === current.keyId &&
      (await replaceSetting(tx, SETTING, { from: vaultKey, to: next.seal(current.open(vaultKey)) }))
    )
      return
    throw new Error(
      `The store's key was replaced by the key ${getSealingKeyId(vaultKey)} meanwhile. Nothing was changed: start again with that key.`,
    )
  })
}
