// What comes from the client, or from the mapper itself.
import { createHash } from 'node:crypto'
import type { LiveObject } from '../../service/objects/live.ts'
import { webOrigins } from '../web-origins.ts'
import { addAudience, type Claims, type Settings, setClaim } from './claims.ts'
import type { Facts } from './mapper.ts'

/** What the mapper says. */
export function hardcodedClaim(claims: Claims, settings: Settings): void {
  if (settings['claim.value']) setClaim(claims, settings, settings['claim.value'])
}

/** Whom the token is for: a client, or something else. */
export function audience(claims: Claims, settings: Settings): void {
  const name = settings['included.client.audience'] || settings['included.custom.audience']
  if (name) addAudience(claims, name)
}

/** The origins of pages that may use the token. */
export function allowedOrigins(claims: Claims, _settings: Settings, { client, base }: Facts): void {
  const origins = webOrigins(client.representation, base)
  if (origins.length) claims['allowed-origins'] = origins
}

/** Keycloak: another subject for clients of other hosts, which cannot be traced back without the salt. */
export function pairwiseSubject(claims: Claims, settings: Settings, { client, user, base }: Facts): void {
  const sector = sectorOf(client, settings.sectorIdentifierUri, base)
  if (sector === undefined) return
  const text = sector + user.id + (settings.pairwiseSubAlgorithmSalt ?? '')
  // A UUID of version 3: a digest of a digest.
  const bytes = createHash('md5').update(createHash('sha256').update(text).digest()).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x30
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  claims.sub = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The host that the redirect URIs have in common, or that of the address that lists those of several clients. */
function sectorOf(client: LiveObject, stated: string | undefined, base: string): string | undefined {
  const hosts = new Set((stated ? [stated] : absoluteRedirects(client, base)).map(hostOf))
  return hosts.size === 1 ? [...hosts][0] : undefined
}

/** Keycloak: redirect URIs may be relative to the client's root, or to the server. */
function absoluteRedirects({ representation }: LiveObject, base: string): string[] {
  const { rootUrl, redirectUris } = representation
  const root = String(rootUrl ?? '').replace(/^\$\{auth(Base|Admin)Url\}/, () => base) || new URL(base).origin
  return ((redirectUris ?? []) as readonly string[]).map((uri) => (uri.startsWith('/') ? root + uri : uri))
}

function hostOf(uri: string): string | undefined {
  return URL.canParse(uri) ? new URL(uri).hostname || undefined : undefined
}
