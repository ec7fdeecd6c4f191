// Checks of the config of identity providers. Keycloak: the messages are its own.
import { isIP } from 'node:net'
import { type IdentityProviderType, identityProviderTypes } from '../../kinds/identity-provider-types.ts'
import { type Json, type Representation, readFlag, readTextMap } from '../../kinds/json.ts'
import { isPrivateAddress } from '../../lib/http/private-address.ts'
import type { ObjectProblem } from '../context/errors.ts'

/** Returns the first problem of a complete identity provider; undefined if it has none or its type is unknown. */
export function findProviderProblem(
  provider: Representation,
  sslRequired: Json | undefined,
): ObjectProblem | undefined {
  const type = identityProviderTypes[String(provider.providerId)]
  if (!type) return undefined
  const config = readTextMap(provider.config)
  for (const { setting, findProblem } of checks[type.settings]) {
    const message = findProblem(config, String(sslRequired))
    if (message !== undefined) return { message, field: `config.${setting}` }
  }
  return undefined
}

/** Returns the issuer that no other enabled provider may use; undefined if this provider does not claim one. */
export function findClaimedIssuer({ providerId, enabled, config }: Representation): string | undefined {
  const settings = identityProviderTypes[String(providerId)]?.settings
  const providerConfig = readTextMap(config)
  const claimsIssuer =
    settings === 'kubernetes' || settings === 'jwtGrant' || (settings === 'oidc' && acceptsAssertions(providerConfig))
  return enabled !== false && claimsIssuer ? providerConfig.issuer : undefined
}

/** Returns the issuer whose assertions authenticate clients of the realm; undefined if the provider accepts none, or is disabled. */
export function findClientIssuer({ providerId, enabled, config }: Representation): string | undefined {
  const settings = identityProviderTypes[String(providerId)]?.settings
  const { issuer, supportsClientAssertions } = readTextMap(config)
  const acceptsClients = settings === 'kubernetes' || (settings === 'oidc' && readFlag(supportsClientAssertions))
  return enabled !== false && acceptsClients ? issuer : undefined
}

type IdentityProviderConfig = Readonly<Record<string, string>>
/** A check of a config, and the setting to correct. */
interface IdentityProviderCheck {
  readonly setting: string
  /** Returns the message of the problem; undefined if there is none. */
  readonly findProblem: (config: IdentityProviderConfig, sslRequired: string) => string | undefined
}

const url = (setting: string, label: string): IdentityProviderCheck => ({
  setting,
  findProblem: (config, sslRequired) => findUrlProblem(label, config[setting], sslRequired),
})
const needs = (
  setting: string,
  message: string,
  isNeeded: (config: IdentityProviderConfig) => boolean = () => true,
): IdentityProviderCheck => ({
  setting,
  findProblem: (config) => (!isNeeded(config) || config[setting] ? undefined : message),
})

// The checks, in the order in which Keycloak runs them.
const oauth: readonly IdentityProviderCheck[] = [
  url('authorizationUrl', 'authorization_url'),
  url('tokenUrl', 'token_url'),
  url('userInfoUrl', 'userinfo_url'),
  url('tokenIntrospectionUrl', 'tokenIntrospection_url'),
]

/** The features that need the keys of the other server, with their names in messages. */
const featuresWithKeys: IdentityProviderConfig = {
  validateSignature: 'Validate signatures',
  jwtAuthorizationGrantEnabled: 'JWT Authorization Grant',
  supportsClientAssertions: 'Supports client assertions',
}

const GOOGLE = 'https://accounts.google.com'

const checks: Readonly<Record<IdentityProviderType['settings'], readonly IdentityProviderCheck[]>> = {
  oauth,
  oauth2: [...oauth, needs('userInfoUrl', 'User Info URL not provided')],
  oidc: [
    ...oauth,
    url('jwksUrl', 'jwks_url'),
    url('logoutUrl', 'logout_url'),
    ...Object.entries(featuresWithKeys).flatMap(([feature, name]) => needsKeys(feature, name)),
    needs('issuer', 'Issuer is required', acceptsAssertions),
  ],
  google: [
    {
      setting: 'issuer',
      findProblem: ({ issuer }) =>
        issuer === undefined || issuer === GOOGLE ? undefined : `The issuer url [${issuer}] is invalid`,
    },
  ],
  saml: [
    url('singleLogoutServiceUrl', 'singleLogoutServiceUrl'),
    url('singleSignOnServiceUrl', 'singleSignOnServiceUrl'),
    url('metadataDescriptorUrl', 'metadataDescriptorUrl'),
    needs(
      'metadataDescriptorUrl',
      'useMetadataDescriptorUrl needs a non-empty URL for metadataDescriptorUrl',
      ({ useMetadataDescriptorUrl }) => readFlag(useMetadataDescriptorUrl),
    ),
    url('artifactResolutionServiceUrl', 'artifactResolutionServiceUrl'),
  ],
  kubernetes: [url('issuer', 'Issuer')],
  jwtGrant: [url('jwksUrl', 'jwksUrl'), needs('issuer', 'Issuer is required'), url('issuer', 'Issuer')],
}

function needsKeys(feature: string, name: string): IdentityProviderCheck[] {
  const usesUrl = (config: IdentityProviderConfig) => readFlag(config.useJwksUrl)
  const isOn = (config: IdentityProviderConfig) => readFlag(config[feature])
  return [
    needs(
      'jwksUrl',
      `JWKS URL is required when '${name}' enabled and 'Use JWKS URL' enabled`,
      (config) => isOn(config) && usesUrl(config),
    ),
    needs(
      'publicKeySignatureVerifier',
      `The 'Validating public key' is required when '${name}' enabled and 'Use JWKS URL' disabled`,
      (config) => isOn(config) && !usesUrl(config),
    ),
  ]
}

/** Whether the realm accepts assertions of the other server for its users or clients. */
function acceptsAssertions(config: IdentityProviderConfig): boolean {
  return readFlag(config.jwtAuthorizationGrantEnabled) || readFlag(config.supportsClientAssertions)
}

/** Keycloak: a URL is what java.net.URL parses, which checks little more than scheme, host and port. */
function findUrlProblem(label: string, text: string | undefined, sslRequired: string): string | undefined {
  if (!text) return undefined
  const [, scheme = '', authority = ''] = /^\s*([a-z]+):(?:\/\/([^/?#]*))?/i.exec(text.trimEnd()) ?? []
  const [, host = '', port] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? []
  const isKnownScheme = /^(https?|ftp|file|jar|mailto|jrt|jmod)$/i.test(scheme)
  if (!isKnownScheme || /[\s{}|\\^<>"`]/.test(host) || !/^\d*$/.test(port ?? ''))
    return `The url [${label}] is malformed`
  if (!/^https?$/i.test(scheme)) return `Invalid protocol/scheme for url [${label}]`
  const allowsHttp = sslRequired === 'none' || (sslRequired !== 'all' && isPrivateHost(host))
  return scheme.toLowerCase() === 'https' || allowsHttp ? undefined : `The url [${label}] requires secure connections`
}

/** Names that no public server has: single labels, and names in reserved domains (RFC 6761, 6762, 8375). */
const privateName = /^[^.]+$|\.(localhost|test|local|internal|home\.arpa)$/i

/**
 * Whether a host is this machine or in a private network. Keycloak: it resolves names. Regent decides by the name alone,
 * because the meaning of a document must not depend on where it is read.
 */
function isPrivateHost(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  return isIP(address) === 0 ? privateName.test(address) : isPrivateAddress(address)
}
