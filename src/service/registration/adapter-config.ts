// The configuration of a client for Keycloak's adapters: `keycloak.json`. Pure. Keycloak: KeycloakOIDCClientInstallation.
import { type Representation, readText } from '../../kinds/json.ts'

/** What a configuration consists of. */
export interface AdapterConfigParts {
  readonly client: Representation
  /** Whether the client has roles of its own. */
  readonly hasRoles: boolean
  readonly realm: string
  readonly sslRequired: string
  /** The address of the server. */
  readonly base: string
}

/** Returns the configuration. The secret is included if the client authenticates with it. */
export function toAdapterConfig({ client, hasRoles, realm, sslRequired, base }: AdapterConfigParts): Representation {
  const { clientId, publicClient, bearerOnly, clientAuthenticatorType, secret } = client
  const isConfidential = publicClient !== true && bearerOnly !== true
  const usesSecret = readText(clientAuthenticatorType)?.startsWith('client-secret') === true
  return {
    realm,
    ...(bearerOnly === true && { 'bearer-only': true }),
    'auth-server-url': `${base}/`,
    'ssl-required': sslRequired.toLowerCase(),
    resource: clientId!,
    ...(publicClient === true && { 'public-client': true }),
    ...(isConfidential && usesSecret && secret !== undefined && { credentials: { secret } }),
    ...(hasRoles && { 'use-resource-role-mappings': true }),
    'confidential-port': 0,
  }
}
