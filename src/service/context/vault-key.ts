// The key of a store's vault is its own, and kept in it, sealed by the key of the key file: that one can be replaced without
// touching a secret.
import { randomBytes } from 'node:crypto'
import type { Store } from '../../store/database/database.ts'
import { getSetting, keepSetting, replaceSetting } from '../../store/database/settings.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { isSealed, openVault, sealedBy, type Vault } from './vault.ts'

const SETTING = 'key'

/** The vault of the store. The first key that a store is opened with is its key. Throws where it is opened with another one. */
export function unlock(store: Store, key: Uint8Array): Promise<Vault> {
  const file = openVault(key)
  return store.transaction(async (tx) => {
    const kept = await keepSetting(tx, SETTING, file.seal(randomBytes(32).toString('base64url')))
    const by = isSealed(kept) ? sealedBy(kept) : kept
    if (by !== file.keyId)
      throw new Error(
        `the secrets of this store are protected by the key ${by}, and the key file holds ${file.keyId}: name the file of the store's key with --key-file (REGENT_KEY_FILE)`,
      )
    if (isSealed(kept)) return openVault(Buffer.from(file.open(kept), 'base64url'))
    // In stores of the first versions, the vault's key is that of the file.
    await replaceSetting(tx, SETTING, { from: kept, to: file.seal(Buffer.from(key).toString('base64url')) })
    return file
  })
}

/** Id of the key that opens the store. One statement. */
export async function keyOf(tx: Transaction): Promise<string> {
  return sealedBy(await getSetting(tx, SETTING))
}

/** From now on another key opens the vault: all that is in it stays as it is. Throws where somebody else has replaced it meanwhile. */
export async function replaceKey(store: Store, key: Uint8Array, next: Uint8Array): Promise<void> {
  const [file, other] = [openVault(key), openVault(next)]
  await store.transaction(async (tx) => {
    const kept = await keepSetting(tx, SETTING, '')
    if (
      sealedBy(kept) === file.keyId &&
      (await replaceSetting(tx, SETTING, { from: kept, to: other.seal(file.open(kept)) }))
    )
      return
    throw new Error(`the key was replaced by another one meanwhile, ${sealedBy(kept)}: nothing was changed`)
  })
}
