import { join } from 'node:path'
import { CREATE_KEY_ADVICE } from '../../config.ts'
import { openService } from '../../service/operations/open-service.ts'
import { type StoreFlags, toStoreKey } from '../connect.ts'
import { confirm } from '../prompt.ts'
import { requireStore, SELECT_OWN_STORE, toLocation } from '../store-place.ts'
import { interruptible, runWithProgress } from '../terminal/interruption.ts'
import { readKey, readKeyFile } from './key.ts'

/** `regent replace-key`: replaces the key of a store. Its content does not change. */
export async function replaceKey(flags: StoreFlags & { newKeyFile: string; yes?: true }): Promise<void> {
  const { newKeyFile } = flags
  const at = toStoreKey(flags)
  await requireStore(at, SELECT_OWN_STORE)
  const [key, next] = [await readKey(at), await readKeyFile(newKeyFile, `Nothing was changed: ${CREATE_KEY_ADVICE}.`)]
  await confirm(`The store will require the key in ${newKeyFile}, and no longer the present one.`, flags)
  const service = await runWithProgress(
    () => openService({ location: toLocation(at), key }),
    () => 'Nothing was changed.',
  )
  try {
    await interruptible(() => service.replaceKey(next))
  } finally {
    await service.close()
  }
  const file = at.keyFile ?? join(at.data, 'key')
  console.log(
    `The store now requires the key in ${newKeyFile}. Replace ${file} with it on every replica. Running replicas continue, since a key is only needed at the start.`,
  )
}
