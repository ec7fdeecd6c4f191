// Tokens: signed, and verified by the key of the realm that they say they come from.
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type JWTVerifyResult, jwtVerify, SignJWT } from 'jose'
import { isStorable } from '../../kinds/fields.ts'
import { errorCode } from '../../lib/error-code.ts'
import type { Service } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { standingOf, type TokenStanding } from '../../service/login/standing.ts'
import { ACTION_TOKENS, type ActionTokenType } from '../../service/messages/action-tokens.ts'
import { signingKey, verifyingKey } from '../keys.ts'
import type { TokenRealm } from '../realm.ts'

/** What a token is for. */
export type TokenType = 'Bearer' | 'Refresh' | 'Offline' | 'ID' | ActionTokenType

/**
 * The parameter of a token's protected header that says to whom the token was issued. Claims say what protocol mappers write,
 * `sub`, `azp` and `sid` too; they write no header, so verification reads these from here alone. RFC 7515, section 4.2.
 */
const ISSUED_TO = 'regent.dev/issued-to'

/** To whom a token was issued, by ids: a client, and its session, or the user where nothing is kept of a session. */
export type IssuedTo = { readonly client: string } & (
  | { readonly session: string; readonly user?: undefined }
  | { readonly session?: undefined; readonly user: string }
)

/** A token that was verified. */
export interface Verified {
  readonly realm: RealmRow
  /** The realm that was to be looked up with the token's, where there is one. */
  readonly beside?: RealmRow
  /** The claims. Those that are named here are no mapper's to write: see `put`. */
  readonly claims: Readonly<Record<string, unknown>> &
    Pick<JWTPayload, 'iss' | 'iat' | 'exp' | 'jti'> & { readonly typ?: string; readonly scope?: string }
  readonly issuedTo: IssuedTo
}

/** What a token is made of; `type` is that of its header. */
interface Unsigned {
  readonly claims: JWTPayload
  readonly algorithm: string
  readonly type?: string | undefined
  readonly issuedTo?: IssuedTo | undefined
}

/** Signs a token with the key that the realm has for the algorithm. */
export async function signToken(
  service: Service,
  realm: TokenRealm,
  { claims, algorithm, type = 'JWT', issuedTo }: Unsigned,
): Promise<string> {
  const { kid, secret } = await signingKey(service, realm, algorithm)
  const header = { alg: algorithm, typ: type, kid, ...(issuedTo && { [ISSUED_TO]: issuedTo }) }
  return new SignJWT(claims).setProtectedHeader(header).sign(secret)
}

/** Where a token must come from, and the name of a realm that is looked up with the token's. */
interface VerifyOptions {
  readonly issuerBase?: string | undefined
  readonly beside?: string | undefined
}

/**
 * The claims of a token of one of these types, if its realm exists and is enabled, signed it, and neither its time nor the
 * realm's not-before is over. Undefined otherwise: whoever shows it need not know why. One statement.
 */
export async function verifyToken(
  service: Service,
  token: string,
  types: readonly TokenType[],
  options: VerifyOptions = {},
): Promise<Verified | undefined> {
  const signed = await verifySigned(service, token, types, options)
  return signed && issued(signed)
}

/** The same of an action token: it is issued to no client, and no mapper writes its claims. */
export async function verifyActionToken(
  service: Service,
  token: string,
): Promise<{ readonly realm: RealmRow; readonly claims: JWTPayload } | undefined> {
  const signed = await verifySigned(service, token, ACTION_TOKENS, {})
  return signed && { realm: signed.realm, claims: signed.payload }
}

/** A token that a key of the realm signed. */
type Signed = Pick<JWTVerifyResult, 'payload' | 'protectedHeader'> & Pick<Verified, 'realm' | 'beside'>

/** The token with that to which it was issued; undefined where it was issued to none, as a signed user info. */
function issued({ payload, protectedHeader, ...realms }: Signed): Verified | undefined {
  const issuedTo = protectedHeader[ISSUED_TO] as IssuedTo | undefined
  return issuedTo && { ...realms, claims: payload, issuedTo }
}

async function verifySigned(
  service: Service,
  token: string,
  types: readonly TokenType[],
  { issuerBase, beside }: VerifyOptions,
): Promise<Signed | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token)
    const { base, name } = splitIssuer(decodeJwt(token).iss)
    if (!kid || (issuerBase !== undefined && base !== issuerBase)) return undefined
    const found = await service.find(beside === undefined ? [name] : [name, beside])
    const [realm, other] = [name, beside].map((wanted) => found.find((one) => one.name === wanted))
    const key = realm?.enabled ? await verifyingKey(service, realm, kid) : undefined
    if (!realm || !key) return undefined
    const { payload, protectedHeader } = await jwtVerify(token, key.verifies, {
      algorithms: [key.algorithm],
      // Tokens of offline sessions may have no end: their session has one.
      requiredClaims: types.includes('Offline') ? ['iat'] : ['exp', 'iat'],
      currentDate: service.clock(),
    })
    if (!types.includes(payload.typ as TokenType) || payload.iat! < realm.notBefore) return undefined
    return { realm, payload, protectedHeader, ...(other && { beside: other }) }
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

/** A token that a key of the realm signed, whether its time is over or not; undefined when none did. */
export async function verifySignature(service: Service, realm: RealmRow, token: string): Promise<Verified | undefined> {
  try {
    const key = await verifyingKey(service, realm, decodeProtectedHeader(token).kid ?? '')
    if (!key) return undefined
    const { iat = 0 } = decodeJwt(token)
    const currentDate = new Date(iat * 1000)
    return issued({ realm, ...(await jwtVerify(token, key.verifies, { algorithms: [key.algorithm], currentDate })) })
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
  { withPower, ...how }: VerifyOptions & { readonly withPower?: boolean } = {},
): Promise<(Verified & { readonly standing: TokenStanding }) | undefined> {
  const verified = await verifyToken(service, token, types, how)
  if (!verified) return undefined
  const { realm, claims, issuedTo } = verified
  const names = { ...issuedTo, issuedAt: claims.iat!, id: claims.jti ?? '' }
  const standing = await standingOf(service, realm, names, withPower)
  return { ...verified, standing }
}

/** The address of the server that a token comes from. */
export const baseOf = ({ iss }: Verified['claims']): string => splitIssuer(iss).base

function splitIssuer(issuer: string | undefined): { base: string; name: string } {
  const at = issuer?.lastIndexOf('/realms/') ?? -1
  if (!issuer || at < 0) throw new TypeError('the token names no realm')
  const name = decodeURIComponent(issuer.slice(at + '/realms/'.length))
  if (!isStorable(name)) throw new TypeError('no realm has such a name')
  return { base: issuer.slice(0, at), name }
}

/** What decoding throws at what is no token, and verifying at a wrong one. Anything else is not the token's fault. */
function isTokenError(error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return error instanceof TypeError || error instanceof URIError || /^ERR_J(WT|WS|OSE)/.test(code)
}
