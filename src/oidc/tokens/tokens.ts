// Signs tokens, and verifies them with the keys of the realm that is their issuer.
import type { KeyObject, webcrypto } from 'node:crypto'
import { CompactSign, decodeJwt, decodeProtectedHeader, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose'
import { isStorable } from '../../kinds/fields.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import type { IssuedToken, TokenValue } from '../../service/context/cached-values.ts'
import type { Service } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { checkToken, type TokenStatus } from '../../service/login/token-status.ts'
import {
  ACTION_TOKEN_TYPES,
  type ActionToken,
  type ActionTokenType,
  INVITATION_TOKEN,
  type InvitationToken,
} from '../../service/messages/action-tokens.ts'
import { getFrontendUrl, type OidcRealm } from '../oidc-realm.ts'
import { findVerificationKey, getSigningKey } from '../realm-keys.ts'
import { readConfirmation } from '../sender-constraints/confirmation.ts'

/** The types of access tokens. Keycloak: those that are bound to a DPoP key have a type of their own. */
export const ACCESS_TOKENS = ['Bearer', 'DPoP'] as const

/** The type of a ticket of the protection API. */
export const PERMISSION_TICKET = 'PermissionTicket'

/** The types of tokens of client registration. */
export const REGISTRATION_TOKENS = ['InitialAccessToken', 'RegistrationAccessToken'] as const

/** The type of a token, its `typ` claim. */
export type TokenType =
  | (typeof ACCESS_TOKENS)[number]
  | 'Refresh'
  | 'Offline'
  | 'ID'
  | typeof PERMISSION_TICKET
  | (typeof REGISTRATION_TOKENS)[number]
  | ActionTokenType
  | typeof INVITATION_TOKEN

/** The types of tokens that may have no `exp` claim: those of an offline session end with it, the others when they are replaced or deleted. */
const WITHOUT_EXPIRATION: readonly TokenType[] = ['Offline', ...REGISTRATION_TOKENS]

/**
 * The parameter of the protected header with the references of a token. Protocol mappers can write any claim, `sub`, `azp`
 * and `sid` included, but no header, so that verification reads the references only from here. RFC 7515, section 4.2.
 */
const ISSUED_TO = 'regent.dev/issued-to'

/** The references of a token: the ids of its client and its session, or of its user where there is no session. */
export type IssuedTo = { readonly client: string } & (
  | { readonly session: string; readonly user?: undefined }
  | { readonly session?: undefined; readonly user: string }
)

/** A token with a valid signature. */
export interface VerifiedToken {
  /** The realm that issued the token. Its row may have changed since the token was verified. */
  readonly realm: Pick<RealmRow, 'number' | 'name'>
  /** The claims. Protocol mappers cannot write those that are named here: see `writeClaim`. */
  readonly claims: Readonly<Record<string, unknown>> &
    Pick<JWTPayload, 'iss' | 'iat' | 'exp' | 'jti'> & { readonly typ?: string; readonly scope?: string }
  readonly issuedTo: IssuedTo
}

/** Whether claims are those of an access token. */
export const isAccessToken = ({ typ }: { readonly typ?: unknown }): boolean =>
  ACCESS_TOKENS.some((type) => type === typ)

/** A token to be signed. */
interface UnsignedToken {
  readonly claims: JWTPayload
  readonly algorithm: string
  /** The `typ` parameter of the header. */
  readonly type?: string | undefined
  readonly issuedTo?: IssuedTo | undefined
}

/** Signs a token with the realm's active key for an algorithm. */
export async function signToken(
  service: Service,
  realm: OidcRealm,
  { claims, algorithm, type = 'JWT', issuedTo }: UnsignedToken,
): Promise<string> {
  const { kid, signingKey } = await getSigningKey(service, realm, algorithm)
  const header = { alg: algorithm, typ: type, kid, ...(issuedTo && { [ISSUED_TO]: issuedTo }) }
  // SignJWT would copy the claims.
  const payload = Buffer.from(JSON.stringify(claims))
  return new CompactSign(payload).setProtectedHeader(header).sign(toJoseKey(signingKey, algorithm))
}

const symmetricKeys = new WeakMap<KeyObject, webcrypto.CryptoKey>()

/** Returns the key as jose uses it. It would import a symmetric key for each token. */
function toJoseKey(key: KeyObject, algorithm: string): KeyObject | webcrypto.CryptoKey {
  if (key.type !== 'secret' || !algorithm.startsWith('HS')) return key
  const hmac = { name: 'HMAC', hash: `SHA-${algorithm.slice(2)}` }
  const imported = symmetricKeys.get(key) ?? key.toCryptoKey(hmac, false, ['sign', 'verify'])
  symmetricKeys.set(key, imported)
  return imported
}

/** The requirements for a token. */
interface TokenRequirements {
  readonly types: readonly TokenType[]
  /** The required address of the issuing server. */
  readonly issuerBase?: string | undefined
  /** The row of the realm, if it was read a moment ago. Absent: it may be a cached one. */
  readonly realm?: RealmRow
  /** The caller itself checks the realm's not-before time. */
  readonly acceptsStale?: true
}

/** The requirements for a token whose status is checked. */
interface StatusRequirements extends Omit<TokenRequirements, 'realm'> {
  readonly withPermissions?: boolean
  /** The caller itself checks that the sender of a bound token has its key. Absent: bound tokens are invalid. */
  readonly acceptsBound?: true
}

/**
 * Verifies a token: its issuer is an enabled realm that signed it, and neither its `exp` claim nor the realm's not-before
 * time invalidates it. Returns undefined for an invalid token, without a reason for the caller. One statement, or none.
 */
export async function verifyToken(
  service: Service,
  token: string,
  requirements: TokenRequirements,
): Promise<VerifiedToken | undefined> {
  const signed = await verifySignedToken(service, token, requirements)
  return signed && toVerifiedToken(signed)
}

/** Verifies an action token as `verifyToken` does. It is issued to no client, and no protocol mapper writes its claims. */
export async function verifyActionToken(
  service: Service,
  token: string,
): Promise<{ readonly realm: RealmRow; readonly token: ActionToken } | undefined> {
  const signed = await verifySignedToken<ActionToken>(service, token, { types: ACTION_TOKEN_TYPES })
  return signed && { realm: signed.realm, token: signed.payload }
}

/** Verifies the token of an invitation, and returns it with its realm; undefined if it is invalid. */
export async function verifyInvitationToken(
  service: Service,
  token: string,
): Promise<{ readonly realm: RealmRow; readonly token: InvitationToken } | undefined> {
  const signed = await verifySignedToken<InvitationToken>(service, token, { types: [INVITATION_TOKEN] })
  return signed && { realm: signed.realm, token: signed.payload }
}

/** Verifies a ticket of the protection API of a realm. It is issued to no client in particular, and no protocol mapper writes its claims. */
export async function verifyPermissionTicket(
  service: Service,
  realm: RealmRow,
  ticket: string,
): Promise<JWTPayload | undefined> {
  const signed = await verifySignedToken(service, ticket, { types: [PERMISSION_TICKET], realm })
  return signed?.realm.number === realm.number ? signed.payload : undefined
}

/** Verifies a token of client registration of a realm. Keycloak: the realm's not-before time does not invalidate it. */
export async function verifyRegistrationToken(
  service: Service,
  realm: RealmRow,
  token: string,
): Promise<JWTPayload | undefined> {
  const signed = await verifySignedToken(service, token, { types: REGISTRATION_TOKENS, realm, acceptsStale: true })
  return signed?.realm.number === realm.number ? signed.payload : undefined
}

/** A token with a valid signature of a realm. */
type SignedToken<Claims> = Pick<JWTVerifyResult<Claims>, 'payload' | 'protectedHeader'> & { readonly realm: RealmRow }

/** Adds the references of a token; undefined where it has none, such as a signed UserInfo response. */
function toVerifiedToken({ realm, payload, protectedHeader }: SignedToken<unknown>): VerifiedToken | undefined {
  const issuedTo = protectedHeader[ISSUED_TO] as IssuedTo | undefined
  return issuedTo && { realm, claims: payload, issuedTo }
}

async function verifySignedToken<Claims>(
  service: Service,
  token: string,
  { types, issuerBase, acceptsStale, ...requirements }: TokenRequirements,
): Promise<SignedToken<Claims> | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token)
    const { base, name } = splitIssuer(decodeJwt(token).iss)
    if (!kid) return undefined
    const isOwn = requirements.realm?.name === name
    const [realm] = isOwn ? [requirements.realm] : await service.cache.findRealms([name])
    if (!realm || (issuerBase !== undefined && base !== getFrontendUrl(issuerBase, realm))) return undefined
    const key = realm.enabled ? await findVerificationKey(service, realm, kid) : undefined
    if (!key) return undefined
    const { payload, protectedHeader } = await jwtVerify<Claims>(token, toJoseKey(key.verificationKey, key.algorithm), {
      algorithms: [key.algorithm],
      requiredClaims: types.some((type) => WITHOUT_EXPIRATION.includes(type)) ? ['iat'] : ['exp', 'iat'],
      currentDate: service.clock(),
    })
    if (!types.some((type) => type === payload.typ)) return undefined
    if (payload.iat! < realm.notBefore && !acceptsStale) return undefined
    return { realm, payload, protectedHeader }
  } catch (error) {
    if (isTokenError(error)) return undefined
    throw error
  }
}

