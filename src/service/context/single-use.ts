// Keys that may be used once, in the realm of the context: see store/login/single-use.ts.
import type { Representation } from '../../kinds/json.ts'
import {
  findStored,
  insertSingleUse,
  isUsed,
  recordUse,
  type SingleUse,
  useStored,
} from '../../store/login/single-use.ts'
import type { Context } from './context.ts'

/** Stores an object for a single use. One statement. */
export function createSingleUse({ tx, realm }: Context, single: SingleUse): Promise<void> {
  return insertSingleUse(tx, realm.number, single)
}

/**
 * Uses a stored object: returns its body, and whether this was its first use; undefined if it does not exist or has expired.
 * Of concurrent uses exactly one is the first, also across servers. One statement.
 */
export async function consumeSingleUse({ tx, realm, now }: Context, key: string) {
  const used = await useStored(tx, realm.number, { key, now })
  return used && { isFirst: used.uses === 1, body: used.body }
}

/** Returns the body of a stored object without using it; undefined if it does not exist or has expired. One statement. */
export function findSingleUse({ tx, realm, now }: Context, key: string): Promise<Representation | undefined> {
  return findStored(tx, realm.number, { key, now })
}

/** Records a use of a key that was not stored before, such as the id of a token or an assertion, and returns the number of uses. One statement. */
export function recordKeyUse({ tx, realm }: Context, key: string, expiresAt: Date): Promise<number> {
  return recordUse(tx, realm.number, { key, expiresAt, body: {} })
}

/** Whether a use of the key was recorded. One statement. */
export function isKeyUsed({ tx, realm }: Context, key: string): Promise<boolean> {
  return isUsed(tx, realm.number, key)
}
