import { join } from 'node:path'
import { SYSTEM } from '../../service/context/service.ts'
import { createBackup } from '../../service/operations/backup.ts'
import { openService } from '../../service/operations/open-service.ts'
import { restoreBackup } from '../../service/operations/restore.ts'
import { type StoreFlags, toStoreKey } from '../connect.ts'
import { requireStore, SELECT_OWN_STORE, toLocation, withoutPassword } from '../store-place.ts'
import { runWithProgress } from '../terminal/interruption.ts'
import { describeContent } from './backup.ts'
import { readKey } from './key.ts'
import { NOT_RESTORED, renderServeCommand } from './restore.ts'

/** `regent migrate`: copies a store to another engine or place, by a backup that is restored at once. */
export async function migrate(flags: StoreFlags & { to: string }): Promise<void> {
  const from = toStoreKey(flags)
  await requireStore(from, SELECT_OWN_STORE)
  const keyFile = from.keyFile ?? join(from.data, 'key')
  const key = await readKey(from)
  const database = /^postgres(ql)?:\/\//.test(flags.to) ? flags.to : undefined
  const copy = async () => {
    const service = await openService({ location: toLocation(from), key })
    try {
      const spooled = await createBackup(service, SYSTEM)
      const to = { location: database ? { url: database } : { folder: flags.to }, key }
      return await restoreBackup(to, spooled.read).finally(spooled.close)
    } finally {
      await service.close()
    }
  }
  const header = await runWithProgress(copy, () => NOT_RESTORED)
  console.log(`Copied ${describeContent(header)} into ${database ? withoutPassword(database) : flags.to}.`)
  console.log(renderServeCommand(database, flags.to, keyFile))
}
