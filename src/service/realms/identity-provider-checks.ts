// What the settings of an identity provider must fulfil, and what the reference server says of those that do not.
import { isIP } from 'node:net'
import { type IdentityProviderType, identityProviderTypes } from '../../kinds/identity-provider-types.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { isPrivateAddress } from '../../lib/http/private-address.ts'

/** What is wrong with a whole identity provider; undefined when nothing is, or when nothing is known of its type. */
export function providerProblem(provider: Representation, sslRequired: Json | undefined): string | undefined {
  const type = identityProviderTypes[String(provider.providerId)]
  if (!type) return undefined
  const config = (provider.config ?? {}) as Config
  for (const check of checks[type.settings]) {
    const problem = check(config, String(sslRequired))
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The issuer that no other enabled provider may claim too; undefined when this one claims none. */
export function claimedIssuer({ providerId, enabled, config }: Representation): string | undefined {
  const settings = identityProviderTypes[String(providerId)]?.settings
  const { issuer, ...flags } = (config ?? {}) as Config
  const claims = settings === 'kubernetes' || settings === 'jwtGrant' || (settings === 'oidc' && vouches(flags))
  return enabled !== false && claims ? issuer : undefined
}

type Config = Readonly<Record<string, string>>
type Check = (config: Config, sslRequired: string) => string | undefined

const address =
  (setting: string, label: string): Check =>
  (config, sslRequired) =>
    addressProblem(label, config[setting], sslRequired)
const needs =
  (setting: string, message: string): Check =>
  (config) =>
    config[setting] ? undefined : message

// Lists in the order in which the reference server looks.
const oauth: readonly Check[] = [
  address('authorizationUrl', 'authorization_url'),
  address('tokenUrl', 'token_url'),
  address('userInfoUrl', 'userinfo_url'),
  address('tokenIntrospectionUrl', 'tokenIntrospection_url'),
]

/** What a provider may do only with the keys of the other server: setting → what messages call it. */
const needingKeys: Config = {
  validateSignature: 'Validate signatures',
  jwtAuthorizationGrantEnabled: 'JWT Authorization Grant',
  supportsClientAssertions: 'Supports client assertions',
}

const GOOGLE = 'https://accounts.google.com'

const checks: Readonly<Record<IdentityProviderType['settings'], readonly Check[]>> = {
  oauth,
  oauth2: [...oauth, needs('userInfoUrl', 'User Info URL not provided')],
  oidc: [
    ...oauth,
    address('jwksUrl', 'jwks_url'),
    address('logoutUrl', 'logout_url'),
    ...Object.entries(needingKeys).map(([setting, name]) => keysFor(setting, name)),
    (config) => (vouches(config) ? needs('issuer', 'Issuer is required')(config, '') : undefined),
  ],
  google: [
    ({ issuer }) => (issuer === undefined || issuer === GOOGLE ? undefined : `The issuer url [${issuer}] is invalid`),
  ],
  saml: [
    address('singleLogoutServiceUrl', 'singleLogoutServiceUrl'),
    address('singleSignOnServiceUrl', 'singleSignOnServiceUrl'),
    address('metadataDescriptorUrl', 'metadataDescriptorUrl'),
    (config) =>
      isTrue(config.useMetadataDescriptorUrl)
        ? needs('metadataDescriptorUrl', 'useMetadataDescriptorUrl needs a non-empty URL for metadataDescriptorUrl')(
            config,
            '',
          )
        : undefined,
    address('artifactResolutionServiceUrl', 'artifactResolutionServiceUrl'),
  ],
  kubernetes: [address('issuer', 'Issuer')],
  jwtGrant: [address('jwksUrl', 'jwksUrl'), needs('issuer', 'Issuer is required'), address('issuer', 'Issuer')],
}

function keysFor(setting: string, name: string): Check {
  return (config) => {
    if (!isTrue(config[setting])) return undefined
    if (isTrue(config.useJwksUrl))
      return config.jwksUrl ? undefined : `JWKS URL is required when '${name}' enabled and 'Use JWKS URL' enabled`
    if (config.publicKeySignatureVerifier) return undefined
    return `The 'Validating public key' is required when '${name}' enabled and 'Use JWKS URL' disabled`
  }
}

/** Whether tokens of the other server stand for people or clients of the realm. */
function vouches(config: Config): boolean {
  return isTrue(config.jwtAuthorizationGrantEnabled) || isTrue(config.supportsClientAssertions)
}

function isTrue(text: string | undefined): boolean {
  return text?.toLowerCase() === 'true'
}

/** Keycloak: addresses are what java.net.URL reads, which looks at little more than scheme, host and port. */
function addressProblem(label: string, text: string | undefined, sslRequired: string): string | undefined {
  if (!text) return undefined
  const [, scheme = '', authority = ''] = /^\s*([a-z]+):(?:\/\/([^/?#]*))?/i.exec(text.trimEnd()) ?? []
  const [, host = '', port] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? []
  const known = /^(https?|ftp|file|jar|mailto|jrt|jmod)$/i.test(scheme)
  if (!known || /[\s{}|\\^<>"`]/.test(host) || !/^\d*$/.test(port ?? '')) return `The url [${label}] is malformed`
  if (!/^https?$/i.test(scheme)) return `Invalid protocol/scheme for url [${label}]`
  const open = sslRequired === 'none' || (sslRequired !== 'all' && isNear(host))
  return scheme.toLowerCase() === 'https' || open ? undefined : `The url [${label}] requires secure connections`
}

/** Names that no public server has: of one word, or under a domain that is set aside (RFC 6761, 6762, 8375). */
const nearName = /^[^.]+$|\.(localhost|test|local|internal|home\.arpa)$/i

/**
 * Whether a host is this machine or one of a private network. Keycloak: looks names up; here, what a document means must
 * not depend on where it is read, so that a name tells by itself.
 */
function isNear(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) === 0 ? nearName.test(bare) : isPrivateAddress(bare)
}
