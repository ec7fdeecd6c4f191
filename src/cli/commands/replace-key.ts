import { join } from 'node:path'
import { MAKE_KEY } from '../../config.ts'
import { openService } from '../../service/operations/open-service.ts'
import { type StoreFlags, storeOf } from '../connect.ts'
import { demandStore } from './backup.ts'
import { keyIn, readKey } from './key.ts'

/** `regent replace-key`: from now on the store is opened with the key of another file. What it keeps stays as it is. */
export async function replaceKey(flags: StoreFlags & { newKeyFile: string }): Promise<void> {
  const { newKeyFile } = flags
  const at = storeOf(flags)
  demandStore(at)
  const [key, next] = [await readKey(at), await keyIn(newKeyFile, `and nothing was changed: ${MAKE_KEY}`)]
  const service = await openService({ location: at.database ? { url: at.database } : { folder: at.data }, key })
  try {
    await service.replaceKey(next)
  } finally {
    await service.close()
  }
  const file = at.keyFile ?? join(at.data, 'key')
  console.log(
    `The key in ${newKeyFile} opens this store now. Put it in the place of ${file}, also where other replicas read it: those that run go on, and need it when they start.`,
  )
}
