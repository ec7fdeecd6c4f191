// Clients that authenticate by a TLS certificate. RFC 8705, section 2.1: tls_client_auth. Keycloak: client-x509.
import { readFlag } from '../../kinds/json.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { viewClient } from '../views.ts'
import {
  type ClientAuthenticator,
  createClientNotFoundError,
  createInvalidCredentialsError,
} from './client-authenticator.ts'
import { readClientCredentials } from './client-secret.ts'
import { getSubjectName, isSameName } from './distinguished-names.ts'

/** Authenticates a client by the subject of its certificate, which a CA of the server or a proxy has verified. */
export const authenticateByCertificate: ClientAuthenticator = async ({ request, clients }) => {
  const { id } = readClientCredentials(request)
  const client = id === undefined ? undefined : clients.get(id)
  if (!client || viewClient(client).enabled !== true) return { client, error: createClientNotFoundError(client) }
  if (!request.certificate) return { client, error: createInvalidCredentialsError('The request has no certificate') }
  const subject = getSubjectName(request.certificate)
  if (isExpectedSubject(client, subject)) return { client }
  return { client, error: createInvalidCredentialsError(`The subject of the certificate does not match: ${subject}`) }
}

function isExpectedSubject(client: LiveObject, subject: string): boolean {
  const { attributes = {} } = viewClient(client)
  const expected = attributes['x509.subjectdn']
  if (!expected) return false
  if (!readFlag(attributes['x509.allow.regex.pattern.comparison'])) return isSameName(subject, expected)
  try {
    return compileJavaPattern(expected).test(subject)
  } catch {
    return false
  }
}
