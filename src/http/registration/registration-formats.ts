// The formats of clients in client registration. Keycloak: ClientRegistrationProvider.
import { kinds } from '../../kinds/index.ts'
import { type Representation, readObject } from '../../kinds/json.ts'
import type { IssuedClient } from '../../oidc/registration/client-registration.ts'
import { toClientMetadata } from '../../service/clients/client-metadata-response.ts'
import { registrationMetadata } from '../../service/clients/openid-client-metadata.ts'
import { readMetadata } from '../../service/registration/registration-metadata.ts'
import { parseClientMetadata } from '../../service/registration/saml-client-metadata.ts'
import { type BodyForm, objectBody, readBody } from '../body.ts'

/** A response: the client, its token, and its address. */
export interface ResponseParts extends IssuedClient {
  readonly address: string
  /** The time of the registration, in seconds since 1970. Absent: the client exists. */
  readonly issuedAt?: number
}

/** A format of clients. */
export interface RegistrationFormat {
  readonly mediaType: 'application/json' | 'application/xml'
  /** Returns the client that a body declares. Throws HttpError 400, invalid. */
  readonly parse: (bytes: Buffer | undefined) => Promise<Representation>
  /** Returns the fields that the body of an update declares, given the client before it. Absent: clients can only be registered. */
  readonly parseUpdate?: (bytes: Buffer | undefined) => (live: Representation) => Representation
  readonly render: (parts: ResponseParts) => Representation
  /** Scripts of the origins in the token may send requests. */
  readonly allowsScripts?: true
}

const clientBody = objectBody(kinds.client)
const metadataBody = {
  schema: registrationMetadata,
  description: 'The client metadata.',
  representation: 'OIDCClientRepresentation',
} satisfies BodyForm

const readClient = (bytes: Buffer | undefined): Representation =>
  readObject(JSON.parse(JSON.stringify(readBody(bytes, clientBody) ?? null)))
const readOpenId = (bytes: Buffer | undefined) => registrationMetadata.parse(readBody(bytes, metadataBody))

/** Keycloak: the field `defaultRoles` is always there, and empty. */
const renderClient = ({ client, token }: ResponseParts): Representation => ({
  ...client,
  defaultRoles: [],
  ...(token !== undefined && { registrationAccessToken: token }),
})

const renderMetadata = ({ client, token, address, issuedAt }: ResponseParts): Representation => ({
  ...toClientMetadata(client),
  ...(issuedAt !== undefined && { client_id_issued_at: issuedAt }),
  registration_client_uri: address,
  ...(token !== undefined && { registration_access_token: token }),
})

/** The formats, by the last part of the endpoint's address. */
export const registrationFormats: Readonly<Record<string, RegistrationFormat>> = {
  default: {
    mediaType: 'application/json',
    parse: async (bytes) => readClient(bytes),
    parseUpdate: (bytes) => {
      const client = readClient(bytes)
      return () => client
    },
    render: renderClient,
  },
  'openid-connect': {
    mediaType: 'application/json',
    parse: async (bytes) => readMetadata(readOpenId(bytes)),
    parseUpdate: (bytes) => {
      const metadata = readOpenId(bytes)
      return (live) => readMetadata(metadata, live)
    },
    render: renderMetadata,
    allowsScripts: true,
  },
  'saml2-entity-descriptor': {
    mediaType: 'application/xml',
    parse: (bytes) => parseClientMetadata(bytes?.toString('utf8') ?? ''),
    render: renderClient,
  },
}
