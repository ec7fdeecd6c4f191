import * as z from 'zod'
import { namedSchemas } from '../../kinds/json-schema.ts'
import {
  describePerClient,
  describeProvider,
  getListPermission,
  listProviders,
} from '../../service/admin-api/authentication/authentication-providers.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged, type UntaggedOperation } from '../operation.ts'
import { propertySchema } from '../property.ts'
import { errorResponses } from '../responses.ts'

const provider = z.object({
  id: z.string().describe('Id of the provider.'),
  displayName: z.string().describe('Display name of the provider.'),
  description: z.string().describe('Help text.'),
  supportsSecret: z.boolean().optional().describe('Whether clients with this client authenticator have a secret.'),
})

const configInfo = z
  .object({
    name: z.string().describe('Display name of the provider.'),
    providerId: z.string().describe('Id of the provider.'),
    helpText: z.string().describe('Help text.'),
    properties: z.array(propertySchema).describe('Settings of the provider.'),
  })
  .describe('A provider and its settings.')
  .register(namedSchemas, { id: 'AuthenticatorConfigInfoRepresentation' })

type Group = Parameters<typeof listProviders>[1]

const list = (group: Group, described: Pick<Operation, 'operationId' | 'path' | 'summary'>): UntaggedOperation => ({
  ...described,
  method: 'GET',
  permission: getListPermission(group),
  responses: { 200: { description: 'The providers.', schema: z.array(provider) }, ...errorResponses },
  handle: readHandler(async (context) => listProviders(context, group)),
})

/** The operations on providers of authentication. */
export const authenticationProviderOperations: Operation[] = tagged('Authentication Management', [
  list('authenticators', {
    operationId: 'listAuthenticatorProviders',
    path: '/admin/realms/{realm}/authentication/authenticator-providers',
    summary: 'List the authenticator providers',
  }),
  list('clientAuthenticators', {
    operationId: 'listClientAuthenticatorProviders',
    path: '/admin/realms/{realm}/authentication/client-authenticator-providers',
    summary: 'List the client authenticator providers',
  }),
  list('formActions', {
    operationId: 'listFormActionProviders',
    path: '/admin/realms/{realm}/authentication/form-action-providers',
    summary: 'List the form action providers',
  }),
  list('forms', {
    operationId: 'listFormProviders',
    path: '/admin/realms/{realm}/authentication/form-providers',
    summary: 'List the form providers',
  }),
  {
    operationId: 'getAuthenticatorConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/config-description/{providerId}',
    summary: 'Get the configuration description of an authenticator provider',
    permission: 'view-realm',
    responses: { 200: { description: 'The provider and its settings.', schema: configInfo }, ...errorResponses },
    handle: readHandler(async (context, call) => describeProvider(context, getParameter(call, 'providerId'))),
  },
  {
    operationId: 'getPerClientConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/per-client-config-description',
    summary: 'Get the configuration description of client authenticators',
    permission: getListPermission('clientAuthenticators'),
    responses: {
      200: { description: 'Settings by client authenticator.', schema: z.record(z.string(), z.array(propertySchema)) },
      ...errorResponses,
    },
    handle: readHandler(async (context) => describePerClient(context)),
  },
])
