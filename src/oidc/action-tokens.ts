// Action tokens: what comes back with a link from a mail.
import { decodeJwt } from 'jose'
import type { Context } from '../service/context/context.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { findById } from '../service/login/login.ts'
import { type ActionToken, useActionToken, wasActionTokenUsed } from '../service/messages/action-tokens.ts'
import { verifyActionToken } from './tokens/tokens.ts'

/** Why a link does not work: its time is over, it has been used, or it is not one of the realm for that person any more. */
export type VoidLink = 'expired' | 'used' | 'invalid'

/**
 * What a link of the realm is for, by its key. Reading does not use it, since programs that look through mails follow links too:
 * whoever carries it out calls `takeActionToken`.
 */
export async function readActionToken(service: Service, realm: string, key: string): Promise<ActionToken | VoidLink> {
  const verified = await verifyActionToken(service, key)
  if (!verified) return isOver(key, service.clock()) ? 'expired' : 'invalid'
  if (verified.realm.name !== realm) return 'invalid'
  const token = verified.claims as unknown as ActionToken
  return service.read(SYSTEM, realm, async (context) => {
    if (!(await isMeant(context, token))) return 'invalid'
    return (await wasActionTokenUsed(context, token)) ? 'used' : token
  })
}

/**
 * Uses a link, in the transaction that does what it is for: why it is void by now; undefined: it counts. Whether it is still
 * meant for its user is found out there, since the address may have changed after the link was read. Statements: two.
 */
export async function takeActionToken(context: Context, token: ActionToken): Promise<VoidLink | undefined> {
  if (!(await useActionToken(context, token))) return 'used'
  return (await isMeant(context, token)) ? undefined : 'invalid'
}

/** Whether the user of a link may log in, and still has the address that the link went to. */
async function isMeant(context: Context, { sub, eml }: ActionToken): Promise<boolean> {
  const user = await findById(context, sub)
  return user?.body.enabled === true && user.email === eml
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
