// Action tokens, which links in emails carry. Keycloak: ActionTokenHandler.
import { decodeJwt } from 'jose'
import type { Context } from '../service/context/context.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { findUserById } from '../service/login/find-user.ts'
import { type ActionToken, consumeActionToken, isActionTokenUsed } from '../service/messages/action-tokens.ts'
import { verifyActionToken } from './tokens/tokens.ts'
import { viewStoredUser } from './views.ts'

/** The reason why an action token is rejected; `invalid`: it is not a token of the realm, or its user changed since. */
export type ActionTokenRejection = 'expired' | 'used' | 'invalid'

/**
 * Returns the action token of a link, or why it is rejected. Reading does not use up the token, since email scanners follow
 * links too: `redeemActionToken` does.
 */
export async function readActionToken(
  service: Service,
  realm: string,
  key: string,
): Promise<ActionToken | ActionTokenRejection> {
  const verified = await verifyActionToken(service, key)
  if (!verified) return hasExpired(key, service.clock()) ? 'expired' : 'invalid'
  if (verified.realm.name !== realm) return 'invalid'
  const { token } = verified
  return service.read(SYSTEM, realm, async (context) => {
    if (!(await isUserUnchanged(context, token))) return 'invalid'
    return (await isActionTokenUsed(context, token)) ? 'used' : token
  })
}

/**
 * Uses up an action token, and returns why it is rejected; undefined if it is valid. The user is checked again, since the
 * email address may have changed after the token was read. Two statements.
 */
export async function redeemActionToken(
  context: Context,
  token: ActionToken,
): Promise<ActionTokenRejection | undefined> {
  if (!(await consumeActionToken(context, token))) return 'used'
  return (await isUserUnchanged(context, token)) ? undefined : 'invalid'
}

/** Whether the user of an action token is enabled, and has the email address that the link was sent to. */
async function isUserUnchanged(context: Context, { sub, eml }: ActionToken): Promise<boolean> {
  const user = await findUserById(context, sub)
  return user !== undefined && viewStoredUser(user).enabled === true && user.email === eml
}

/** Whether a token is past its `exp` claim. The signature is not verified, since this only selects the message. */
export function hasExpired(key: string, now: Date): boolean {
  try {
    const { exp } = decodeJwt(key)
    return exp !== undefined && exp * 1000 <= now.getTime()
  } catch {
    return false
  }
}
