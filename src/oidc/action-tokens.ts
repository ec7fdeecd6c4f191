// Action tokens: what comes back with a link from a mail.
import { decodeJwt } from 'jose'
import { ACTION_TOKENS, type ActionToken, wasActionTokenUsed } from '../service/action-tokens.ts'
import { findById } from '../service/login.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { verifyToken } from './tokens.ts'

/** Why a link does not work: its time is over, it has been used, or it is not one of the realm for that person any more. */
export type VoidLink = 'expired' | 'used' | 'invalid'

/**
 * What a link of the realm is for, by its key. Reading does not use it, since programs that look through mails follow links too:
 * whoever carries it out calls `useActionToken`, in the transaction that does so.
 */
export async function readActionToken(service: Service, realm: string, key: string): Promise<ActionToken | VoidLink> {
  const verified = await verifyToken(service, key, ACTION_TOKENS)
  if (!verified) return isOver(key, service.clock()) ? 'expired' : 'invalid'
  if (verified.realm.name !== realm) return 'invalid'
  const token = verified.claims as unknown as ActionToken
  return service.read(SYSTEM, realm, async (context) => {
    const user = await findById(context, token.sub)
    if (user?.body.enabled !== true || user.email !== token.eml) return 'invalid'
    return (await wasActionTokenUsed(context, token)) ? 'used' : token
  })
}

/** Whether it says that its time is over: it tells only what to say, so that nobody need vouch for it. */
function isOver(key: string, now: Date): boolean {
  try {
    const { exp } = decodeJwt(key)
    return exp !== undefined && exp * 1000 <= now.getTime()
  } catch {
    return false
  }
}