/** A verified token with its status. */
export interface CheckedToken extends VerifiedToken {
  readonly issued: IssuedToken
  readonly status: TokenStatus
}

/** A verified token that is active: its client, user and session still allow it. */
export interface ActiveToken extends CheckedToken, TokenValue {
  readonly status: Extract<TokenStatus, { isValid: true }>
}

/** Whether a token is verified and active. */
export const isActiveToken = (token: CheckedToken | undefined): token is ActiveToken => token?.status.isValid === true

/** Verifies the signature of a token of the realm, which may have expired. Returns undefined for an invalid token. */
export async function verifySignature(
  service: Service,
  realm: RealmRow,
  token: string,
): Promise<VerifiedToken | undefined> {
  try {
    const key = await findVerificationKey(service, realm, decodeProtectedHeader(token).kid ?? '')
    if (!key) return undefined
    const { iat = 0 } = decodeJwt(token)
    const currentDate = new Date(iat * 1000)
    const verified = await jwtVerify(token, toJoseKey(key.verificationKey, key.algorithm), {
      algorithms: [key.algorithm],
      currentDate,
    })
    return toVerifiedToken({ realm, ...verified })
  } catch (error) {
    if (isTokenError(error)) return undefined
    throw error
  }
}

/**
 * Verifies a token, and returns it with its status, such as revoked; undefined if it is malformed, expired or not of this server.
 * `withPermissions`: the status contains the admin permissions of its user. Two statements, or none if it is cached.
 */
