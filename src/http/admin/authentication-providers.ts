import * as z from 'zod'
import {
  describePerClient,
  describeProvider,
  listProviders,
  getListPermission,
} from '../../service/admin-api/authentication/authentication-providers.ts'
import { reading } from '../handlers.ts'
import { type Operation, param, tagged, type Untagged } from '../operation.ts'
import { property } from '../property.ts'
import { components, refusals } from '../responses.ts'

const provider = z.object({
  id: z.string().describe('Id of the provider.'),
  displayName: z.string().describe('Name of the provider as people see it.'),
  description: z.string().describe('What the provider does.'),
  supportsSecret: z.boolean().optional().describe('Of a client authenticator: whether the client has a secret then.'),
})

const configInfo = z
  .object({
    name: z.string().describe('Name of the provider as people see it.'),
    providerId: z.string().describe('Id of the provider.'),
    helpText: z.string().describe('What the provider does.'),
    properties: z.array(property).describe('Its settings.'),
  })
  .describe('A provider and its settings.')
  .register(components, { id: 'AuthenticatorConfigInfoRepresentation' })

type Group = Parameters<typeof listProviders>[1]

const list = (group: Group, described: Pick<Operation, 'operationId' | 'path' | 'summary'>): Untagged => ({
  ...described,
  method: 'GET',
  permission: getListPermission(group),
  responses: { 200: { description: 'The providers.', schema: z.array(provider) }, ...refusals },
  handle: reading(async (context) => listProviders(context, group)),
})

/** The providers that authentication is made of. */
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
    responses: { 200: { description: 'The provider and its settings.', schema: configInfo }, ...refusals },
    handle: reading(async (context, call) => describeProvider(context, param(call, 'providerId'))),
  },
  {
    operationId: 'getPerClientConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/per-client-config-description',
    summary: 'Get the configuration description of client authenticators',
    permission: getListPermission('clientAuthenticators'),
    responses: {
      200: { description: 'Settings by client authenticator.', schema: z.record(z.string(), z.array(property)) },
      ...refusals,
    },
    handle: reading(async (context) => describePerClient(context)),
  },
])
