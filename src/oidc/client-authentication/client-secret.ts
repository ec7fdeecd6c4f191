// Client id and secret, in the form or as HTTP Basic. RFC 6749, section 2.3.1. Public clients send only the client id.
import { timingSafeEqual } from 'node:crypto'
import { listValidSecrets } from '../../service/login/secret-rotation.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { viewClient } from '../views.ts'
import {
  type ClientAuthenticationAttempt,
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
  const secrets = secret === undefined ? [] : listClientSecrets(attempt, client)
  const isValid = secrets.some((valid) => isSameSecret(valid, secret!))
  return isValid ? { client } : { client, error: createInvalidCredentialsError() }
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

/** Returns the valid secrets of a client, decrypted. An empty secret is not valid. */
export function listClientSecrets(
  { service: { vault }, realm }: ClientAuthenticationAttempt,
  { representation }: LiveObject,
): string[] {
  return listValidSecrets(realm.settings, representation, realm.now)
    .map((sealed) => vault.open(sealed))
    .filter((secret) => secret !== '')
}

/** Whether two secrets are equal. The time does not depend on where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  const [bytesA, bytesB] = [Buffer.from(a), Buffer.from(b)]
  return bytesA.length === bytesB.length && timingSafeEqual(bytesA, bytesB)
}
