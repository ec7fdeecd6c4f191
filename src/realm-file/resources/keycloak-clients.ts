// `KeycloakOIDCClient` and `KeycloakSAMLClient`, the resources of Keycloak's operator for clients. Pure.
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readPath,
  readText,
  readTexts,
} from '../../kinds/json.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { type Document, deriveDocument } from '../yaml/document.ts'
import type { DocumentWarning } from '../yaml/problem.ts'
import { createResourceError } from './resource-documents.ts'

/** The kinds of clients of Keycloak's operator, with their protocols. */
const PROTOCOLS: Readonly<Record<string, string>> = { KeycloakOIDCClient: 'openid-connect', KeycloakSAMLClient: 'saml' }

/** The kinds of clients of Keycloak's operator. */
export const KEYCLOAK_CLIENTS: readonly string[] = Object.keys(PROTOCOLS)

/** Keycloak: the fields of `client` by the field of a client with the same meaning. */
const COMMON_FIELDS = {
  displayName: 'name',
  description: 'description',
  enabled: 'enabled',
  appUrl: 'baseUrl',
  redirectUris: 'redirectUris',
} as const

/** Keycloak: the fields of `client` by the attribute with the same meaning. */
const SAML_ATTRIBUTES = {
  nameIdFormat: 'saml_name_id_format',
  forceNameIdFormat: 'saml_force_name_id_format',
  includeAuthnStatement: 'saml.authnstatement',
  signDocuments: 'saml.server.signature',
  signAssertions: 'saml.assertion.signature',
  clientSignatureRequired: 'saml.client.signature',
  forcePostBinding: 'saml.force.post.binding',
  signatureAlgorithm: 'saml.signature.algorithm',
  signatureCanonicalizationMethod: 'saml_signature_canonicalization_method',
  signingCertificate: 'saml.signing.certificate',
  allowEcpFlow: 'saml.allow.ecp.flow',
} as const

/** Keycloak: the fields of a client by the login flow that they enable. Other login flows have no effect. */
const LOGIN_FLOW_FIELDS: Readonly<Record<string, string>> = {
  STANDARD: 'standardFlowEnabled',
  IMPLICIT: 'implicitFlowEnabled',
  DIRECT_GRANT: 'directAccessGrantsEnabled',
  SERVICE_ACCOUNT: 'serviceAccountsEnabled',
}

/** Whether a document is a client of Keycloak's operator, of any version. */
export function isKeycloakClient({ apiVersion, kind }: Representation): boolean {
  return String(apiVersion).startsWith('k8s.keycloak.org/') && KEYCLOAK_CLIENTS.includes(String(kind))
}

/** A part of a realm, with the path in the resource of each of its parts. */
interface ConvertedPart {
  readonly path: DocumentPath
  readonly original: DocumentPath
}

/**
 * Returns a realm that contains only the client of a resource, with its roles and its service account. Reports fields without effect.
 * @throws DocumentError for a field that Regent does not know, or that is invalid
 */
export function unwrapKeycloakClient(document: Document, report: (warning: DocumentWarning) => void): Document {
  const { kind, metadata, spec } = readObject(document.value)
  const { realm, client } = readObject(spec)
  const clientId = readText(readObject(metadata).name)
  if (typeof realm !== 'string' || clientId === undefined || !isObject(client)) {
    const field = typeof realm === 'string' ? 'client' : 'realm'
    throw createResourceError(document, ['spec', field], `${String(kind)}: spec.${field} is missing`)
  }
  const converter = new ClientConverter(document, client, report)
  const value = converter.convert({ realm, clientId, protocol: PROTOCOLS[String(kind)]! })
  return Object.assign(
    deriveDocument(document, value, (path) => converter.toOriginalPath(path)),
    {
      objectPaths: [['clients'], ['roles'], ['users']],
    },
  )
}

/** Converts one client. Each field is read once: the rest is unknown. */
class ClientConverter {
  readonly #document: Document
  readonly #client: Representation
  readonly #fields: Representation = {}
  readonly #parts: ConvertedPart[] = []
  readonly #read = new Set<string>()
  readonly #report: (warning: DocumentWarning) => void

  constructor(document: Document, client: Representation, report: (warning: DocumentWarning) => void) {
    this.#document = document
    this.#report = report
    this.#client = client
  }

