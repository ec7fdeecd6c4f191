// Action tokens: links in emails, each for one action and one use. They are signed when the email is sent, and checked in oidc/.
import { randomUUID } from 'node:crypto'
import { type Representation, readObject } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Context } from '../context/context.ts'
import { isKeyUsed, recordKeyUse } from '../context/single-use.ts'

/** Keycloak: the types of action tokens. */
export const ACTION_TOKEN_TYPES = ['execute-actions', 'verify-email', 'reset-credentials'] as const

/** The type of an action token. */
export type ActionTokenType = (typeof ACTION_TOKEN_TYPES)[number]

/** Keycloak: the claims of an action token, without its issuer. */
export interface ActionToken {
  readonly typ: ActionTokenType
  /** Id of the user. */
  readonly sub: string
  /** The client to which the user returns. */
  readonly azp: string
  /** The email address to which the link was sent. The link is invalid once the user has another address. */
  readonly eml: string
  readonly jti: string
  readonly iat: number
  readonly exp: number
  /** The required actions for the user to perform. */
  readonly rqac?: readonly string[]
  /** The URL to which the user returns. */
  readonly reduri?: string
  /** The authentication session to which the link belongs. */
  readonly asid?: string
}

/** Keycloak: the type of the token of an invitation to an organization. */
export const INVITATION_TOKEN = 'ORGIVT'

/** The claims of the token of an invitation, without its issuer. The id of the token is that of the invitation. */
export interface InvitationToken extends Omit<ActionToken, 'typ' | 'sub' | 'rqac' | 'asid'> {
  readonly typ: typeof INVITATION_TOKEN
  /** Id of the user. Absent: the user registers. */
  readonly sub?: string
  /** Id of the organization. */
  readonly org_id: string
}

/** A link with an action token that is not signed yet. */
export interface ActionLink {
  /** The base URL of the server, as users see it. */
  readonly base: string
  readonly token: ActionToken | InvitationToken
  /** Further query parameters of the link, such as the step of a login. */
  readonly query?: Readonly<Record<string, string>>
}

/** The claims that a new token gets. */
type GeneratedClaim = 'jti' | 'iat' | 'exp'

/** Creates an action token that is valid for `lifespan` seconds. */
export function createActionToken<
  const Claims extends Omit<ActionToken, GeneratedClaim> | Omit<InvitationToken, GeneratedClaim>,
>({ now }: Context, lifespan: number, claims: Claims): Claims & Pick<ActionToken, GeneratedClaim> {
  const iat = toEpochSeconds(now)
  return { ...claims, jti: randomUUID(), iat, exp: iat + lifespan }
}

/** Returns the lifespan of links that users request themselves, in seconds. Keycloak: each type may have its own. */
export function getUserActionLifespan(realm: Representation, type: ActionTokenType): number {
  const ownLifespan = Number(readObject(realm.attributes)[`actionTokenGeneratedByUserLifespan.${type}`])
  return ownLifespan > 0 ? ownLifespan : Number(realm.actionTokenGeneratedByUserLifespan)
}

/** Uses an action token. Returns false if it was used before; of concurrent uses exactly one is the first. One statement. */
export async function consumeActionToken(context: Context, { jti, exp }: ActionToken): Promise<boolean> {
  return (await recordKeyUse(context, toUseKey(jti), new Date(exp * 1000))) === 1
}

/** Whether an action token has been used. One statement. */
export function isActionTokenUsed(context: Context, { jti }: ActionToken): Promise<boolean> {
  return isKeyUsed(context, toUseKey(jti))
}

const toUseKey = (jti: string): string => `action-token:${jti}`
