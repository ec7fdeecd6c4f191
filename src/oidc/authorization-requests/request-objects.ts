// Request objects: authorization requests that a client signs. RFC 9101; OpenID Connect Core 1.0, section 6.
import { createHash } from 'node:crypto'
import {
  type CompactJWEHeaderParameters,
  compactDecrypt,
  compactVerify,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  UnsecuredJWT,
} from 'jose'
import { CONTENT_ENCRYPTION_ALGORITHMS, KEY_ENCRYPTION_ALGORITHMS } from '../../kinds/encryption-algorithms.ts'
import { KEY_ALGORITHMS, SECRET_ALGORITHMS } from '../../kinds/key-providers.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { recordKeyUse } from '../../service/context/single-use.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { getClientKeys } from '../client-authentication/client-keys.ts'
import { listClientSecrets } from '../client-authentication/client-secret.ts'
import type { RealmCall } from '../client-call.ts'
import { getIssuer } from '../oidc-realm.ts'
import { listRealmKeys } from '../realm-keys.ts'
import { viewClient } from '../views.ts'
import { InvalidRequestObject } from './invalid-request-object.ts'

/** The tolerated clock difference, in seconds. */
const CLOCK_SKEW = 15
/** The end of objects without an `exp` claim, in seconds since 1970. */
const NO_EXPIRATION = 4e9
/** Keycloak: the value of an attribute that permits any algorithm. */
const ANY = 'any'
/** Claims of an object that are no parameters of the request, or that refer to another request. */
const OTHER_CLAIMS = ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sub', 'request', 'request_uri']

/** A request with an object. */
export interface RequestObjectCall extends RealmCall {
  /** The address of the server, as the caller sees it. */
  readonly base: string
}

/** A request object that was verified. */
export interface RequestObject {
  readonly parameters: URLSearchParams
  readonly claims: JWTPayload
  readonly isEncrypted: boolean
}

/**
 * Returns a request object of a client. A signed object with an id is accepted once, also across servers. One statement,
 * or none without an id. It must not be called inside a transaction.
 *
 * @throws InvalidRequestObject
 */
export async function readRequestObject(
  call: RequestObjectCall,
  client: LiveObject,
  text: string,
): Promise<RequestObject> {
  const header = readHeader(text)
  checkEncryption(client, header)
  const signed = header.enc === undefined ? text : await decryptRequestObject(call, text)
  const claims = await verifyObject(call, client, signed)
  checkClaims(call, client, claims)
  // Any caller can create an object that is not signed, so that its id says nothing.
  if (readHeader(signed).alg !== 'none') await recordObject(call, client, claims)
  return { parameters: toParameters(claims), claims, isEncrypted: header.enc !== undefined }
}

function readHeader(text: string): { readonly alg?: string; readonly enc?: string } {
  try {
    return decodeProtectedHeader(text)
  } catch {
    throw new InvalidRequestObject('Failed to parse JWT header')
  }
}

const getAttribute = (client: LiveObject, name: string): string | undefined => {
  const value = viewClient(client).attributes?.[name]
  return value === '' || value === ANY ? undefined : value
}

/** Throws InvalidRequestObject unless the object is encrypted as the client requires. */
function checkEncryption(client: LiveObject, { alg, enc }: ReturnType<typeof readHeader>): void {
  const requiredAlgorithm = getAttribute(client, 'request.object.encryption.alg')
  const requiredContent = getAttribute(client, 'request.object.encryption.enc')
  if (requiredAlgorithm !== undefined && (enc === undefined || alg !== requiredAlgorithm))
    throw new InvalidRequestObject('The request object is not encrypted with the algorithm that the client requires')
  if (requiredContent !== undefined && enc !== requiredContent)
    throw new InvalidRequestObject('The content of the request object is not encrypted as the client requires')
}

/** Verifies the signature of an object, and returns its claims. */
async function verifyObject(call: RealmCall, client: LiveObject, text: string): Promise<JWTPayload> {
  const { alg = '' } = readHeader(text)
  const required = getAttribute(client, 'request.object.signature.alg')
  if (required !== undefined && alg !== required)
    throw new InvalidRequestObject('Request object signed with different algorithm than client requested algorithm')
  try {
    if (alg === 'none') return UnsecuredJWT.decode(text, { currentDate: call.realm.now }).payload
    await verifySignature(call, client, { text, alg })
    return decodeJwt(text)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new InvalidRequestObject("Failed to verify signature on 'request' object")
    throw error
  }
}

