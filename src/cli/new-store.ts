// A new store in memory, for a command that needs no store of its own.
import { randomBytes } from 'node:crypto'
import { openKeyStoreDirectory, UNKNOWN_KEY_STORES } from '../service/context/key-store-directory.ts'
import { openPasswordBlacklists, type PasswordBlacklists } from '../service/context/password-blacklists.ts'
import type { Service } from '../service/context/service.ts'
import { openVaultDirectory, type VaultDirectory } from '../service/context/vault-directory.ts'

/** Runs the work on a new store in memory, which is discarded. What servers have in folders exists there whatever its name, unless variables name the folders. */
export async function withNewStore<Result>(work: (service: Service) => Promise<Result>): Promise<Result> {
  const { openService } = await import('../service/operations/open-service.ts')
  const { bootstrap } = await import('../service/operations/bootstrap.ts')
  const {
    REGENT_PASSWORD_LISTS: passwordLists,
    REGENT_VAULT_DIR: vaultDir,
    REGENT_KEY_STORE_DIR: keyStoreDir,
  } = process.env
  const service = await openService({
    location: {},
    key: randomBytes(32),
    passwordBlacklists: passwordLists ? openPasswordBlacklists(passwordLists) : UNKNOWN_BLACKLISTS,
    vaultDirectory: vaultDir ? openVaultDirectory(vaultDir) : UNKNOWN_VAULT,
    keyStoreDirectory: keyStoreDir ? openKeyStoreDirectory(keyStoreDir) : UNKNOWN_KEY_STORES,
  })
  try {
    await bootstrap(service)
    return await work(service)
  } finally {
    await service.close()
  }
}

/** The password blacklists of a server, which are unknown: any list may exist. */
const UNKNOWN_BLACKLISTS: PasswordBlacklists = { has: () => true, contains: async () => false }

/** The vault of a server, which is unknown: any secret may exist. */
const UNKNOWN_VAULT: VaultDirectory = { isSet: true, read: async () => '' }
