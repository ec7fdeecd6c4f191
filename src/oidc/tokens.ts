// Tokens: signed, and verified by the key of the realm that they say they come from.
import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { isStorable } from '../kinds/fields.ts'
import type { ActionTokenType } from '../service/action-tokens.ts'
import type { RealmRow, Service } from '../service/service.ts'
import { standingOf, type TokenStanding } from '../service/standing.ts'
import { signingKey, verifyingKey } from './keys.ts'
import type { TokenRealm } from './realm.ts'

/** What a token is for. */
export type TokenType = 'Bearer' | 'Refresh' | 'Offline' | 'ID' | ActionTokenType

/** A token that was verified. */
export interface Verified {
  readonly realm: RealmRow
  /** The realm that was to be looked up with the token's, where there is one. */
  readonly beside?: RealmRow
  readonly claims: JWTPayload & {
    readonly typ?: string
    readonly azp?: string
    readonly scope?: string
    readonly sid?: string
  }
}

/** Signs a token with the key that the realm has for the algorithm; `type` is that of its header. */
export async function signToken(
  service: Service,
  realm: TokenRealm,
  claims: JWTPayload,
  algorithm: string,
  type = 'JWT',
): Promise<string> {
  const { kid, secret } = await signingKey(service, realm, algorithm)
  return new SignJWT(claims).setProtectedHeader({ alg: algorithm, typ: type, kid }).sign(secret)
}

/**
 * The claims of a token of one of these types, if its realm exists and is enabled, signed it, and neither its time nor the
 * realm's not-before is over. Undefined otherwise: whoever shows it need not know why. `beside`: the name of a realm that the
 * same statement looks up. One statement.
 */
export async function verifyToken(
  service: Service,
  token: string,
  types: readonly TokenType[],
  { issuerBase, beside }: { issuerBase?: string | undefined; beside?: string | undefined } = {},
): Promise<Verified | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token)
    const { base, name } = splitIssuer(decodeJwt(token).iss)
    if (!kid || (issuerBase !== undefined && base !== issuerBase)) return undefined
    const found = await service.find(beside === undefined ? [name] : [name, beside])
    const [realm, other] = [name, beside].map((wanted) => found.find((one) => one.name === wanted))
    const key = realm?.enabled ? await verifyingKey(service, realm, kid) : undefined
    if (!realm || !key) return undefined
    const { payload } = await jwtVerify(token, key.verifies, {
      algorithms: [key.algorithm],
      // Tokens of offline sessions may have no end: their session has one.
      requiredClaims: types.includes('Offline') ? ['iat'] : ['exp', 'iat'],
      currentDate: service.clock(),
    })
    if (!types.includes(payload.typ as TokenType) || payload.iat! < realm.notBefore) return undefined
    return { realm, claims: payload, ...(other && { beside: other }) }
  } catch (error) {
    if (isTokenError(error)) return undefined
    throw error
  }
}

/** A token that counts, and what it stands on. */
export type GoodToken = Verified & { readonly standing: Extract<TokenStanding, { counts: true }> }

/** Whether the token was verified, and counts. */
export const isGood = (token: (Verified & { standing: TokenStanding }) | undefined): token is GoodToken =>
  token?.standing.counts === true

/** The claims of a token that a key of the realm signed, whether its time is over or not; undefined when none did. */
export async function verifySignature(
  service: Service,
  realm: RealmRow,
  token: string,
): Promise<Verified['claims'] | undefined> {
  try {
    const key = await verifyingKey(service, realm, decodeProtectedHeader(token).kid ?? '')
    if (!key) return undefined
    const { iat = 0 } = decodeJwt(token)
    return (await jwtVerify(token, key.verifies, { algorithms: [key.algorithm], currentDate: new Date(iat * 1000) }))
      .payload
  } catch (error) {
    if (isTokenError(error)) return undefined
    throw error
  }
}

/**
 * A token of one of these types that was verified, and what there is to say of it now; `withPower`: also what its user may
 * administer. Two statements.
 */
export async function verifyStanding(
  service: Service,
  token: string,
  types: readonly TokenType[],
  { withPower, ...how }: Parameters<typeof verifyToken>[3] & { withPower?: boolean } = {},
): Promise<(Verified & { readonly standing: TokenStanding }) | undefined> {
  const verified = await verifyToken(service, token, types, how)
  if (!verified) return undefined
  const { realm, claims } = verified
  const names = {
    client: claims.azp ?? '',
    issuedAt: claims.iat!,
    user: claims.sub ?? '',
    session: claims.sid,
    id: claims.jti ?? '',
  }
  const standing = await standingOf(service, realm, names, withPower)
  return { ...verified, standing }
}

/** The address of the server that a token comes from. */
export const baseOf = ({ iss }: JWTPayload): string => splitIssuer(iss).base

function splitIssuer(issuer: string | undefined): { base: string; name: string } {
  const at = issuer?.lastIndexOf('/realms/') ?? -1
  if (!issuer || at < 0) throw new TypeError('the token names no realm')
  const name = decodeURIComponent(issuer.slice(at + '/realms/'.length))
  if (!isStorable(name)) throw new TypeError('no realm has such a name')
  return { base: issuer.slice(0, at), name }
}

/** What decoding throws at what is no token, and verifying at a wrong one. Anything else is not the token's fault. */
function isTokenError(error: unknown): boolean {
  const code = (error as { code?: string }).code ?? ''
  return error instanceof TypeError || error instanceof URIError || /^ERR_J(WT|WS|OSE)/.test(code)
}