/** Verifies the signature by the client's keys or one of its secrets. Throws errors of jose. */
async function verifySignature(
  call: RealmCall,
  client: LiveObject,
  { text, alg }: { readonly text: string; readonly alg: string },
): Promise<void> {
  if (!SECRET_ALGORITHMS.includes(alg)) {
    await compactVerify(text, getClientKeys(call.service.outbound, client), { algorithms: KEY_ALGORITHMS })
    return
  }
  // The secret of a public client authenticates nothing.
  const secrets = viewClient(client).publicClient === true ? [] : await listClientSecrets(call, client)
  const results = await Promise.allSettled(secrets.map((secret) => compactVerify(text, Buffer.from(secret))))
  if (!results.some(({ status }) => status === 'fulfilled')) throw new errors.JWSSignatureVerificationFailed()
}

/** Checks the issuer, the audience and the times of an object, as far as it has them. */
function checkClaims({ realm, base }: RequestObjectCall, client: LiveObject, claims: JWTPayload): void {
  const now = toEpochSeconds(realm.now)
  const { iss, aud, exp, nbf, client_id: clientId } = claims
  if (clientId !== undefined && clientId !== client.key[0])
    throw new InvalidRequestObject("The client_id parameter doesn't match the one from OIDC 'request' or 'request_uri'")
  if (iss !== undefined && iss !== client.key[0])
    throw new InvalidRequestObject('The issuer of the request object is not the client')
  if (aud !== undefined && ![aud].flat().includes(getIssuer(base, realm)))
    throw new InvalidRequestObject('The request object is for another server')
  if (exp !== undefined && !(exp > now - CLOCK_SKEW)) throw new InvalidRequestObject('The request object has expired')
  if (nbf !== undefined && !(nbf <= now + CLOCK_SKEW))
    throw new InvalidRequestObject('The request object is not valid yet')
}

/** Records the use of an object with an id until it expires. */
async function recordObject(
  { service, realm }: RealmCall,
  client: LiveObject,
  { jti, exp = NO_EXPIRATION }: JWTPayload,
): Promise<void> {
  if (jti === undefined) return
  const key = `request-object ${client.id} ${createHash('sha256').update(String(jti)).digest('base64url')}`
  const rememberedUntil = new Date(Math.min(exp + CLOCK_SKEW, NO_EXPIRATION) * 1000)
  const uses = await service.writeRuntime(SYSTEM, realm, (context) => recordKeyUse(context, key, rememberedUntil))
  if (uses > 1) throw new InvalidRequestObject('The request object was used before')
}

/** Returns the claims as parameters. Objects, such as `claims`, are JSON. */
function toParameters(claims: JWTPayload): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(claims)) {
    if (OTHER_CLAIMS.includes(name) || value === undefined || value === null) continue
    parameters.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  return parameters
}

/** Returns the signed object within one that is encrypted for a key of the realm. RFC 9101, section 5. Throws InvalidRequestObject if the realm has no key for it. */
async function decryptRequestObject({ service, realm }: RealmCall, text: string): Promise<string> {
  const keys = await listRealmKeys(service, realm)
  try {
    const { plaintext } = await compactDecrypt(text, (header) => getDecryptionKey(keys, header), {
      keyManagementAlgorithms: KEY_ENCRYPTION_ALGORITHMS,
      contentEncryptionAlgorithms: CONTENT_ENCRYPTION_ALGORITHMS,
    })
    return new TextDecoder().decode(plaintext)
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw new InvalidRequestObject("Failed to decrypt 'request' object")
    throw error
  }
}

/** Returns the key that a header names, or the first one that its algorithm can use. Passive keys still decrypt. */
function getDecryptionKey(keys: readonly RealmKey[], { alg = '', kid }: CompactJWEHeaderParameters) {
  const type = alg.startsWith('RSA') ? 'RSA' : 'EC'
  const suitable = keys.filter((key) => key.use === 'enc' && key.status !== 'DISABLED' && key.type === type)
  const key = suitable.find((candidate) => kid === undefined || candidate.kid === kid)
  if (!key) throw new InvalidRequestObject(`The realm has no key that decrypts a request object with ${alg}`)
  return key.signingKey
}