export async function verifyTokenStatus(
  service: Service,
  token: string,
  { withPermissions = false, acceptsBound, ...requirements }: StatusRequirements,
): Promise<CheckedToken | undefined> {
  let inactive: CheckedToken | undefined
  const { types, issuerBase = '' } = requirements
  const key = `${types.join('|')} ${issuerBase} ${withPermissions} ${token}`
  const active = await service.cache.findTokenValue(key, async () => {
    const verified = await verifyToken(service, token, requirements)
    if (!verified) return undefined
    const { realm, claims, issuedTo } = verified
    const issued = { ...issuedTo, realm, issuedAt: claims.iat!, id: claims.jti ?? '' }
    const status = await service.query((tx) => checkToken(tx, { ...issued, withPermissions }))
    if (status.isValid) {
      const expiresAt = new Date((claims.exp ?? LATEST_EXPIRATION) * 1000)
      return { ...verified, issued, status, user: status.user, expiresAt }
    }
    inactive = { ...verified, issued, status }
    return undefined
  })
  const checked = active ?? inactive
  return checked && !acceptsBound && readConfirmation(checked.claims) ? undefined : checked
}

/** The end of tokens without an `exp` claim, which end with their session, in seconds since 1970. */
const LATEST_EXPIRATION = 4e9

/** Returns the address of the server that issued a token. */
export const getIssuerBase = ({ iss }: VerifiedToken['claims']): string => splitIssuer(iss).base

function splitIssuer(issuer: string | undefined): { base: string; name: string } {
  const at = issuer?.lastIndexOf('/realms/') ?? -1
  if (!issuer || at < 0) throw new TypeError('The issuer of the token is not a realm.')
  const name = decodeURIComponent(issuer.slice(at + '/realms/'.length))
  if (!isStorable(name)) throw new TypeError('The issuer of the token is not a valid name of a realm.')
  return { base: issuer.slice(0, at), name }
}

/** Whether an error of decoding or verifying means that the token is invalid; other errors are those of the server. */
function isTokenError(error: unknown): boolean {
  const code = getErrorCode(error) ?? ''
  return error instanceof TypeError || error instanceof URIError || /^ERR_J(WT|WS|OSE)/.test(code)
}
