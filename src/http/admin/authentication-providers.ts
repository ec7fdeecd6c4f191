import * as z from 'zod'
import {
  describePerClient,
  describeProvider,
  listProviders,
  permissionOf,
} from '../../service/resources/authentication-providers.ts'
import { type Operation, param, reading, tagged, type Untagged } from '../operation.ts'
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

const list = (operationId: string, path: string, summary: string, group: Group): Untagged => ({
  operationId,
  method: 'GET',
  path,
  summary,
  permission: permissionOf(group),
  responses: { 200: { description: 'The providers.', schema: z.array(provider) }, ...refusals },
  handle: reading(async (context) => listProviders(context, group)),
})

/** The providers that authentication is made of. */
export const authenticationProviderOperations: Operation[] = tagged('Authentication Management', [
  list(
    'listAuthenticatorProviders',
    '/admin/realms/{realm}/authentication/authenticator-providers',
    'List the authenticators',
    'authenticators',
  ),
  list(
    'listClientAuthenticatorProviders',
    '/admin/realms/{realm}/authentication/client-authenticator-providers',
    'List the authenticators of clients',
    'clientAuthenticators',
  ),
  list(
    'listFormActionProviders',
    '/admin/realms/{realm}/authentication/form-action-providers',
    'List the steps of forms',
    'formActions',
  ),
  list('listFormProviders', '/admin/realms/{realm}/authentication/form-providers', 'List the forms', 'forms'),
  {
    operationId: 'getAuthenticatorConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/config-description/{providerId}',
    summary: 'Get the settings that a provider has',
    permission: 'view-realm',
    responses: { 200: { description: 'The provider and its settings.', schema: configInfo }, ...refusals },
    handle: reading(async (context, call) => describeProvider(context, param(call, 'providerId'))),
  },
  {
    operationId: 'getPerClientConfigDescription',
    method: 'GET',
    path: '/admin/realms/{realm}/authentication/per-client-config-description',
    summary: 'Get the settings that each client authenticator has in clients',
    permission: permissionOf('clientAuthenticators'),
    responses: {
      200: { description: 'Settings by client authenticator.', schema: z.record(z.string(), z.array(property)) },
      ...refusals,
    },
    handle: reading(async (context) => describePerClient(context)),
  },
])
