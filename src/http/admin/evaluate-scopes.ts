import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { generateSamlResponse } from '../../oidc/saml-examples/example-response.ts'
import { generateExample, listEvaluatedMappers, listEvaluatedRoles } from '../../oidc/tokens/scope-evaluation.ts'
import { toRoleRepresentation } from '../../service/admin-api/roles/roles.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, operationId, tagged, type UntaggedOperation } from '../operation.ts'
import { representationOf } from '../representations.ts'
import { errorResponses } from '../responses.ts'
import { accessToken, idToken } from './token-schemas.ts'

const PATH = '/admin/realms/{realm}/clients/{client-uuid}/evaluate-scopes'

/** The kinds of example tokens, with their path segments. */
const NAMES = { accessToken: 'access-token', idToken: 'id-token', userInfo: 'userinfo' } as const

const scope = {
  scope: z
    .string()
    .optional()
    .describe('Scope parameter of the evaluated request. Default: only the default client scopes.'),
}
const exampleSchemas = {
  accessToken,
  idToken,
  userInfo: z.record(z.string(), z.json()).describe('Claims by name.'),
}

const forUser = z.object({
  ...scope,
  userId: z.string().optional().describe('Id of the user in the example.'),
  audience: z.string().optional().describe('Audience of the token: client ids, separated by spaces.'),
})

const mapper = z
  .object({
    mapperId: z.string().describe('Id of the mapper.'),
    mapperName: z.string().describe('Name of the mapper.'),
    containerId: z.string().describe('Id of the client or client scope with the mapper.'),
    containerName: z.string().describe('Name of the client scope; empty for the client itself.'),
    containerType: z.enum(['client', 'client-scope']).describe('Type of the container.'),
    protocolMapper: z.string().describe('Type of the mapper.'),
  })
  .register(namedSchemas, { id: 'ProtocolMapperEvaluationRepresentation' })

/** The operations that evaluate the client scopes of a client. */
export const evaluateScopesOperations: Operation[] = tagged('Clients', [
  {
    operationId: 'listEvaluatedProtocolMappers',
    method: 'GET',
    path: `${PATH}/protocol-mappers`,
    summary: 'Evaluate client scopes: list the effective protocol mappers of a client',
    permission: 'view-clients',
    query: z.object(scope),
    responses: { 200: { description: 'The mappers.', schema: z.array(mapper) }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const mappers = await listEvaluatedMappers(context, clientOf(call), textOf(call, 'scope'))
      return mappers.map(({ mapper: { id, name, type }, container, scope }) => ({
        mapperId: id,
        mapperName: name,
        containerId: container,
        containerName: scope ?? '',
        containerType: scope === undefined ? 'client' : 'client-scope',
        protocolMapper: type,
      }))
    }),
  },
  roles('granted', 'Evaluate client scopes: list the roles in the scope of a client'),
  roles('not-granted', 'Evaluate client scopes: list the roles outside the scope of a client'),
  ...(['accessToken', 'idToken', 'userInfo'] as const).map(examples),
  {
    operationId: 'getExampleSamlResponse',
    method: 'GET',
    path: `${PATH}/generate-example-saml-response`,
    summary: 'Evaluate client scopes: generate an example SAML response',
    permission: ['view-clients', 'view-users'],
    query: z.object({
      ...scope,
      userId: z.string().optional().describe('Id of the user in the example.'),
    }),
    responses: {
      200: { description: 'The response as XML, neither signed nor encrypted.', type: 'application/json' },
      ...errorResponses,
    },
    // Keycloak: the type of the XML text is JSON.
    handle: async (call) => ({
      status: 200,
      type: 'application/json',
      body: await call.service.read(call.caller, getParameter(call, 'realm'), (context) =>
        generateSamlResponse(context, {
          base: call.base,
          client: clientOf(call),
          user: userOf(call),
          scope: textOf(call, 'scope'),
        }),
      ),
    }),
  },
])

function roles(granting: 'granted' | 'not-granted', summary: string): UntaggedOperation {
  const path = `${PATH}/scope-mappings/{roleContainerId}/${granting}`
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary,
    permission: 'view-clients',
    query: z.object(scope),
    responses: { 200: { description: 'The roles.', schema: z.array(representationOf(kinds.role)) }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const roles = await listEvaluatedRoles(context, clientOf(call), {
        scope: textOf(call, 'scope'),
        container: getParameter(call, 'roleContainerId'),
        granted: granting === 'granted',
      })
      return roles.map((role) => toRoleRepresentation(context, role, true))
    }),
  }
}

function examples(target: keyof typeof NAMES): UntaggedOperation {
  const path = `${PATH}/generate-example-${NAMES[target]}`
  return {
    operationId: operationId('get', path),
    method: 'GET',
    path,
    summary: `Evaluate client scopes: generate an example ${NAMES[target].replace('-', ' ')}`,
    permission: ['view-clients', 'view-users'],
    query: forUser,
    responses: { 200: { description: 'The claims.', schema: exampleSchemas[target] }, ...errorResponses },
    handle: readHandler((context, call) =>
      generateExample(context, {
        service: call.service,
        base: call.base,
        target,
        client: clientOf(call),
        user: userOf(call),
        scope: textOf(call, 'scope'),
        audience: textOf(call, 'audience').split(' ').filter(Boolean),
      }),
    ),
  }
}

const userOf = ({ query }: Call): string | undefined => (query.userId === undefined ? undefined : String(query.userId))
const clientOf = (call: Call): string => getParameter(call, 'client-uuid')
const textOf = ({ query }: Call, name: string): string => String(query[name] ?? '')
