// Clients in the API of version 2: its representations, and those of version 1. Pure.
import { type Json, type Representation, readObject, readTexts } from '../../../kinds/json.ts'
import { OIDC } from '../../../kinds/login-protocols.ts'
import { MASK } from '../../../kinds/mask.ts'

/** The login flows of version 2 that have a field in version 1. Keycloak: it accepts others, and does not store them. */
const flowFields = {
  STANDARD: 'standardFlowEnabled',
  IMPLICIT: 'implicitFlowEnabled',
  DIRECT_GRANT: 'directAccessGrantsEnabled',
  SERVICE_ACCOUNT: 'serviceAccountsEnabled',
} as const

/** The texts of SAML clients, and their attributes. */
const samlTexts = {
  nameIdFormat: 'saml_name_id_format',
  signatureAlgorithm: 'saml.signature.algorithm',
  signatureCanonicalizationMethod: 'saml_signature_canonicalization_method',
  signingCertificate: 'saml.signing.certificate',
} as const
/** The flags of SAML clients, and their attributes. */
const samlFlags = {
  forceNameIdFormat: 'saml_force_name_id_format',
  includeAuthnStatement: 'saml.authnstatement',
  signDocuments: 'saml.server.signature',
  signAssertions: 'saml.assertion.signature',
  clientSignatureRequired: 'saml.client.signature',
  forcePostBinding: 'saml.force.post.binding',
  allowEcpFlow: 'saml.allow.ecp.flow',
} as const

/** The parts of a representation that are no fields of the client. */
export interface ClientParts {
  /** Names of the roles of the client. */
  readonly roles: readonly string[]
  /** Names of the roles of its service account. */
  readonly accountRoles: readonly string[]
  readonly created: Date
  readonly updated: Date
}

/** Returns the representation in version 2 of a client in version 1, as the caller may see it. Empty members are left out. */
export function toVersion2(client: Representation, parts: ClientParts): Representation {
  const { protocol = OIDC } = client
  const common = {
    uuid: client.id,
    clientId: client.clientId,
    displayName: client.name,
    description: client.description,
    enabled: client.enabled,
    appUrl: client.baseUrl,
    redirectUris: readTexts(client.redirectUris),
    roles: parts.roles,
    protocol,
    createdTimestamp: parts.created.getTime(),
    updatedTimestamp: parts.updated.getTime(),
  }
  return omitEmpty({ ...common, ...(protocol === OIDC ? toOidcFields(client, parts) : toSamlFields(client)) })
}

function toOidcFields(client: Representation, { accountRoles }: ClientParts): Members {
  const { secret, clientAuthenticatorType: method } = client
  const certificate = readObject(client.attributes)['jwt.credential.certificate']
  const auth = omitEmpty({
    method,
    secret: secret === MASK ? undefined : secret,
    certificate: method === 'client-jwt' ? certificate : undefined,
  })
  return {
    loginFlows: Object.entries(flowFields).flatMap(([flow, field]) => (client[field] === true ? [flow] : [])),
    ...(client.publicClient !== true && { auth }),
    webOrigins: readTexts(client.webOrigins),
    serviceAccountRoles: accountRoles,
  }
}

function toSamlFields({ attributes, frontchannelLogout }: Representation): Members {
  const values = readObject(attributes)
  const read = (names: Readonly<Record<string, string>>, convert: (value: Json) => Json) =>
    Object.entries(names).map(([field, attribute]) => [
      field,
      (values[attribute] ?? null) === null ? undefined : convert(values[attribute]!),
    ])
  return {
    ...Object.fromEntries([...read(samlTexts, (value) => value), ...read(samlFlags, (value) => value === 'true')]),
    frontChannelLogout: frontchannelLogout,
  }
}

/** Members of a representation, of which some may be absent. */
type Members = Readonly<Record<string, Json | undefined>>

function omitEmpty(members: Members): Representation {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      value === undefined || value === null || (Array.isArray(value) && !value.length) ? [] : [[name, value]],
    ),
  )
}

/** Returns the client in version 1 that a complete representation in version 2 declares. A value that is null has to be removed. */
export function toVersion1(client: Representation): Representation {
  const { clientId, displayName, description, enabled, appUrl, redirectUris, protocol } = client
  return {
    clientId: clientId ?? null,
    protocol: protocol ?? null,
    name: displayName ?? null,
    description: description ?? null,
    enabled: enabled === true,
    baseUrl: appUrl ?? null,
    redirectUris: [...new Set(readTexts(redirectUris))],
    ...(protocol === OIDC ? fromOidcFields(client) : fromSamlFields(client)),
  }
}

function fromOidcFields({ loginFlows, webOrigins, auth }: Representation): Representation {
  const flows = new Set(readTexts(loginFlows))
  const { method = null, secret = null, certificate = null } = readObject(auth)
  return {
    ...Object.fromEntries(Object.entries(flowFields).map(([flow, field]) => [field, flows.has(flow)])),
    webOrigins: [...new Set(readTexts(webOrigins))],
    publicClient: (auth ?? null) === null,
    ...(method !== null && { clientAuthenticatorType: method }),
    ...(secret !== null && { secret }),
    ...(certificate !== null && { attributes: { 'jwt.credential.certificate': certificate } }),
  }
}

/** Keycloak: a setting of SAML that is absent is kept. */
function fromSamlFields(client: Representation): Representation {
  const entries = Object.entries({ ...samlTexts, ...samlFlags }).flatMap(([field, attribute]) => {
    const value = client[field] ?? null
    return value === null ? [] : [[attribute, String(value)]]
  })
  return {
    frontchannelLogout: client.frontChannelLogout === true,
    ...(entries.length && { attributes: Object.fromEntries(entries) }),
  }
}
