// The web origins of a client: the origins whose scripts may call the endpoints for it.
import { client as clientKind } from '../kinds/client.ts'
import type { Representation } from '../kinds/json.ts'
import { viewOf } from '../kinds/kind.ts'
import type { IssuedToken } from '../service/context/cached-values.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { writers } from '../service/kinds/index.ts'
import { OriginError } from './oauth-error.ts'
import { resolveRootUrl } from './redirect-uris.ts'

/** Returns the web origins of a client. Keycloak: `+` means those of the redirect URIs, and origins are compared as texts. */
export function listWebOrigins(client: Representation, base: string): readonly string[] {
  const { webOrigins = [], redirectUris = [], rootUrl } = viewOf(clientKind, client)
  const root = resolveRootUrl(rootUrl, base)
  const redirectOrigins = webOrigins.includes('+') ? redirectUris.flatMap((uri) => listOrigin(uri, root, base)) : []
  return [...new Set([...webOrigins.filter((origin) => origin !== '+'), ...redirectOrigins])]
}

/** Throws OriginError where a page of another origin calls that is no web origin of the client. */
export function checkOrigin(client: Representation, base: string, origin: string | undefined): void {
  if (origin !== undefined && !isAllowedOrigin(listWebOrigins(client, base), base, origin)) throw new OriginError()
}

/** Throws OriginError as `checkOrigin` does, for the client of a token. One statement for another origin, else none. */
export async function checkTokenOrigin(
  service: Service,
  { realm, client: id }: IssuedToken,
  { base, origin }: { readonly base: string; readonly origin: string | undefined },
): Promise<void> {
  if (origin === undefined || isAllowedOrigin([], base, origin)) return
  const [client] = await service.read(SYSTEM, realm.name, (context) => writers.client.list(context, { ids: [id] }))
  checkOrigin(client?.representation ?? {}, base, origin)
}

/** Whether an origin is that of the server at `base`, or in a list of origins. */
export function isAllowedOrigin(origins: readonly string[], base: string, origin: string): boolean {
  return origin === new URL(base).origin || origins.includes('*') || origins.includes(origin)
}

/** Returns the origin of a redirect URI, which may be relative to the root URL; none for other schemes. */
function listOrigin(uri: string, root: string, base: string): string[] {
  const address = uri.startsWith('/') ? root.replace(/^\$\{auth(Base|Admin)Url\}/, base) : uri
  return /^https?:\/\/[^/]+/.exec(address)?.slice(0, 1) ?? []
}
