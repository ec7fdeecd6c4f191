import { join } from 'node:path'
import { SYSTEM } from '../../service/context/service.ts'
import { backUp } from '../../service/operations/backup.ts'
import { openService } from '../../service/operations/open-service.ts'
import { restore } from '../../service/operations/restore.ts'
import { type StoreFlags, storeOf } from '../connect.ts'
import { contentOf, demandStore } from './backup.ts'
import { readKey } from './key.ts'
import { alone, placeOf, startWith } from './restore.ts'

/** `regent migrate`: a back-up and its restoring in one, from the store that is named to another engine or place. */
export async function migrate(flags: StoreFlags & { to: string }): Promise<void> {
  const from = storeOf(flags)
  demandStore(from)
  const keyFile = from.keyFile ?? join(from.data, 'key')
  const key = await readKey(from)
  const database = /^postgres(ql)?:\/\//.test(flags.to) ? flags.to : undefined
  const location = from.database ? { url: from.database } : { folder: from.data }
  const service = await alone(() => openService({ location, key }))
  try {
    const spooled = await backUp(service, SYSTEM)
    const to = { location: database ? { url: database } : { folder: flags.to }, key }
    const header = await alone(() => restore(to, spooled.read)).finally(spooled.close)
    console.log(`Moved ${contentOf(header)} into ${database ? placeOf(database) : flags.to}.`)
  } finally {
    await service.close()
  }
  console.log(startWith(database, flags.to, keyFile))
}
