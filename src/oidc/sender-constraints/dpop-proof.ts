// DPoP proofs: tokens that a client signs to show that it has a key. RFC 9449.
import { createHash } from 'node:crypto'
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  EmbeddedJWK,
  errors,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose'
import { KEY_ALGORITHMS } from '../../kinds/key-providers.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { recordKeyUse } from '../../service/context/single-use.ts'
import type { RealmCall } from '../client-call.ts'

/** The algorithms that may sign proofs. */
export const PROOF_ALGORITHMS = KEY_ALGORITHMS

/** Keycloak: the seconds for which a proof is valid, and the tolerated clock difference. */
const LIFESPAN = 10
const CLOCK_SKEW = 15

/** Members of a JWK that belong to a private or symmetric key. */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** A request with a proof. */
export interface ProofRequest {
  readonly method: string
  /** The address of the endpoint, without a query. */
  readonly url: string
  /** The access token of the request, if it has one. */
  readonly accessToken?: string | undefined
}

/** A proof that is not valid. The message is the reason, as Keycloak reports it. */
export class InvalidProof extends Error {}

/**
 * Returns the thumbprint of the key of a proof (RFC 7638). A proof is accepted once, also across servers. One statement. It must
 * not be called inside a transaction.
 *
 * @throws InvalidProof
 */
export async function verifyProof(call: RealmCall, proof: string, request: ProofRequest): Promise<string> {
  const { header, claims } = parseProof(proof)
  checkHeader(header)
  checkClaims(claims, request, toEpochSeconds(call.realm.now))
  try {
    await jwtVerify(proof, EmbeddedJWK, { algorithms: PROOF_ALGORITHMS, currentDate: call.realm.now })
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new InvalidProof('DPoP verification failure')
    throw error
  }
  const thumbprint = await calculateJwkThumbprint(header.jwk!)
  await recordProof(call, thumbprint, claims)
  return thumbprint
}

function parseProof(proof: string): { readonly header: ProtectedHeaderParameters; readonly claims: JWTPayload } {
  try {
    return { header: decodeProtectedHeader(proof), claims: decodeJwt(proof) }
  } catch {
    throw new InvalidProof('DPoP header verification failure')
  }
}

/** Checks the header of a proof. RFC 9449, section 4.3. */
function checkHeader({ typ, alg, jwk }: ProtectedHeaderParameters): void {
  if (typ !== 'dpop+jwt') throw new InvalidProof(`Invalid or missing type in DPoP header: ${typ ?? null}`)
  if (!PROOF_ALGORITHMS.includes(String(alg))) throw new InvalidProof(`Unsupported DPoP algorithm: ${alg}`)
  if (typeof jwk !== 'object' || jwk === null) throw new InvalidProof('No JWK in DPoP header')
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    throw new InvalidProof('Private key material must not be present in DPoP JWK')
}

/** Checks the claims of a proof. */
function checkClaims(
  { jti, htm, htu, iat, ath }: JWTPayload,
  { method, url, accessToken }: ProofRequest,
  now: number,
): void {
  if (typeof jti !== 'string' || typeof htm !== 'string' || typeof htu !== 'string' || typeof iat !== 'number')
    throw new InvalidProof('DPoP mandatory claims are missing')
  if (!(now - LIFESPAN - CLOCK_SKEW <= iat && iat <= now + CLOCK_SKEW))
    throw new InvalidProof('DPoP proof is not active')
  if (htm !== method) throw new InvalidProof('DPoP HTTP method mismatch')
  if (normalizeUrl(htu) !== normalizeUrl(url)) throw new InvalidProof('DPoP HTTP URL mismatch')
  if (accessToken !== undefined && ath !== createHash('sha256').update(accessToken).digest('base64url'))
    throw new InvalidProof('DPoP proof access token hash mismatch')
}

/** Returns a URL without query and fragment, in the normal form of the WHATWG; undefined if it is none. */
function normalizeUrl(text: string): string | undefined {
  const url = URL.parse(text)
  return url ? url.origin + url.pathname : undefined
}

/** Records the use of a proof. The key counts too, so that no client can use up the ids of another one. */
async function recordProof({ service, realm }: RealmCall, thumbprint: string, { jti, iat }: JWTPayload): Promise<void> {
  const key = `dpop ${thumbprint} ${createHash('sha256').update(jti!).digest('base64url')}`
  const rememberedUntil = new Date((iat! + LIFESPAN + CLOCK_SKEW + 1) * 1000)
  const uses = await service.writeRuntime(SYSTEM, realm, (context) => recordKeyUse(context, key, rememberedUntil))
  if (uses > 1) throw new InvalidProof('DPoP proof has already been used')
}
