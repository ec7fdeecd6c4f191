// The credentials of clients: secrets, private keys, and the OpenID Connect tokens of pipelines and of Kubernetes.
import { createPrivateKey, type JsonWebKey, type KeyObject, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { getErrorCode } from '../../lib/error-code.ts'
import { parseJsonOrNull, sendRequest } from '../../lib/http/http-request.ts'
import { UNRESTRICTED } from '../../lib/http/outbound.ts'
import { describeNetworkError } from './network-errors.ts'
import { findIssuer, type ServerRealm } from './token-request.ts'

/** The credentials of a client: one of these. */
export interface ClientCredentials {
  readonly clientSecret?: string | undefined
  readonly clientSecretFile?: string | undefined
  readonly privateKeyFile?: string | undefined
  /** `github`, `gitlab`, `gitlab:<variable>`, `kubernetes`, `kubernetes:<file>`, or a file. */
  readonly oidcToken?: string | undefined
}

type Form = Readonly<Record<string, string>>

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const toForm = (assertion: string): Form => ({ client_assertion_type: TYPE, client_assertion: assertion })

/** The file of the projected token of a service account in Kubernetes, unless another one is named. */
const KUBERNETES_TOKEN = '/var/run/secrets/tokens/regent'
/** The lifespan of an assertion in seconds. */
const LIFESPAN = 30

/** Returns the fields of a token request that authenticate a client. Each assertion is used once, so it is created for each request. */
export async function authenticateClient(
  at: ServerRealm,
  client: string,
  credentials: ClientCredentials,
): Promise<Form> {
  const { clientSecret, clientSecretFile, privateKeyFile, oidcToken } = credentials
  if (oidcToken) return toForm(await readOidcToken(at, oidcToken))
  if (privateKeyFile) return toForm(await signAssertion(at, client, privateKeyFile))
  if (clientSecretFile)
    return { client_secret: (await readSecretFile(clientSecretFile, '--client-secret-file')).trim() }
  if (clientSecret) return { client_secret: clientSecret }
  throw new Error(
    `The client ${client} has no credentials. Pass --oidc-token, --private-key-file or --client-secret-file (REGENT_OIDC_TOKEN, REGENT_PRIVATE_KEY_FILE, REGENT_CLIENT_SECRET_FILE, REGENT_CLIENT_SECRET).`,
  )
}

/** Returns what to do if the server refuses a client. */
export function adviseClient({ oidcToken, privateKeyFile }: ClientCredentials, form: Form): string {
  if (privateKeyFile) return `Check that the client has the public key of ${privateKeyFile}.`
  if (!oidcToken) return 'Check the client id, the secret and the realm.'
  const { iss, sub, aud } = readClaims(form.client_assertion ?? '')
  return `The token is from the issuer ${iss}, for the audience ${aud}, about the subject ${sub}. Check that the client names its identity provider and this subject.`
}

/** Returns the claims of a token, without verifying it. */
export function readClaims(token: string): Readonly<Record<string, unknown>> {
  const claims = parseJsonOrNull(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return z.record(z.string(), z.unknown()).safeParse(claims).data ?? {}
}

async function readOidcToken(at: ServerRealm, origin: string): Promise<string> {
  const [, kind, detail] = /^(github|gitlab|kubernetes)(?::(.+))?$/.exec(origin) ?? []
  if (kind === 'github') return requestGitHubToken(await findIssuer(at))
  if (kind === 'gitlab') return readVariable(detail ?? 'REGENT_ID_TOKEN')
  const file = kind === 'kubernetes' ? (detail ?? KUBERNETES_TOKEN) : origin
  return (await readSecretFile(file, '--oidc-token')).trim()
}

function readVariable(name: string): string {
  const token = process.env[name]
  if (token) return token
  throw new Error(`The variable ${name} has no token. In .gitlab-ci.yml, declare it in id_tokens of the job.`)
}

/** Requests a token of the job. GitHub: it is for the audience that the request names. */
async function requestGitHubToken(audience: string): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = process.env
  if (!address || !token)
    throw new Error('GitHub provides no token to this job. Give the job "permissions: id-token: write".')
  const url = `${address}&${new URLSearchParams({ audience })}`
  const headers = { authorization: `Bearer ${token}` }
  const response = await sendRequest(UNRESTRICTED, url, { headers, timeout: 60_000, limit: 64 * 1024 }).catch(
    (error: Error) => {
      throw new Error(describeNetworkError(url, error), { cause: error })
    },
  )
  const { data } = z.object({ value: z.string() }).safeParse(parseJsonOrNull(response.text))
  if (data) return data.value
  throw new Error(`GitHub returns no token (status ${response.status}). Check the permissions of the job.`)
}

/** Signs an assertion. RFC 7523, section 3. */
async function signAssertion(at: ServerRealm, client: string, file: string): Promise<string> {
  const text = await readSecretFile(file, '--private-key-file')
  const { key, kid } = parsePrivateKey(file, text)
  const { SignJWT } = await import('jose')
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({
    iss: client,
    sub: client,
    aud: await findIssuer(at),
    jti: randomUUID(),
    iat: now,
    exp: now + LIFESPAN,
  })
    .setProtectedHeader({ alg: findAlgorithm(file, key), ...(kid !== undefined && { kid }) })
    .sign(key)
}

function parsePrivateKey(file: string, text: string): { readonly key: KeyObject; readonly kid?: string | undefined } {
  try {
    if (!text.trimStart().startsWith('{')) return { key: createPrivateKey(text) }
    const jwk: JsonWebKey & { readonly kid?: string } = JSON.parse(text)
    return { key: createPrivateKey({ key: jwk, format: 'jwk' }), kid: jwk.kid }
  } catch (error) {
    throw new Error(`${file} has no private key in PEM or JWK.`, { cause: error })
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

function findAlgorithm(file: string, { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  if (type === 'rsa') return 'RS256'
  const algorithm = type === 'ed25519' ? 'EdDSA' : CURVES[details?.namedCurve ?? '']
  if (algorithm === undefined)
    throw new Error(`${file} has a key of an unknown type. Use RSA, P-256, P-384, P-521 or Ed25519.`)
  return algorithm
}

async function readSecretFile(file: string, flag: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`${file} cannot be read (${getErrorCode(error)}). Check ${flag}.`, { cause: error })
  })
}
