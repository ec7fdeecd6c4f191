// What a back-up holds, in an empty store: all of it, or nothing.
import type { Readable } from 'node:stream'
import {
  countRows,
  deleteSettings,
  finishRestore,
  insertRows,
  listTables,
  lockStore,
  withoutForeignKeys,
} from '../../store/database/backup.ts'
import { openStore, type StoreLocation } from '../../store/database/database.ts'
import { LAST_MIGRATION, migrations } from '../../store/database/migrate.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { openVault } from '../context/vault.ts'
import { type BackupHeader, BrokenBackupError, readBackup } from './backup.ts'

/**
 * Restores a back-up, which `open` gives as often as it is read, into a store that holds nothing: at the level of the back-up, and
 * then brought up to date. Throws BrokenBackup, FolderInUse, what the database says, or why not.
 */
export async function restoreBackup(
  { location, key }: { location: StoreLocation; key: Uint8Array },
  open: () => Readable,
): Promise<BackupHeader> {
  // To its end before anything is touched: not even an empty store is left by what is broken.
  const header = await readBackup(open())
  demandRestorable(header, openVault(key).keyId)
  const store = await openStore(location, undefined, header.level)
  try {
    await store.transaction((tx) => fill(tx, header, open))
  } finally {
    await store.close()
  }
  if (header.level !== LAST_MIGRATION) await (await openStore(location)).close()
  return header
}

async function fill(tx: Transaction, header: BackupHeader, open: () => Readable): Promise<void> {
  await lockStore(tx)
  const tables = await listTables(tx)
  const rows = await countRows(tx, tables)
  if (rows.some(({ name, rows }) => name !== 'store_setting' && rows > 0)) {
    const realms = rows.find(({ name }) => name === 'realm')!.rows
    throw new Error(`the store holds ${realms} realms: a back-up is restored only into one that holds nothing`)
  }
  const unknown = header.tables.find(({ name }) => !tables.some((one) => one.name === name))
  if (unknown)
    throw new BrokenBackupError(
      `it names the table ${unknown.name}, which the store of Regent ${header.regent} does not have`,
    )
  await deleteSettings(tx)
  await withoutForeignKeys(tx, async () => {
    await readBackup(open(), (name, texts) => insertRows(tx, tables.find((one) => one.name === name)!, texts))
  })
  await finishRestore(tx, header.sequences)
}

function demandRestorable({ level, regent, key }: BackupHeader, given: string): void {
  if (!Object.hasOwn(migrations, level))
    throw new Error(
      `Regent ${regent} made the back-up of a store with the migration ${level}, which this version does not have. Restore it with the version that made it.`,
    )
  if (key !== given)
    throw new Error(
      `the secrets in the back-up are protected by the key ${key}, and the key file holds ${given}: name the file of its key with --key-file (REGENT_KEY_FILE)`,
    )
}
