// Client metadata that an application registers, converted to clients. OpenID Connect Dynamic Client Registration 1.0, section 2.
import { randomUUID } from 'node:crypto'
import type * as z from 'zod'
import { type Json, type Representation, readObjects } from '../../kinds/json.ts'
import { PAIRWISE_MAPPER } from '../clients/client-metadata-response.ts'
import { authenticators, type registrationMetadata, toClientRepresentation } from '../clients/openid-client-metadata.ts'
import { createMetadataError } from './registration-errors.ts'

/** The parts of response types. */
const RESPONSE_TYPES = ['code', 'none', 'id_token', 'token']

/** The types of subject identifiers. */
const SUBJECT_TYPES = ['public', 'pairwise']

/** Keycloak: the message for metadata that it cannot convert. */
const INVALID = 'Client metadata invalid'

/** The metadata of a registration. */
export type RegistrationMetadata = z.infer<typeof registrationMetadata>

/** Converts metadata to a client. `live`: the client before an update. Throws invalid. */
export function readMetadata(metadata: RegistrationMetadata, live?: Representation): Representation {
  const { client_id, token_endpoint_auth_method: method, response_types, subject_type, redirect_uris } = metadata
  if (!live && client_id != null) throw createMetadataError('Client Identifier included')
  if (method != null && !Object.hasOwn(authenticators, method)) throw createMetadataError(INVALID)
  if ((response_types ?? []).some((type) => !type.split(' ').every((part) => RESPONSE_TYPES.includes(part))))
    throw createMetadataError(INVALID)
  if (subject_type != null && !SUBJECT_TYPES.includes(subject_type))
    throw createMetadataError(`The subject type ${subject_type} is not supported.`)
  if (metadata.jwks && metadata.jwks_uri) throw createMetadataError(INVALID)
  // The document at this address would have to be fetched and compared with the redirect URIs.
  if (metadata.sector_identifier_uri) throw createMetadataError('sector_identifier_uri is not supported.')
  const client = toClientRepresentation({ ...metadata, redirect_uris: redirect_uris ?? [] })
  const mappers = changeSubjectType(readObjects(live?.protocolMappers), subject_type)
  return {
    ...client,
    // The client manages its resources by its service account.
    ...(client.authorizationServicesEnabled === true && { serviceAccountsEnabled: true }),
    ...(mappers && { protocolMappers: mappers }),
  }
}

/** Returns the protocol mappers of a client with another type of subject identifiers; undefined if nothing changes. */
function changeSubjectType(
  mappers: readonly Representation[],
  subjectType: string | null | undefined,
): Json[] | undefined {
  const remaining = mappers.filter(({ protocolMapper }) => protocolMapper !== PAIRWISE_MAPPER)
  const isPairwise = remaining.length < mappers.length
  if (subjectType == null || (subjectType === 'pairwise') === isPairwise) return undefined
  return subjectType === 'pairwise' ? [...remaining, createPairwiseMapper()] : remaining
}

const createPairwiseMapper = (): Representation => ({
  name: 'pairwise subject identifier',
  protocol: 'openid-connect',
  protocolMapper: PAIRWISE_MAPPER,
  config: { pairwiseSubAlgorithmSalt: randomUUID() },
})
