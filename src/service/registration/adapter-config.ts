// The configuration of a client for Keycloak's adapters: `keycloak.json`. Keycloak: KeycloakOIDCClientInstallation.
import { type Representation, readText } from '../../kinds/json.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import type { Context } from '../context/context.ts'
import { writers } from '../kinds/index.ts'
import { findLiveRealm } from '../objects/live-objects.ts'
import { readRegisteredClient } from './registered-clients.ts'
import type { RegistrationParty } from './registration-party.ts'

/** Returns the configuration of a client for Keycloak's adapters. Throws unauthorized, forbidden, not_found. */
export async function readAdapterConfig(
  context: Context,
  party: RegistrationParty,
  { clientId, base }: { readonly clientId: string; readonly base: string },
): Promise<Representation> {
  const { client } = await readRegisteredClient(context, party, clientId)
  const roles = await writers.role.list(context, { parents: { kind: 'client', ids: [String(client.id)] } })
  const realm = await findLiveRealm(context)
  const sslRequired = String(realm?.representation.sslRequired ?? 'external')
  return toAdapterConfig({
    client,
    roles: roles.map(({ key }) => key.at(-1)!),
    realm: context.realm.name,
    sslRequired,
    base,
  })
}

/** The parts of a configuration. */
interface AdapterConfigParts {
  readonly client: Representation
  /** The names of the client's own roles. */
  readonly roles: readonly string[]
  readonly realm: string
  readonly sslRequired: string
  /** The address of the server. */
  readonly base: string
}

/** Returns the configuration. Pure. The secret is included if the client authenticates with it. */
function toAdapterConfig({ client, roles, realm, sslRequired, base }: AdapterConfigParts): Representation {
  const { clientId, publicClient, bearerOnly, clientAuthenticatorType, secret, authorizationServicesEnabled } = client
  const isConfidential = publicClient !== true && bearerOnly !== true
  const usesSecret = readText(clientAuthenticatorType)?.startsWith('client-secret') === true
  return {
    realm,
    ...(bearerOnly === true && { 'bearer-only': true }),
    'auth-server-url': `${base}/`,
    'ssl-required': sslRequired.toLowerCase(),
    resource: clientId!,
    ...(publicClient === true && { 'public-client': true }),
    ...(isConfidential && roles.length && { 'verify-token-audience': true }),
    ...(isConfidential && usesSecret && secret !== undefined && { credentials: { secret } }),
    ...(roles.some((name) => name !== UMA_PROTECTION) && { 'use-resource-role-mappings': true }),
    'confidential-port': 0,
    ...(authorizationServicesEnabled === true && { 'policy-enforcer': { credentials: {} } }),
  }
}
