// The master realm, in which every other realm has a client that administers it.
import { MASTER } from '../../kinds/built-in/index.ts'
import { lockRealms } from '../../store/realms.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { flush, writable } from '../journal/journal.ts'

/** Runs the work in the master realm, which must be locked or is locked here: it comes first in the numeric order. */
export async function inMaster(context: Context, work: (master: WriteContext) => Promise<void>): Promise<void> {
  const [realm] = await lockRealms(context.tx, [MASTER])
  if (!realm) return
  const master = await writable({ ...context, realm })
  await work(master)
  await flush(master)
}