  /** Returns the realm with the client. */
  convert({
    realm,
    clientId,
    protocol,
  }: {
    readonly realm: string
    readonly clientId: string
    readonly protocol: string
  }) {
    // Keycloak: a client without `enabled` is disabled, and none has the full scope.
    Object.assign(this.#fields, { enabled: false, fullScopeAllowed: false })
    for (const [field, target] of Object.entries(COMMON_FIELDS)) this.#copy(field, [target])
    const accountRoles = protocol === 'saml' ? this.#convertSaml() : this.#convertOpenIdConnect()
    const roles = readTexts(this.#take('roles'))
    const unknown = Object.keys(this.#client).find((field) => !this.#read.has(field))
    if (unknown !== undefined) throw this.#createError([unknown], `unknown field ${unknown}`)
    this.#parts.push({ path: ['roles'], original: ['roles'] }, { path: ['users'], original: ['serviceAccountRoles'] })
    const [ownRoles, realmRoles] = [roles, accountRoles.filter((role) => !roles.includes(role))]
    const grantedOwnRoles = accountRoles.filter((role) => roles.includes(role))
    return {
      realm,
      clients: [{ clientId, protocol, ...this.#fields }],
      ...(ownRoles.length && { roles: { client: { [clientId]: ownRoles.map((name) => ({ name })) } } }),
      ...(accountRoles.length && {
        users: [
          {
            ...{ username: SERVICE_ACCOUNT_PREFIX + clientId.toLowerCase(), serviceAccountClientId: clientId },
            ...(realmRoles.length && { realmRoles }),
            ...(grantedOwnRoles.length && { clientRoles: { [clientId]: grantedOwnRoles } }),
          },
        ],
      }),
    } satisfies Representation
  }

  /** Returns the path in the resource of a path in the realm. */
  toOriginalPath(path: DocumentPath): DocumentPath {
    if (path[0] === 'realm') return ['spec', 'realm']
    const isIn = (part: ConvertedPart) => part.path.every((step, at) => path[at] === step)
    const part = this.#parts.find(isIn)
    if (path.length > 2 && path[2] === 'clientId') return ['metadata', 'name']
    return part ? ['spec', 'client', ...part.original, ...path.slice(part.path.length)] : ['spec', 'client']
  }

  #convertOpenIdConnect(): string[] {
    this.#copy('webOrigins', ['webOrigins'])
    const flows = readTexts(this.#take('loginFlows'))
    for (const [at, flow] of flows.entries()) {
      if (flow in LOGIN_FLOW_FIELDS) continue
      const position = this.#document.locate(['spec', 'client', 'loginFlows', at])
      this.#report({ position, message: `The login flow ${flow} has no effect, neither in Keycloak nor in Regent.` })
    }
    for (const [flow, field] of Object.entries(LOGIN_FLOW_FIELDS))
      this.#set([field], flows.includes(flow), ['loginFlows'])
    const auth = this.#take('auth')
    this.#set(['publicClient'], !isObject(auth), ['auth'])
    if (isObject(auth)) this.#convertAuthentication(auth)
    return [...readTexts(this.#take('serviceAccountRoles'))]
  }

  #convertAuthentication({ method, secret, secretRef, certificate, ...rest }: Representation): void {
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw this.#createError(['auth', unknown], `unknown field ${unknown}`)
    if (method !== undefined) this.#set(['clientAuthenticatorType'], method, ['auth', 'method'])
    if (certificate !== undefined)
      this.#set(['attributes', 'jwt.credential.certificate'], certificate, ['auth', 'certificate'])
    const declared = secret === undefined ? secretRef : secret
    if (declared === undefined) return
    if (isObject(declared)) {
      const message = 'a reference to a Secret can only be read in Kubernetes. Declare secret: $(env:NAME).'
      throw this.#createError(['auth', 'secretRef'], message)
    }
    this.#set(['secret'], declared, ['auth', secret === undefined ? 'secretRef' : 'secret'])
  }

  #convertSaml(): string[] {
    for (const [field, attribute] of Object.entries(SAML_ATTRIBUTES)) {
      const value = this.#take(field)
      if (value !== undefined) this.#set(['attributes', attribute], String(value), [field])
    }
    this.#copy('frontChannelLogout', ['frontchannelLogout'])
    return []
  }

  #copy(field: string, target: DocumentPath): void {
    const value = this.#take(field)
    if (value !== undefined) this.#set(target, value, [field])
  }

  #take(field: string): Json | undefined {
    this.#read.add(field)
    return this.#client[field]
  }

  #set(target: DocumentPath, value: Json, original: DocumentPath): void {
    const parent = target.length > 1 ? readObject(readPath(this.#fields, target.slice(0, -1))) : this.#fields
    parent[String(target.at(-1))] = isList(value) ? [...value] : value
    if (target.length > 1) this.#fields[String(target[0])] = parent
    this.#parts.push({ path: ['clients', 0, ...target], original })
  }

  #createError(path: DocumentPath, message: string): Error {
    const { kind } = readObject(this.#document.value)
    return createResourceError(this.#document, ['spec', 'client', ...path], `${String(kind)}: ${message}`)
  }
}
