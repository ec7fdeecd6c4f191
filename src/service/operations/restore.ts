// Restores a backup into an empty store, in one transaction.
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
 * Restores a backup into an empty store, with the schema of the backup, which is then migrated to that of this version. `open` opens
 * the backup, which is read twice. Throws BrokenBackupError, FolderInUse, the error of the database, or the reason for the refusal.
 */
export async function restoreBackup(
  { location, key }: { readonly location: StoreLocation; readonly key: Uint8Array },
  open: () => Readable,
): Promise<BackupHeader> {
  // The first read verifies the whole backup, so that a damaged one does not leave an empty store.
  const header = await readBackup(open())
  checkRestorable(header, openVault(key).keyId)
  const store = await openStore(location, undefined, header.level)
  try {
    await store.transaction((tx) => insertBackup(tx, header, open))
  } finally {
    await store.close()
  }
  if (header.level !== LAST_MIGRATION) await (await openStore(location)).close()
  return header
}

async function insertBackup(tx: Transaction, header: BackupHeader, open: () => Readable): Promise<void> {
  await lockStore(tx)
  const tables = await listTables(tx)
  const counts = await countRows(tx, tables)
  if (counts.some(({ name, rows }) => name !== 'store_setting' && rows > 0)) {
    const realms = counts.find(({ name }) => name === 'realm')!.rows
    throw new Error(`The store contains ${realms} realms. Restore the backup into an empty store.`)
  }
  const unknown = header.tables.find(({ name }) => !tables.some((table) => table.name === name))
  if (unknown)
    throw new BrokenBackupError(`it has the table ${unknown.name}, which stores of Regent ${header.regent} do not have`)
  await deleteSettings(tx)
  await withoutForeignKeys(tx, async () => {
    await readBackup(open(), (name, rows) => insertRows(tx, tables.find((table) => table.name === name)!, rows))
  })
  await finishRestore(tx, header.sequences)
}

/** Throws unless this version has the migration of the backup, and the key is that of the backup. */
function checkRestorable({ level, regent, key }: BackupHeader, keyId: string): void {
  if (!Object.hasOwn(migrations, level))
    throw new Error(
      `The backup has the migration ${level} of Regent ${regent}, which this version does not have. ` +
        'Restore it with the version that created it.',
    )
  if (key !== keyId)
    throw new Error(
      `The secrets in the backup are protected by the key ${key}, but the key file contains the key ${keyId}. ` +
        'Name the key file of the backup with --key-file (REGENT_KEY_FILE).',
    )
}
