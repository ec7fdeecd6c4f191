// The tokens of client registration: initial access tokens, and registration access tokens. Keycloak: ClientRegistrationTokenUtils.
import * as z from 'zod'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Service } from '../../service/context/service.ts'
import type { RegistrationCredential } from '../../service/registration/registration-party.ts'
import type { RegistrationType } from '../../service/registration/registration-policies.ts'
import { getIssuer, type OidcRealm } from '../oidc-realm.ts'
import { INTERNAL_ALGORITHM } from '../signature-algorithms.ts'
import { type REGISTRATION_TOKENS, signToken, verifyRegistrationToken } from '../tokens/tokens.ts'

/** The realm whose key signs a token, and the address of the server. */
export interface TokenIssuer {
  readonly service: Service
  readonly base: string
  readonly realm: OidcRealm
}

/** Signs an initial access token. `lifespan`: seconds; 0: it does not expire. `origins`: those of scripts that may use it. */
export function signInitialToken(
  issuer: TokenIssuer,
  { id, lifespan, origins }: { readonly id: string; readonly lifespan: number; readonly origins?: readonly string[] },
): Promise<string> {
  return sign(issuer, 'InitialAccessToken', {
    id,
    claims: {
      ...(lifespan > 0 && { exp: toEpochSeconds(issuer.realm.now) + lifespan }),
      ...(origins && { 'allowed-origins': origins }),
    },
  })
}

/** Signs a registration access token. `type` is the way in which its client was registered; `origins`: those of scripts that may use the token. */
export function signRegistrationToken(
  issuer: TokenIssuer,
  { id, type, origins }: { readonly id: string; readonly type: RegistrationType; readonly origins?: readonly string[] },
): Promise<string> {
  return sign(issuer, 'RegistrationAccessToken', {
    id,
    claims: { registration_auth: type, ...(origins && { 'allowed-origins': origins }) },
  })
}

/** Keycloak: a token that does not expire has the claim `exp` with the value 0. RFC 7519 would make it an expired one, so it has none here. */
function sign(
  { service, base, realm }: TokenIssuer,
  typ: (typeof REGISTRATION_TOKENS)[number],
  { id: jti, claims }: { readonly id: string; readonly claims: Readonly<Record<string, unknown>> },
): Promise<string> {
  const iss = getIssuer(base, realm)
  return signToken(service, realm, {
    claims: { ...claims, iat: toEpochSeconds(realm.now), jti, iss, aud: iss, typ },
    algorithm: INTERNAL_ALGORITHM,
  })
}

const tokenSchema = z.object({
  jti: z.string(),
  typ: z.string(),
  registration_auth: z.enum(['anonymous', 'authenticated']).optional(),
  'allowed-origins': z.array(z.string()).optional(),
})

/** A verified token, and the origins of scripts that may use it. */
export interface VerifiedRegistrationToken {
  readonly credential: Extract<
    RegistrationCredential,
    { readonly kind: 'initial access token' | 'registration access token' }
  >
  readonly origins: readonly string[] | undefined
}

/** Returns the content of a token of the realm; undefined if it is invalid or has expired. */
export async function readRegistrationToken(
  service: Service,
  realm: OidcRealm,
  token: string,
): Promise<VerifiedRegistrationToken | undefined> {
  const claims = await verifyRegistrationToken(service, realm, token)
  if (!claims) return undefined
  const { jti: id, typ, registration_auth: type = 'anonymous', 'allowed-origins': origins } = tokenSchema.parse(claims)
  const credential =
    typ === 'InitialAccessToken'
      ? ({ kind: 'initial access token', id } as const)
      : ({ kind: 'registration access token', id, type } as const)
  return { credential, origins }
}
