import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { restoreBackup } from '../../service/operations/restore.ts'
import { type StoreFlags, toStoreKey } from '../connect.ts'
import { toLocation, withoutPassword } from '../store-place.ts'
import { runWithProgress } from '../terminal/interruption.ts'
import { describeContent, withFileName } from './backup.ts'
import { readKeyFile } from './key.ts'

/** `regent restore`: restores a backup into an empty store, with the key of the original one. */
export async function restoreCommand(file: string, flags: StoreFlags): Promise<void> {
  const { database, data, keyFile = join(data, 'key') } = toStoreKey(flags)
  const key = await readKeyFile(
    keyFile,
    'A backup can only be restored with the key of its store. Pass the file with --key-file (REGENT_KEY_FILE).',
  )
  const location = toLocation({ database, data })
  const header = await runWithProgress(
    () => withFileName(file, () => restoreBackup({ location, key }, () => createReadStream(file))),
    () => NOT_RESTORED,
  )
  console.log(
    `Restored ${describeContent(header)}, as of ${header.at}, into ${database ? withoutPassword(database) : data}.`,
  )
  console.log(renderServeCommand(database, data, keyFile))
}

/** The state that a cancelled restore leaves. */
export const NOT_RESTORED = 'Nothing was restored. You can repeat the command.'

/** Renders the command that starts a server on a store. */
export function renderServeCommand(database: string | undefined, data: string, keyFile: string): string {
  return database
    ? `Serve it with: regent serve --database <URL> --key-file ${keyFile}`
    : `Serve it with: regent serve --data ${data}${keyFile === join(data, 'key') ? '' : ` --key-file ${keyFile}`}`
}
