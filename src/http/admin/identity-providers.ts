import * as z from 'zod'
import { nameSchema } from '../../kinds/json-schema.ts'
import { getIssuer } from '../../oidc/oidc-realm.ts'
import { listRealmKeys } from '../../oidc/realm-keys.ts'
import {
  findJwksUrl,
  getMetadataSettings,
  hasKeys,
} from '../../service/admin-api/identity-providers/identity-provider-import.ts'
import { identityProviderMappers } from '../../service/admin-api/identity-providers/identity-provider-mappers.ts'
import {
  getProviderType,
  identityProviders,
  listMapperTypes,
} from '../../service/admin-api/identity-providers/identity-providers.ts'
import type { Context } from '../../service/context/context.ts'
import {
  renderServiceProviderMetadata,
  type ServiceProviderMetadata,
} from '../../service/login/saml-service-provider-metadata.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { HttpError } from '../errors.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { propertySchema, toProperty } from '../property.ts'
import { page, queryFlag } from '../query.ts'
import { errorResponses, errorSchema } from '../responses.ts'
import { collection } from '../shapes/collection.ts'
import { fileOperations } from './identity-provider-files.ts'

const view = 'view-identity-providers'
const manage = 'manage-identity-providers'

const INSTANCES = '/admin/realms/{realm}/identity-provider/instances'

const query = z.object({
  search: z.string().optional().describe('Start of the alias or name; `*` matches any text, and quotes an exact name.'),
  briefRepresentation: queryFlag.describe('Whether to return only the basic fields, without `config`. Default: false.'),
  realmOnly: queryFlag.describe('Whether to leave out identity providers of organizations. Default: false.'),
  type: z.string().optional().describe('Only identity providers of this type, such as USER_AUTHENTICATION.'),
  capability: z.string().optional().describe('Only identity providers with this capability, such as USER_LINKING.'),
  ...page,
})

const mapperType = nameSchema(
  'IdentityProviderMapperTypeRepresentation',
  z.object({
    id: z.string().describe('Type of the mapper.'),
    name: z.string().describe('Display name of the type.'),
    category: z.string().describe('Heading under which the admin console lists the type.'),
    helpText: z.string().describe('Help text.'),
    properties: z.array(propertySchema).describe('Settings of the mapper.'),
  }),
)
const providerType = z.object({
  id: z.string().describe('Type of the provider.'),
  name: z.string().describe('Display name of the type.'),
  helpText: z.string().describe('Keycloak: always empty.'),
  configProperties: z.array(propertySchema).describe('Settings of this type only.'),
  configMetadata: z.array(propertySchema).describe('Keycloak: always empty.'),
})
/** The operations on identity providers and their mappers. */
export const identityProviderOperations: Operation[] = tagged('Identity Providers', [
  ...Object.values(collection(identityProviders, { path: INSTANCES, item: '{alias}', query })),
  ...fileOperations,
  {
    operationId: 'getIdentityProviderType',
    method: 'GET',
    path: '/admin/realms/{realm}/identity-provider/providers/{provider_id}',
    summary: 'Get an identity provider factory',
    permission: view,
    responses: { 200: { description: 'The type.', schema: providerType }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const id = getParameter(call, 'provider_id')
      const { name, properties = [] } = getProviderType(context, id)
      return { name, id, configProperties: properties.map(toProperty), helpText: '', configMetadata: [] }
    }),
  },
  {
    operationId: 'exportIdentityProvider',
    method: 'GET',
    path: '/admin/realms/{realm}/identity-provider/instances/{alias}/export',
    summary: 'Export the broker configuration of an identity provider, such as SAML metadata',
    permission: view,
    query: z.object({ format: z.string().optional().describe('Keycloak: without effect.') }),
    responses: {
      200: { description: 'The metadata of the realm for a SAML provider.', schema: z.string(), plain: true },
      204: { description: 'The other server needs nothing.' },
      ...errorResponses,
      501: { description: 'Metadata that are signed cannot be written yet.', schema: errorSchema },
    },
    async handle(call) {
      const look = (context: Context) => getMetadataSettings(context, getParameter(call, 'alias'))
      const { realm, metadata } = await call.service.read(call.caller, getParameter(call, 'realm'), look)
      if (!metadata) return { status: 204 }
      if (metadata.settings.signSpMetadata === 'true') {
        const error_description = 'Regent does not have this yet: signing SAML metadata'
        throw new HttpError(501, { error: 'not_implemented', error_description })
      }
      const keys = (await listRealmKeys(call.service, realm)).flatMap(metadataKey)
      const body = renderServiceProviderMetadata({
        ...metadata,
        issuer: getIssuer(call.base, realm),
        realm: realm.name,
        keys,
      })
      return { status: 200, body, type: 'application/xml' }
    },
  },
  {
    operationId: 'reloadIdentityProviderKeys',
    method: 'GET',
    path: '/admin/realms/{realm}/identity-provider/instances/{alias}/reload-keys',
    summary: 'Reload the keys of an identity provider',
    permission: manage,
    responses: { 200: { description: 'Whether keys were loaded.', schema: z.boolean() }, ...errorResponses },
    handle: async (call) => {
      const look = (context: Context) => findJwksUrl(context, getParameter(call, 'alias'))
      const address = await call.service.read(call.caller, getParameter(call, 'realm'), look)
      return { status: 200, body: address === undefined ? false : await hasKeys(call.service.outbound, address) }
    },
  },
  {
    operationId: 'listIdentityProviderMapperTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/identity-provider/instances/{alias}/mapper-types',
    summary: 'Get the mapper types of an identity provider',
    permission: view,
    responses: {
      200: { description: 'The types, by id.', schema: z.record(z.string(), mapperType) },
      ...errorResponses,
    },
    handle: readHandler(async (context, call) => {
      const types = Object.entries(await listMapperTypes(context, getParameter(call, 'alias')))
      return Object.fromEntries(
        types.map(([id, type]) => [id, { id, ...type, properties: type.properties.map(toProperty) }]),
      )
    }),
  },
  ...Object.values(collection(identityProviderMappers, { path: `${INSTANCES}/{alias}/mappers`, item: '{id}' })),
])

/** Returns a key in the form of SAML metadata. */
function metadataKey({ kid, status, use, algorithm, certificate }: RealmKey): ServiceProviderMetadata['keys'] {
  if (status === 'DISABLED' || !certificate || (use === 'sig' && algorithm !== 'RS256')) return []
  const text = certificate.raw.toString('base64')
  return [{ kid, use: use === 'sig' ? 'signing' : 'encryption', certificate: text }]
}
