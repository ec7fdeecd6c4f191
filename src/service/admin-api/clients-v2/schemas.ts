// The schemas of clients in the API of version 2.
import * as z from 'zod'
import type { Representation } from '../../../kinds/json.ts'
import { nameSchema } from '../../../kinds/json-schema.ts'
import { OIDC } from '../../../kinds/login-protocols.ts'
import { failure } from '../../context/errors.ts'

const text = (description: string) => z.string().nullish().describe(description)
const flag = (description: string) => z.boolean().nullish().describe(description)
const texts = (description: string) => z.array(z.string()).nullish().describe(description)
const choice = <const V extends readonly [string, ...string[]]>(values: V, description: string) =>
  z.enum(values).nullish().describe(description)
/** Keycloak: values of the server are accepted and ignored. */
const timestamp = (description: string) => z.number().nullish().describe(description)

const common = {
  uuid: text('Id of the client, which the server generates.'),
  clientId: text('Client id, which identifies the client in the API.'),
  displayName: text('Display name of the client.'),
  description: text('Description of the client.'),
  enabled: flag('Whether the client is enabled. Default: false.'),
  appUrl: text('Home page of the client.'),
  redirectUris: texts('Valid redirect URIs after a login. A * at the end is a wildcard.'),
  roles: texts('Names of the roles of the client. Others are deleted.'),
  protocol: text('Protocol of the client: openid-connect or saml. It cannot be changed.'),
  createdTimestamp: timestamp('Time of creation, in milliseconds since 1970, as far as the journal reaches back.'),
  updatedTimestamp: timestamp('Time of the last change, in milliseconds since 1970.'),
}

const auth = nameSchema(
  'Auth',
  z.strictObject({
    method: text('Client authenticator, such as client-secret or client-jwt.'),
    secret: text('Secret of the client, generated if none is given. Only callers who may change the client see it.'),
    certificate: text('Certificate of the client for signed assertions.'),
  }),
)

/** The client of OpenID Connect in version 2. */
export const oidcClient = nameSchema(
  'OIDCClientRepresentation',
  z.strictObject({
    ...common,
    loginFlows: z
      .array(z.enum(['STANDARD', 'IMPLICIT', 'DIRECT_GRANT', 'SERVICE_ACCOUNT', 'TOKEN_EXCHANGE', 'DEVICE', 'CIBA']))
      .nullish()
      .describe('Enabled flows. TOKEN_EXCHANGE, DEVICE and CIBA are accepted and ignored, as in Keycloak.'),
    auth: auth.nullish().describe('Authentication of the client. Absent: the client is public.'),
    webOrigins: texts('Allowed CORS origins. +: the origins of the redirect URIs.'),
    serviceAccountRoles: texts('Names of the roles of the service account: of the client, or of the realm.'),
  }),
)

/** The SAML client in version 2. Settings that are absent keep their values. */
export const samlClient = nameSchema(
  'SAMLClientRepresentation',
  z.strictObject({
    ...common,
    nameIdFormat: choice(['username', 'email', 'persistent', 'transient'], 'Format of the name id.'),
    forceNameIdFormat: flag('Whether the format of the name id applies even if a request asks for another.'),
    includeAuthnStatement: flag('Whether responses contain an AuthnStatement.'),
    signDocuments: flag('Whether the server signs documents.'),
    signAssertions: flag('Whether the server signs assertions.'),
    clientSignatureRequired: flag('Whether the client must sign its requests.'),
    forcePostBinding: flag('Whether responses always use the POST binding.'),
    frontChannelLogout: flag('Whether the client is logged out through the browser. Default: false.'),
    signatureAlgorithm: choice(
      ['RSA_SHA1', 'RSA_SHA256', 'RSA_SHA256_MGF1', 'RSA_SHA512', 'RSA_SHA512_MGF1', 'DSA_SHA1'],
      'Algorithm of signatures.',
    ),
    signatureCanonicalizationMethod: text('URI of the canonicalization method of signatures.'),
    signingCertificate: text('Certificate with which the client signs, in Base64.'),
    allowEcpFlow: flag('Whether the ECP flow is allowed.'),
  }),
)

/** The schemas of clients by their protocol. */
const schemas: Readonly<Record<string, z.ZodObject>> = { [OIDC]: oidcClient, saml: samlClient }

/** The names of all fields of clients. */
export const clientFields: ReadonlySet<string> = new Set(
  Object.values(schemas).flatMap(({ shape }) => Object.keys(shape)),
)

/** The names of fields that filters may contain. */
export const filterFields: ReadonlySet<string> = new Set([...clientFields, 'auth.method'])

/** Parses a client of the protocol that it declares. @throws invalid */
export function parseClient(body: Representation): Representation {
  const { protocol = null } = body
  if (protocol === null) throw refuse('protocol is required')
  const schema = typeof protocol === 'string' && Object.hasOwn(schemas, protocol) ? schemas[protocol]! : undefined
  if (!schema) throw refuse(`Mapper not found, unsupported client protocol: ${protocol}`)
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(schema.shape, name))
  if (unknown.length) throw refuse(`Payload contains unknown fields: [${unknown.join(', ')}]`)
  const { success, error } = schema.safeParse(body)
  if (success) return body
  const isSamlChoice = schema === samlClient && error.issues[0]!.code === 'invalid_value'
  throw failure('invalid', 'Cannot parse the JSON', {
    form: { error: isSamlChoice ? 'HTTP 400 Bad Request' : 'unknown_error' },
  })
}

const refuse = (message: string) => failure('invalid', message, { form: 'error' })
