// What may be used once only, in the context's realm: see store/single-use.ts.
import { hasUses, insertSingleUse, type SingleUse, useKept, useKey } from '../../store/login/single-use.ts'
import type { Context } from './context.ts'

/** Keeps something for its one use. One statement. */
export function keepForOneUse({ tx, realm }: Context, single: SingleUse): Promise<void> {
  return insertSingleUse(tx, realm.number, single)
}

/**
 * Uses what was kept: what it is, and whether this was its first use. Undefined when nobody kept it, or it is over.
 * Of several that use it at once one is the first, also with several servers. One statement.
 */
export async function useOnce({ tx, realm, now }: Context, key: string) {
  const used = await useKept(tx, realm.number, { key, now })
  return used && { first: used.uses === 1, body: used.body }
}

/** Uses a key that others name, such as the id of a token or an assertion, and says how often it has been used with that. One statement. */
export function timesUsed({ tx, realm }: Context, key: string, expiresAt: Date): Promise<number> {
  return useKey(tx, realm.number, { key, expiresAt, body: {} })
}

/** Whether a key that others name has been used. One statement. */
export function wasUsed({ tx, realm }: Context, key: string): Promise<boolean> {
  return hasUses(tx, realm.number, key)
}
