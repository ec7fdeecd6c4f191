// Client id and secret, in the form or as HTTP Basic. RFC 6749, section 2.3.1. Public clients send only the client id.
import { timingSafeEqual } from 'node:crypto'
import { readTextMap } from '../../kinds/json.ts'
import { resolveSecret } from '../../service/context/vault-directory.ts'
import { listValidSecrets } from '../../service/login/secret-rotation.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import { viewClient } from '../views.ts'
import {
  type ClientAuthenticator,
  createClientNotFoundError,
  createInvalidCredentialsError,
  type TokenRequest,
} from './client-authenticator.ts'

/** Authenticates a client by its secret. Keycloak: client-secret. */
export const authenticateBySecret: ClientAuthenticator = async (attempt) => {
  const { id, secret } = readClientCredentials(attempt.request)
  const client = id === undefined ? undefined : attempt.clients.get(id)
  if (!client || viewClient(client).enabled !== true) return { client, error: createClientNotFoundError(client) }
  if (viewClient(client).publicClient === true) return { client }
  try {
    const secrets = secret === undefined ? [] : await listClientSecrets(attempt, client)
    const isValid = isAllowedMethod(attempt.request, client) && secrets.some((valid) => isSameSecret(valid, secret!))
    return isValid ? { client } : { client, error: createInvalidCredentialsError() }
  } catch (error) {
    if (error instanceof OAuthError) return { client, error }
    throw error
  }
}

/** Whether the client may send its secret in this way. Keycloak: it may in any way unless an attribute names one. */
function isAllowedMethod({ form }: TokenRequest, { representation }: LiveObject): boolean {
  const allowed = readTextMap(representation.attributes)['client.secret.authentication.allowed.method']
  const method = form.client_secret === undefined ? 'client_secret_basic' : 'client_secret_post'
  return !allowed || allowed === method
}

/** Returns the client id and secret of a request. Keycloak: each is read from the form first, then from the header. */
export function readClientCredentials({ form, authorization }: TokenRequest) {
  const basic = readBasicCredentials(authorization)
  return { id: form.client_id ?? basic?.id, secret: form.client_secret ?? basic?.secret }
}

function readBasicCredentials(authorization = ''): { id: string; secret: string } | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1]
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { id: decodePart(text.slice(0, colon)), secret: decodePart(text.slice(colon + 1)) }
}

/** Decodes a form-encoded part. Many clients do not encode it: it is returned unchanged where decoding fails. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Returns the valid secrets of a client, decrypted, or read from the vault. An empty secret is not valid. @throws OAuthError */
export async function listClientSecrets(
  { service: { vault, vaultDirectory }, realm }: RealmCall,
  client: LiveObject,
): Promise<string[]> {
  const opened = openedSecrets.get(client) ?? new Map<string, string>()
  openedSecrets.set(client, opened)
  const open = (sealed: string) => {
    const secret = opened.get(sealed) ?? vault.open(sealed)
    opened.set(sealed, secret)
    return secret
  }
  const secrets = listValidSecrets(realm.settings, client.representation, realm.now).map(open)
  const resolved = await Promise.all(secrets.map((secret) => resolveSecret(vaultDirectory, realm.name, secret))).catch(
    (error: Error) => {
      throw createInvalidCredentialsError(error.message)
    },
  )
  return resolved.filter((secret) => secret !== '')
}

/** The decrypted secrets of clients, by the sealed ones. */
const openedSecrets = new WeakMap<LiveObject, Map<string, string>>()

/** Whether two secrets are equal. The time does not depend on where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  const [bytesA, bytesB] = [Buffer.from(a), Buffer.from(b)]
  return bytesA.length === bytesB.length && timingSafeEqual(bytesA, bytesB)
}
