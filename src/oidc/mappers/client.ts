// Mappers that read the client, or only their own configuration.
import { createHash } from 'node:crypto'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { viewClient } from '../views.ts'
import { listWebOrigins } from '../web-origins.ts'
import { addAudience, type Claims, type MapperConfig, setClaim } from './claims.ts'
import type { MapperFacts } from './mapper.ts'

/** Writes the configured value as a claim. */
export function mapHardcodedClaim(claims: Claims, config: MapperConfig): void {
  if (config['claim.value']) setClaim(claims, config, config['claim.value'])
}

/** Adds the configured client, or the custom audience. */
export function mapAudience(claims: Claims, config: MapperConfig): void {
  const name = config['included.client.audience'] || config['included.custom.audience']
  if (name) addAudience(claims, name)
}

/** Adds the web origins of the client to the claims. */
export function mapAllowedOrigins(claims: Claims, _config: MapperConfig, { client, base }: MapperFacts): void {
  const origins = listWebOrigins(client.representation, base)
  if (origins.length) claims['allowed-origins'] = origins
}

/** Writes a pairwise subject identifier: clients of different hosts cannot correlate users without the salt. */
export function mapPairwiseSubject(claims: Claims, config: MapperConfig, { client, user, base }: MapperFacts): void {
  // Without a sector the subject is for this client alone. The id of the user would let clients correlate users.
  const sector = findSector(client, config.sectorIdentifierUri, base) ?? client.id
  const text = sector + user.id + (config.pairwiseSubAlgorithmSalt ?? '')
  // Keycloak: a version 3 UUID of the SHA-256 digest.
  const bytes = createHash('md5').update(createHash('sha256').update(text).digest()).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x30
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  claims.sub = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns the sector identifier: the host of the sector identifier URI, or the only host of the redirect URIs. */
function findSector(client: LiveObject, sectorIdentifierUri: string | undefined, base: string): string | undefined {
  const uris = sectorIdentifierUri ? [sectorIdentifierUri] : listAbsoluteRedirectUris(client, base)
  const hosts = new Set(uris.map(findHost))
  return hosts.size === 1 ? [...hosts][0] : undefined
}

/** Keycloak: redirect URIs may be relative to the root URL of the client, or to the server. */
function listAbsoluteRedirectUris(client: LiveObject, base: string): string[] {
  const { rootUrl = '', redirectUris = [] } = viewClient(client)
  const root = rootUrl.replace(/^\$\{auth(Base|Admin)Url\}/, () => base) || new URL(base).origin
  return redirectUris.map((uri) => (uri.startsWith('/') ? root + uri : uri))
}

function findHost(uri: string): string | undefined {
  return URL.canParse(uri) ? new URL(uri).hostname || undefined : undefined
}
