// Action tokens: what a link in a mail may be used for, once. They are signed when the mail leaves, and read in oidc/.
import { randomUUID } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Context } from '../context/context.ts'
import { recordKeyUse, isKeyUsed } from '../context/single-use.ts'

/** Keycloak: the types of action tokens. */
export const ACTION_TOKEN_TYPES = ['execute-actions', 'verify-email', 'reset-credentials'] as const

/** The type of an action token. */
export type ActionTokenType = (typeof ACTION_TOKEN_TYPES)[number]

/** Keycloak: the claims of an action token, besides its issuer. */
export interface ActionToken {
  readonly typ: ActionTokenType
  /** Id of the person. */
  readonly sub: string
  /** The client that the person goes on to. */
  readonly azp: string
  /** The mail address that the link went to: when the person has another one, the link is void. */
  readonly eml: string
  readonly jti: string
  readonly iat: number
  readonly exp: number
  /** The actions that the person is asked to do. */
  readonly rqac?: readonly string[]
  /** Where the person goes on to. */
  readonly reduri?: string
  /** The log-in that the link belongs to. */
  readonly asid?: string
}

/** A link with an action token, before it is signed. */
export interface ActionLink {
  /** The server's own address, as people see it. */
  readonly base: string
  readonly token: ActionToken
  /** What stands in the link beside the token, such as which step of a log-in it is about. */
  readonly query?: Readonly<Record<string, string>>
}

/** A new action token, valid for so many seconds from now. */
export function createActionToken(
  { now }: Context,
  lifespan: number,
  claims: Omit<ActionToken, 'jti' | 'iat' | 'exp'>,
): ActionToken {
  const iat = toEpochSeconds(now)
  return { ...claims, jti: randomUUID(), iat, exp: iat + lifespan }
}

/** How long links that people ask for themselves are valid, in seconds. Keycloak: each type may have its own time. */
export function getUserActionLifespan(realm: Representation, type: ActionTokenType): number {
  const attributes = (realm.attributes ?? {}) as Representation
  const own = Number(attributes[`actionTokenGeneratedByUserLifespan.${type}`])
  return own > 0 ? own : Number(realm.actionTokenGeneratedByUserLifespan)
}

/** Uses an action token; false when it has been used before. Of several that use it at once one is the first. One statement. */
export async function consumeActionToken(context: Context, { jti, exp }: ActionToken): Promise<boolean> {
  return (await recordKeyUse(context, keyOf(jti), new Date(exp * 1000))) === 1
}

/** Whether an action token has been used. One statement. */
export function isActionTokenUsed(context: Context, { jti }: ActionToken): Promise<boolean> {
  return isKeyUsed(context, keyOf(jti))
}

const keyOf = (jti: string): string => `action-token:${jti}`
