// Realms as the OpenID Connect endpoints read them.
import type { Representation } from '../kinds/json.ts'
import { type ViewOf, viewOf } from '../kinds/kind.ts'
import { realm as realmKind } from '../kinds/realm.ts'
import type { Context } from '../service/context/context.ts'
import { failure, ServiceError } from '../service/context/errors.ts'
import { cachePerRevision, requireSameRealm } from '../service/context/realm-values.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'
import { meetsSslRequirement, type Transport } from '../service/context/transport.ts'
import { writers } from '../service/kinds/index.ts'
import { OAuthError } from './oauth-error.ts'

/** Numbers without which no token or login can be issued. Lifespans are in seconds. */
type RequiredSetting =
  | 'accessCodeLifespan'
  | 'accessCodeLifespanLogin'
  | 'accessCodeLifespanUserAction'
  | 'accessTokenLifespan'
  | 'actionTokenGeneratedByAdminLifespan'
  | 'notBefore'
  | 'refreshTokenMaxReuse'

/** The settings of a realm. Required settings that the realm lacks have the values of a new realm. */
export type RealmSettings = ViewOf<typeof realmKind> & Readonly<Record<RequiredSetting, number>>

/** A realm with its settings. */
export interface OidcRealm extends RealmRow {
  readonly settings: RealmSettings
  /** The time of the request, by the clock of the service. */
  readonly now: Date
  /** The realm was read for the request. Absent: it may be a cached one, which may be a second old. */
  readonly isCurrent?: boolean
}

/** Thrown where a cached realm has changed. The request is handled again with the current one. */
export class OutdatedRealm extends Error {}

/** Returns an enabled realm. Throws OAuthError where it does not exist or is disabled. */
export async function getEnabledRealm(
  service: Service,
  name: string,
  options?: { readonly isCurrent: boolean },
): Promise<OidcRealm> {
  const realm = await getOidcRealm(service, name, options)
  if (realm.settings.enabled !== true) throw new OAuthError(403, 'access_denied', { description: 'Realm not enabled' })
  return realm
}

/** Throws OAuthError where the realm requires HTTPS, and the request came without. */
export function requireHttps({ settings }: OidcRealm, transport: Transport): void {
  if (!meetsSslRequirement(settings, transport))
    throw new OAuthError(403, 'invalid_request', { description: 'HTTPS required' })
}

/**
 * Returns a realm, enabled or not. `isCurrent`: it is not a cached one, which may be a second old. Throws OAuthError where it does
 * not exist.
 */
export async function getOidcRealm(
  service: Service,
  name: string,
  { isCurrent }: { readonly isCurrent: boolean } = { isCurrent: false },
): Promise<OidcRealm> {
  try {
    const [realm] = isCurrent ? await service.findRealms([name]) : await service.cache.findRealms([name])
    if (!realm) throw createUnknownRealmError()
    return { ...realm, now: service.clock(), isCurrent, settings: await getSettings(service, realm) }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') throw createUnknownRealmError()
    throw error
  }
}

/** Keycloak: outside of the admin API this is the error for a realm that does not exist. */
const createUnknownRealmError = () => new OAuthError(404, 'Realm does not exist', { description: '' })

const getSettings = cachePerRevision(async (service, { name, number }) =>
  service.read(SYSTEM, name, async (context) => {
    const { settings, revision } = await readOidcRealm(requireSameRealm(context, { number }))
    return { revision, value: settings }
  }),
)

/** Reads the realm of a context. Throws not_found if it has just been deleted. */
export async function readOidcRealm(context: Context): Promise<OidcRealm> {
  const [live] = await writers.realm.list(context, {})
  if (!live) throw failure('not_found', 'Realm not found.')
  return { ...context.realm, settings: toRealmSettings(live.representation), now: context.now }
}

const newRealm = viewOf(realmKind, realmKind.defaults({}))

function toRealmSettings(representation: Representation): RealmSettings {
  const settings = viewOf(realmKind, representation)
  const getNumber = (name: RequiredSetting): number => settings[name] ?? newRealm[name] ?? 0
  return {
    ...settings,
    accessCodeLifespan: getNumber('accessCodeLifespan'),
    accessCodeLifespanLogin: getNumber('accessCodeLifespanLogin'),
    accessCodeLifespanUserAction: getNumber('accessCodeLifespanUserAction'),
    accessTokenLifespan: getNumber('accessTokenLifespan'),
    actionTokenGeneratedByAdminLifespan: getNumber('actionTokenGeneratedByAdminLifespan'),
    notBefore: getNumber('notBefore'),
    refreshTokenMaxReuse: getNumber('refreshTokenMaxReuse'),
  }
}

/** A realm in an address. Absent: the base URL of its front end is already known. */
type AddressedRealm = Pick<RealmRow, 'name'> & Partial<Pick<RealmRow, 'frontendUrl'>>

/** Returns the issuer of a realm's tokens. Keycloak: it is the address of the realm. */
export const getIssuer = (base: string, realm: AddressedRealm): string =>
  `${getFrontendUrl(base, realm)}/realms/${encodeURIComponent(realm.name)}`

/** Returns the address of the token endpoint of a realm. */
export const getTokenUrl = (base: string, realm: AddressedRealm): string =>
  `${getIssuer(base, realm)}/protocol/openid-connect/token`

/** Returns the base URL at which users see the realm with a name. No statement if the realm is cached. */
export async function findFrontendUrl(service: Service, base: string, name: string | undefined): Promise<string> {
  const [realm] = name === undefined ? [] : await service.cache.findRealms([name])
  return realm ? getFrontendUrl(base, realm) : base
}

/** Returns the base URL at which users see a realm: its own, or `base` if it has none or an invalid one. */
export function getFrontendUrl(base: string, { frontendUrl = '' }: Partial<Pick<RealmRow, 'frontendUrl'>>): string {
  const isAddress = ['http:', 'https:'].includes(URL.parse(frontendUrl)?.protocol ?? '')
  return isAddress ? frontendUrl.replace(/\/+$/, '') : base
}
